import type { StoredValue } from "../../../stores/store.ts";
import type { TaskNote, TaskStats } from "./messages.ts";
import type { TaskEvents } from "./task-runner.ts";

const TELL_AFTER_VALUES = 1000;

/** Collects what tasks of a thread do, and tells it: now and then as one message, or each event as it happens. */
export class TaskReporter {
  readonly #thread: number;
  readonly #tell: (notes: TaskStats) => void;
  #tasks: TaskNote[] = [];
  #stored: (StoredValue & { readonly task: number })[] = [];
  #counts = { chunksRead: 0, bytesRead: 0, chunksWritten: 0 };
  /** The first task is told of as it begins. */
  #told = Number.NEGATIVE_INFINITY;

  readonly #interval: number;

  /**
   * @param thread in which the tasks run; 0 is the main thread
   * @param interval milliseconds between two messages; 0: each event is told as it happens
   */
  constructor(thread: number, interval: number, tell: (notes: TaskStats) => void) {
    this.#thread = thread;
    this.#interval = interval;
    this.#tell = tell;
  }

  /** Runs a task and notes its begin, what it does, and its end. */
  async around(task: number, run: (events: TaskEvents) => Promise<void>): Promise<void> {
    const started = performance.now();
    this.#tasks.push({ task });
    this.#tellNowAndThen();
    let bytes = 0;
    await run({
      onRead: (chunk) => {
        this.#counts.chunksRead++;
        this.#counts.bytesRead += chunk.bytes?.length ?? 0;
        this.#tellNowAndThen();
      },
      onWritten: () => {
        this.#counts.chunksWritten++;
        this.#tellNowAndThen();
      },
      onStored: (value) => {
        bytes += value.size;
        this.#stored.push({ task, ...value });
        this.#tellNowAndThen();
      },
    });
    this.#tasks.push({ task, end: { bytes, ms: performance.now() - started } });
    this.#tellNowAndThen();
  }

  /** Tells all that has not been told. */
  flush(): void {
    this.#told = performance.now();
    const notes = {
      thread: this.#thread,
      tasks: this.#tasks,
      ...this.#counts,
      stored: this.#stored,
    };
    this.#tasks = [];
    this.#stored = [];
    this.#counts = { chunksRead: 0, bytesRead: 0, chunksWritten: 0 };
    this.#tell(notes);
  }

  #tellNowAndThen(): void {
    const isDue = performance.now() - this.#told >= this.#interval;
    if (isDue || this.#stored.length >= TELL_AFTER_VALUES) this.flush();
  }
}
