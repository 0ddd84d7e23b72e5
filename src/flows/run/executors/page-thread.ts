import type { PoolThread, ThreadEvents } from "./pool-thread.ts";
import { READY, registeredWorker } from "./registered-worker.ts";

/** A worker whose script has not answered by then does not. */
const LOADING_MS = 30_000;

export function canStartThreads(): boolean {
  return registeredWorker() !== undefined;
}

/** Starts a worker of the page. Its script says when it is ready: only an event tells that it cannot be loaded. */
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

/** What is missing in folders is found in Node alone. */
export function noteMissing(): void {}
