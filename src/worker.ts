/**
 * The entry of a page's web worker, which gives the page's flows another thread: see `registerWorker`.
 *
 * @module
 */
import { READY } from "./run/threads/registered-worker.ts";
import { serveWorker } from "./run/threads/serve-worker.ts";

/** Runs the work that the page's flows send to this worker. */
export function serveThread(): void {
  void serveWorker();
  globalThis.postMessage(READY);
}
