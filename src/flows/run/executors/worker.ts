import type { AnyWork, SlabResult, TasksResult } from "./messages.ts";
import { servePool } from "./serve-pool.ts";
import { serveSlabs } from "./serve-slabs.ts";
import { serveTasks } from "./serve-tasks.ts";

/** The script of a worker thread. */
await servePool<AnyWork, TasksResult | SlabResult>((work, context) =>
  work.kind === "tasks" ? serveTasks(work, context) : serveSlabs(work, context),
);
