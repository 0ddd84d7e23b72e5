import { Worker } from "node:worker_threads";
import { emitRetry } from "../../../stores/remote/retry-events.ts";
import type { StoreSpec, WritableStore } from "../../../stores/store.ts";
import { ZarrflowError } from "../../../util/errors.ts";
import {
  type MainMessage,
  type TaskStats,
  unpackError,
  type WorkerMessage,
  type WorkerStart,
} from "./messages.ts";

/**
 * What a worker's young objects may take. V8 doubles it whenever enough of them have outlived a collection, which a long
 * run comes to: up to 48 MB, though hardly any live longer than a chunk.
 */
const YOUNG_MB = 6;

/** A worker as the main thread sees it. */
export interface WorkerThread {
  /** Resolves when it has done all; rejects with why it failed. */
  readonly ended: Promise<void>;
  /** Gives it what it runs; until then it loads its scripts, and waits. */
  begin(start: WorkerStart, listener: WorkerListener): void;
  send(message: MainMessage): void;
  /** Ends it, whatever it does; resolves when it is gone. */
  end(): Promise<void>;
}

/** The threads that run tasks beside the one that began a flow. */
export interface OtherThreads {
  readonly workers: readonly WorkerThread[];
  /** Opens the source in each of them. */
  readonly sourceSpec: StoreSpec;
}

/** Node's limits of a worker's memory, in megabytes. */
export interface WorkerLimits {
  readonly maxYoungGenerationSizeMb?: number;
  readonly maxOldGenerationSizeMb?: number;
  readonly codeRangeSizeMb?: number;
  readonly stackSizeMb?: number;
}

/** How worker threads are started. */
export interface WorkerSettings {
  /** The script of a worker thread; by default the one that lies beside the library. */
  readonly script?: URL;
  readonly resourceLimits?: WorkerLimits;
  /** Threads that are started, the main one among them; by default as planned, where there is enough to do. */
  readonly threads?: number;
  /** Milliseconds for which no thread may do anything; half an hour by default. */
  readonly patience?: number | undefined;
}

/** Who is told what a worker does. */
export interface WorkerListener {
  readonly note: (notes: TaskStats) => void;
  /** What is handed over is stored here. */
  readonly target: WritableStore;
}

/** Starts a worker thread that takes part in a run. */
export function startWorker(script: URL, resourceLimits: WorkerLimits | undefined): WorkerThread {
  const worker = new Worker(script, {
    resourceLimits: { maxYoungGenerationSizeMb: YOUNG_MB, ...resourceLimits },
  });
  let listener: WorkerListener | undefined;
  let isDone = false;
  const ended = new Promise<void>((resolve, reject) => {
    const store = async (values: Extract<WorkerMessage, { type: "store" }>["values"]) => {
      for (const { key, bytes } of values) await listener?.target.set(key, bytes);
      const stored = values.map(({ number, bytes }) => ({ number, buffer: bytes.buffer as ArrayBuffer }));
      const buffers = new Set(stored.map(({ buffer }) => buffer));
      worker.postMessage({ type: "stored", values: stored } satisfies MainMessage, [...buffers]);
    };
    worker.on("message", (message: WorkerMessage) => {
      switch (message.type) {
        case "notes":
          listener?.note(message.notes);
          break;
        case "retry":
          emitRetry({ ...message.retry, error: unpackError(message.error) as ZarrflowError });
          break;
        case "store":
          store(message.values).catch(reject);
          break;
        case "failed":
          reject(unpackError(message.error));
          break;
        case "done":
          isDone = true;
          resolve();
      }
    });
    worker.on("error", (error) => reject(workerCrashError(error)));
    worker.on("exit", () => reject(workerExitError()));
  });
  // Who starts it may fail before it looks at this.
  ended.catch(() => {});
  return {
    ended,
    begin(start, told) {
      listener = told;
      worker.postMessage({ type: "start", start } satisfies MainMessage);
    },
    send: (message) => worker.postMessage(message),
    async end() {
      const gone = worker.terminate();
      // One that has done all holds nothing that anybody waits for.
      if (!isDone) await gone;
    },
  };
}

/** Why a worker thread ended that threw an error. */
export function workerCrashError(error: Error): ZarrflowError {
  if (!("code" in error) || error.code !== "ERR_WORKER_OUT_OF_MEMORY") {
    const hint = "Run again with one thread (--threads 1). If that works, please report this.";
    return new ZarrflowError(
      "transient",
      `a worker thread failed: ${error.message}`,
      { hint },
      { cause: error },
    );
  }
  return new ZarrflowError(
    "resource-limit",
    "a worker thread ran out of memory",
    { hint: "Allow fewer threads (--threads)." },
    { cause: error },
  );
}

/** Why a worker thread ended that told nothing. */
export function workerExitError(): ZarrflowError {
  return new ZarrflowError("transient", "a worker thread ended before its work was done", {
    hint: "Run again; with one thread (--threads 1) if that happens again.",
  });
}
