import type { PoolThread, ThreadEvents } from "./pool-thread.ts";
import { READY, registeredWorker } from "./registered-worker.ts";

/** Maximum time for a worker's script to load and respond. */
const LOADING_MS = 30_000;

export function canStartThreads(): boolean {
  return registeredWorker() !== undefined;
}

/**
 * Starts a worker of the page. Its script sends a message when it is ready; a failure to load it shows only as an error
 * event.
 */
export function startThread(): PoolThread {
  const start = registeredWorker();
  if (start === undefined) throw new Error("no worker is registered");
  const worker = start();
  let events: ThreadEvents | undefined;
  let loading: ReturnType<typeof setTimeout> | undefined;
  const ready = new Promise<void>((resolve, reject) => {
    worker.addEventListener("message", ({ data }) => {
      if (data === READY) resolve();
      else events?.onMessage(data);
    });
    worker.addEventListener("error", ({ message = "its script cannot be loaded" }) => {
      const error = new Error(message);
      reject(error);
      events?.onFailure(error);
    });
    loading = setTimeout(() => reject(new Error("its script does not answer")), LOADING_MS);
  });
  const loaded = () => clearTimeout(loading);
  ready.then(loaded, loaded);
  return {
    ready,
    listen(listener) {
      events = listener;
    },
    post: (message, buffers = []) => worker.postMessage(message, [...buffers]),
    keepProcess() {},
    async terminate() {
      loaded();
      worker.terminate();
      events?.onExit();
    },
  };
}

/** Does nothing: only Node watches folders for missing values. */
export function noteMissing(): void {}
