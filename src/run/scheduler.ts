import type { ByteBudget, Lease } from "../streams/byte-budget.ts";

/** Deals the tasks of a run, and admits them by memory: for one thread, or for all that run them (`SharedScheduler`). */
export interface Scheduler {
  /** Number of threads of the run. */
  readonly threads: number;
  /** Number of this thread; 0 is the one that started the run. */
  readonly thread: number;
  /** True once no further task is dealt. */
  readonly isStopped: boolean;
  /** Number of bytes in buffers of tasks now, and at most so far. */
  readonly taken: number;
  readonly peak: number;
  /** Limit of the buffers of one thread, and the callback that counts them. */
  readonly buffers: { readonly limit: number; readonly onChange: (bytes: number) => void };
  /**
   * Deals the next tasks of a stage.
   *
   * @param most maximum number of tasks dealt together
   * @returns undefined when all tasks are dealt, or the run has stopped.
   */
  claim(stage: number, most?: number): TaskRange | undefined;
  /**
   * Waits until `bytes` fit beside all leases that are held.
   *
   * @returns undefined if another thread has stopped the run.
   */
  acquire(bytes: number, signal?: AbortSignal): Promise<Lease | undefined>;
  /** Records progress of this thread within a task. */
  beat(): void;
  /** Records the end of a task. */
  taskEnded(): void;
  /** Waits until all threads have ended the tasks of a stage, or the run has stopped. */
  stageEnded(stage: number): Promise<void>;
  /** Deals no further tasks. Returns true on the first call in any thread. */
  stop(): boolean;
}

/** Consecutive tasks of a stage. */
export interface TaskRange {
  readonly first: number;
  readonly count: number;
}

/** Scheduler of a run in one thread. Tasks are dealt one by one, and lease from a budget that others may use too. */
export class LocalScheduler implements Scheduler {
  readonly threads = 1;
  readonly thread = 0;
  isStopped = false;
  taken = 0;
  peak = 0;
  readonly buffers: Scheduler["buffers"];
  readonly #left: number[];
  readonly #stages: readonly number[];
  readonly #budget: ByteBudget;

  /** @param stages number of tasks of each stage */
  constructor(stages: readonly number[], budget: ByteBudget) {
    this.#stages = stages;
    this.#left = [...stages];
    this.#budget = budget;
    const onChange = (bytes: number) => {
      this.taken += bytes;
      this.peak = Math.max(this.peak, this.taken);
    };
    this.buffers = { limit: budget.limit, onChange };
  }

  claim(stage: number): TaskRange | undefined {
    const left = this.#left[stage] ?? 0;
    if (left === 0 || this.isStopped) return undefined;
    this.#left[stage] = left - 1;
    return { first: (this.#stages[stage] ?? 0) - left, count: 1 };
  }

  acquire(bytes: number, signal?: AbortSignal): Promise<Lease> {
    return this.#budget.acquire(bytes, signal);
  }

  beat(): void {}

  taskEnded(): void {}

  async stageEnded(): Promise<void> {}

  stop(): boolean {
    const isFirst = !this.isStopped;
    this.isStopped = true;
    return isFirst;
  }
}

/** A set of task numbers, stored as bits. */
export class TaskSet {
  /** The bits, from which another thread can create its own `TaskSet`. */
  readonly bits: Uint8Array;

  constructor(bits: Uint8Array) {
    this.bits = bits;
  }

  /** An empty set for a plan with the given number of tasks. */
  static empty(tasks: number): TaskSet {
    return new TaskSet(new Uint8Array(Math.ceil(tasks / 8)));
  }

  has(task: number): boolean {
    return ((this.bits[Math.floor(task / 8)] ?? 0) & (1 << (task % 8))) !== 0;
  }

  add(task: number): void {
    const at = Math.floor(task / 8);
    this.bits[at] = (this.bits[at] ?? 0) | (1 << (task % 8));
  }

  delete(task: number): void {
    const at = Math.floor(task / 8);
    this.bits[at] = (this.bits[at] ?? 0) & ~(1 << (task % 8));
  }

  get size(): number {
    let count = 0;
    for (let bits of this.bits) for (; bits !== 0; bits &= bits - 1) count++;
    return count;
  }
}
