import { resolve } from "node:path";
import { FolderWatch } from "../../stores/directory/missing-values.ts";
import { serveWorker } from "./serve-worker.ts";

/** The script of a Node worker thread. */
await serveWorker((source, onNote) =>
  source.kind === "directory" ? new FolderWatch(resolve(source.path), { onNote }) : undefined,
);
