import { mkdtemp, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { build } from "rolldown";
import { afterAll, beforeAll } from "vitest";

const root = fileURLToPath(new URL("../..", import.meta.url));

/** A script of worker threads, made of `src/` for the tests of one file, since threads cannot load TypeScript. */
export function workerScript(): () => URL {
  let folder = "";
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "zarrflow-worker-"));
    await symlink(join(root, "node_modules"), join(folder, "node_modules"));
    await build({
      input: { worker: join(root, "src/flows/run/executors/worker.ts") },
      platform: "node",
      external: [/^node:/],
      output: {
        dir: folder,
        format: "esm",
        entryFileNames: "[name].mjs",
        chunkFileNames: "[name]-[hash].mjs",
      },
    });
  });
  afterAll(() => rm(folder, { recursive: true, force: true }));
  return () => pathToFileURL(join(folder, "worker.mjs"));
}
