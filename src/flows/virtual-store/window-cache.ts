import type { TargetTask } from "../../plan/task.ts";
import type { TaskRunner } from "../../run/task-runner.ts";
import type { StoreWriter, WritableStore } from "../../stores/store.ts";
import { bufferedWriter } from "../../stores/writer.ts";
import type { ByteBudget } from "../../streams/byte-budget.ts";
import { RequestEnd, unlessAborted } from "../../util/abort.ts";
import { keysOf, type MadeByTask } from "./key-origins.ts";

export interface WindowCacheOptions {
  /** Bytes of cached values. */
  readonly maxBytes: number;
  /** Admits tasks. */
  readonly budget: ByteBudget;
  /** Bytes that a task may hold besides the values that it makes. */
  readonly leaseBytes: (task: TargetTask) => number;
}

/** A value that a task has made. */
export interface MadeValue {
  readonly bytes: Uint8Array;
  /** Version of the value, computed on first use. */
  version?: string;
}

interface Window {
  readonly keys: readonly string[];
  /** Not an `AbortController`: in Cloudflare workers, a request must not touch one that another request created. */
  readonly abort: RequestEnd;
  /** Resolves when the values exist. */
  readonly made: Promise<void>;
  /** Resolves when the task has ended, successfully or not. */
  ended: Promise<void>;
  isMade: boolean;
  users: number;
}

/**
 * Runs tasks on demand and caches the values of the most recently used ones. Concurrent requests for values of one task
 * share one run, which is aborted when nobody waits for it any more.
 */
export class WindowCache {
  /** The store that tasks write to. */
  readonly store: WritableStore;
  readonly #options: WindowCacheOptions;
  readonly #values = new Map<string, MadeValue>();
  /** Windows by task number, least recently used first. */
  readonly #windows = new Map<number, Window>();
  /** Bit masks of the values that exist, by number of a task that ran; bits in the order of its keys. */
  readonly #existing = new Map<number, Uint8Array>();
  #bytes = 0;
  #runner: TaskRunner = () => Promise.reject(new RangeError("no tasks can run yet"));

  constructor(options: WindowCacheOptions) {
    this.#options = options;
    this.store = {
      description: "values computed on demand",
      get: async (key) => this.#values.get(key)?.bytes,
      size: async (key) => this.#values.get(key)?.bytes.length,
      set: async (key, bytes) => this.#put(key, new Uint8Array(bytes)),
      openWriter: async (key, { signal } = {}) => this.#writer(key, signal),
      delete: async (key) => this.#drop(key),
    };
  }

  /** Sets the runner of tasks, which writes to `store`. */
  runWith(runner: TaskRunner): void {
    this.#runner = runner;
  }

  /**
   * Passes a value of a task to `read`, without delay if it is cached; undefined for a missing chunk.
   *
   * @throws whatever the task failed with; `aborted`.
   */
  async use<T>(
    task: TargetTask,
    key: string,
    signal: AbortSignal | undefined,
    read: (value: MadeValue | undefined) => T,
  ): Promise<T> {
    const window = await this.#open(task, signal);
    try {
      await unlessAborted(window.made, signal);
      return read(this.#values.get(key));
    } finally {
      window.users--;
      if (window.users === 0 && !window.isMade) window.abort.abort(undefined);
      this.#evict();
    }
  }

  /** True if a value of a task exists; runs the task unless it has run before. @throws as `use` */
  async has({ task, place }: MadeByTask, key: string, signal: AbortSignal | undefined): Promise<boolean> {
    const known = this.#existing.get(task.number);
    if (known === undefined) return this.use(task, key, signal, (value) => value !== undefined);
    return ((known[place >> 3] ?? 0) & (1 << (place & 7))) !== 0;
  }

  /** Aborts all tasks and waits for them to end. */
  async close(): Promise<void> {
    const windows = [...this.#windows.values()];
    for (const { abort } of windows) abort.abort(undefined);
    await Promise.all(windows.map(({ ended }) => ended));
  }

  /** Finds or starts the window of a task, and adds a user to it. */
  async #open(task: TargetTask, signal: AbortSignal | undefined): Promise<Window> {
    for (;;) {
      const window = this.#windows.get(task.number) ?? this.#start(task);
      if (!window.abort.aborted) {
        window.users++;
        this.#windows.delete(task.number);
        this.#windows.set(task.number, window);
        return window;
      }
      await unlessAborted(window.ended, signal);
    }
  }

  #start(task: TargetTask): Window {
    const abort = new RequestEnd();
    const keys = keysOf(task);
    const made = this.#run(task, keys, abort.signal);
    const window: Window = { keys, abort, made, ended: made, isMade: false, users: 0 };
    window.ended = made.then(
      () => {
        if (abort.aborted) return this.#remove(task.number, window);
        window.isMade = true;
        this.#evict();
      },
      () => this.#remove(task.number, window),
    );
    this.#windows.set(task.number, window);
    return window;
  }

  async #run(task: TargetTask, keys: readonly string[], signal: AbortSignal): Promise<void> {
    const { budget, leaseBytes } = this.#options;
    const lease = await budget.acquire(leaseBytes(task), signal);
    try {
      await this.#runner(task, {}, signal);
    } finally {
      lease?.release();
    }
    const existing = new Uint8Array(Math.ceil(keys.length / 8));
    for (const [place, key] of keys.entries()) {
      if (this.#values.has(key)) existing[place >> 3] = (existing[place >> 3] ?? 0) | (1 << (place & 7));
    }
    this.#existing.set(task.number, existing);
  }

  /** Counts pieces as they arrive. While they are joined, pieces and value briefly exist together. */
  #writer(key: string, signal: AbortSignal | undefined): StoreWriter {
    let held = 0;
    const writer = bufferedWriter(key, async (bytes) => this.#put(key, bytes), signal);
    const add = (length: number) => {
      held += length;
      this.#bytes += length;
      this.#evict();
    };
    const release = () => {
      this.#bytes -= held;
      held = 0;
    };
    return {
      write(bytes) {
        add(bytes.length);
        return writer.write(bytes);
      },
      commit: () => writer.commit().finally(release),
      abort: (reason) => writer.abort(reason).finally(release),
    };
  }

  #put(key: string, bytes: Uint8Array): void {
    this.#drop(key);
    this.#values.set(key, { bytes });
    this.#bytes += bytes.length;
    this.#evict();
  }

  #drop(key: string): void {
    this.#bytes -= this.#values.get(key)?.bytes.length ?? 0;
    this.#values.delete(key);
  }

  /** Evicts unused values, least recently used first, until the rest fits. */
  #evict(): void {
    for (const [number, window] of this.#windows) {
      if (this.#bytes <= this.#options.maxBytes) return;
      if (window.isMade && window.users === 0) this.#remove(number, window);
    }
  }

  #remove(number: number, { keys }: Window): void {
    this.#windows.delete(number);
    for (const key of keys) this.#drop(key);
  }
}
