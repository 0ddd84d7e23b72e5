/**
 * What the worker of a page runs, so that flows of the page have several threads: see `registerWorker`.
 *
 * @module
 */
import { READY } from "./flows/run/executors/registered-worker.ts";
import { serveWorker } from "./flows/run/executors/serve-worker.ts";

/** Runs what the page's flows give to this worker. */
export function serveThread(): void {
  void serveWorker();
  globalThis.postMessage(READY);
}
