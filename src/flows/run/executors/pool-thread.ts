import type { MissingNote } from "../../../stores/directory/missing-values.ts";
import type { WorkerSettings } from "./worker-settings.ts";

/** What the threads of Node, or of a page, are started by. */
export interface Threads {
  /** Whether their script is there. */
  canStartThreads(settings: WorkerSettings): boolean;
  /** @throws where one cannot be started. */
  startThread(settings: WorkerSettings): PoolThread;
  /** Takes note of a folder in which another thread found a value missing. */
  noteMissing(note: MissingNote): void;
}

/** A thread beside this one. */
export interface PoolThread {
  /** Resolves when it takes messages; rejects where its script cannot be loaded. */
  readonly ready: Promise<void>;
  listen(events: ThreadEvents): void;
  post(message: unknown, buffers?: readonly ArrayBuffer[]): void;
  /** Whether it keeps the process alive. */
  keepProcess(keep: boolean): void;
  /** Ends it, whatever it does; resolves when it is gone. */
  terminate(): Promise<unknown>;
}

export interface ThreadEvents {
  readonly onMessage: (message: unknown) => void;
  /** It cannot go on. */
  readonly onFailure: (error: Error) => void;
  readonly onExit: () => void;
}
