import type { AnyWork, SlabResult, TasksResult } from "./messages.ts";
import { servePool, type WatchMissing } from "./serve-pool.ts";
import { serveSlabs } from "./serve-slabs.ts";
import { serveTasks } from "./serve-tasks.ts";

/** Runs a worker thread until the run ends. */
export function serveWorker(watchMissing?: WatchMissing): Promise<void> {
  return servePool<AnyWork, TasksResult | SlabResult>(
    (work, context) => (work.kind === "tasks" ? serveTasks(work, context) : serveSlabs(work, context)),
    watchMissing,
  );
}
