import type { MissingNote } from "../../stores/directory/missing-values.ts";

/** Starts threads, in Node or in a page. */
export interface Threads {
  /** True if their script is available. */
  canStartThreads(settings: WorkerSettings): boolean;
  /** @throws if a thread cannot be started. */
  startThread(settings: WorkerSettings): PoolThread;
  /** Notes a folder in which another thread found a value missing. */
  noteMissing(note: MissingNote): void;
}

/** A worker thread, seen from the thread that started it. */
export interface PoolThread {
  /** Resolves when the thread accepts messages; rejects if its script cannot be loaded. */
  readonly ready: Promise<void>;
  listen(events: ThreadEvents): void;
  post(message: unknown, buffers?: readonly ArrayBuffer[]): void;
  /** Sets whether the thread keeps the process alive. */
  keepProcess(keep: boolean): void;
  /** Terminates the thread immediately; resolves when it has ended. */
  terminate(): Promise<unknown>;
}

export interface ThreadEvents {
  readonly onMessage: (message: unknown) => void;
  /** Called when the thread cannot continue. */
  readonly onFailure: (error: Error) => void;
  readonly onExit: () => void;
}

/** Memory limits of a Node worker, in megabytes. */
export interface WorkerLimits {
  readonly maxYoungGenerationSizeMb?: number;
  readonly maxOldGenerationSizeMb?: number;
  readonly codeRangeSizeMb?: number;
  readonly stackSizeMb?: number;
}

/** Settings for starting and watching worker threads. */
export interface WorkerSettings {
  /** Script of a worker thread; by default the one beside the library. */
  readonly script?: URL;
  readonly resourceLimits?: WorkerLimits;
  /** Number of threads, including the main one; by default as planned, if there is enough work. */
  readonly threads?: number;
  /** Maximum number of milliseconds without progress of any thread; half an hour by default. */
  readonly stallTimeout?: number | undefined;
}
