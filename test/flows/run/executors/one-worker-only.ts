import { EventEmitter } from "node:events";

/** What became of workers: how many were asked for, and what those that began were told. */
export const started = { threads: 0, told: [] as unknown[] };

/** `node:worker_threads` of a system where a second worker cannot be started. */
export async function oneWorkerOnly(importOriginal: () => Promise<object>): Promise<object> {
  return {
    ...(await importOriginal()),
    Worker: class extends EventEmitter {
      constructor() {
        super();
        if (++started.threads === 2) throw new Error("no more threads");
      }
      unref() {
        started.told.push("unref");
      }
      postMessage(message: unknown) {
        started.told.push(message);
      }
      async terminate() {
        started.told.push("terminate");
      }
    },
  };
}
