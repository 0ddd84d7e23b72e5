import { existsSync } from "node:fs";
import { Worker } from "node:worker_threads";
import type { PoolThread, WorkerSettings } from "./pool-thread.ts";

export { noteMissing } from "../../stores/directory/missing-values.ts";

/** The script of a worker thread. It is beside this module, unless the library was bundled. */
const SCRIPT = new URL("./worker.js", import.meta.url);
/**
 * Limit of a worker's young generation. V8 doubles it whenever enough objects survive a collection, so that a long run
 * would reach 48 MB, although hardly any object outlives its chunk.
 */
const YOUNG_MB = 6;

export function canStartThreads({ script = SCRIPT }: WorkerSettings): boolean {
  return existsSync(script);
}

export function startThread({ script = SCRIPT, resourceLimits }: WorkerSettings): PoolThread {
  const limits = { maxYoungGenerationSizeMb: YOUNG_MB, ...resourceLimits };
  const worker = new Worker(script, { resourceLimits: limits });
  return {
    ready: Promise.resolve(),
    listen({ onMessage, onFailure, onExit }) {
      worker.on("message", onMessage);
      worker.on("error", onFailure);
      worker.on("exit", onExit);
    },
    post: (message, buffers = []) => worker.postMessage(message, buffers),
    keepProcess(keep) {
      if (keep) worker.ref();
      else worker.unref();
    },
    terminate: () => worker.terminate(),
  };
}
