import type { Admission, Lease } from "../../../streams/byte-budget.ts";
import { counterChange } from "../../../util/counter-change.ts";
import { isMemoryShared } from "../../../util/shared-memory.ts";

/** Places of the counters; after them, for each stage, how many of its tasks were dealt. */
const STOPPED = 0;
const LEASED = 1;
const TURN = 2;
const ENDED = 3;
const TAKEN = 4;
const PEAK = 5;
const BEATS = 6;
/** Counts whatever another thread may wait for. */
const CHANGES = 7;
const DEALT = 8;

/** Bytes are counted by so many, so that 32 bits go up to two terabytes. */
const UNIT = 1024;

/** Consecutive tasks of a stage. */
export interface TaskRange {
  readonly first: number;
  readonly count: number;
}

/** What a thread makes its own `SharedScheduler` of. */
export interface SharedRun {
  readonly stages: readonly number[];
  readonly maxMemory: number;
  readonly threads: number;
  /** Null where threads share none: in pages that are not isolated. */
  readonly memory: SharedArrayBuffer | null;
  /** Which of them is given it. */
  readonly thread: number;
}

/**
 * What the threads of a run share: which tasks are dealt and how many have ended, the bytes that are leased and taken,
 * and whether to stop. Counters in shared memory: nobody sends a message to get a task. Where threads share no memory, each
 * has a fixed part of the tasks and of the bytes, and tells the others at the end of a stage how many tasks have ended.
 */
export class SharedScheduler implements Admission {
  /** Hand it to a thread, which makes its own `SharedScheduler` of it. */
  readonly shared: SharedRun;
  readonly #counters: Int32Array;
  readonly #stages: readonly number[];
  readonly #limit: number;
  /** Called when something changes, where threads share no memory. */
  readonly #waiting: (() => void)[] = [];
  /** Tasks that have ended in other threads, by thread, where these share no memory. */
  readonly #endedIn = new Map<number, number>();
  #tell: (() => void) | undefined;

  /**
   * @param stages tasks of each stage
   * @param maxMemory bytes that may be leased at one time, by all threads together
   * @param memory that of a `SharedScheduler` of another thread; null where threads share none
   * @param thread which this one is; 0 is the one that began
   */
  constructor(
    stages: readonly number[],
    maxMemory: number,
    threads: number,
    memory: SharedArrayBuffer | null = sharedMemory(stages),
    thread = 0,
  ) {
    this.shared = { stages, maxMemory, threads, memory, thread };
    this.#counters = memory ? new Int32Array(memory) : new Int32Array(DEALT + stages.length);
    this.#stages = stages;
    this.#limit = Math.floor(maxMemory / UNIT / (memory ? 1 : threads));
  }

  /** What another thread has made. */
  static of({ stages, maxMemory, threads, memory, thread }: SharedRun): SharedScheduler {
    return new SharedScheduler(stages, maxMemory, threads, memory, thread);
  }

  /** All threads of the run. */
  get threads(): number {
    return this.shared.threads;
  }

  get #isShared(): boolean {
    return this.shared.memory !== null;
  }

  get isStopped(): boolean {
    return Atomics.load(this.#counters, STOPPED) !== 0;
  }

  /** Stops all threads. Returns whether none had stopped them before. */
  stop(): boolean {
    const isFirst = Atomics.compareExchange(this.#counters, STOPPED, 0, 1) === 0;
    this.#changed();
    return isFirst;
  }

  /** The most bytes in buffers at one time, of all threads that count here. */
  get peak(): number {
    return Atomics.load(this.#counters, PEAK) * UNIT;
  }

  /** The peak of this thread's buffers that nobody else has counted; 0 where memory is shared. */
  get ownPeak(): number {
    return this.#isShared ? 0 : this.peak;
  }

  /** Bytes in buffers now. */
  get taken(): number {
    return Atomics.load(this.#counters, TAKEN) * UNIT;
  }

  /** What the buffers of one thread may hold of `bytes` for all, and what counts them. */
  shareOf(bytes: number): { readonly limit: number; readonly onChange: (bytes: number) => void } {
    return { limit: Math.floor(bytes / this.threads), onChange: (taken) => this.count(taken) };
  }

  /** Counts bytes that a thread took into buffers, or gave back where they are below 0. */
  count(bytes: number): void {
    const units = Math.sign(bytes) * Math.ceil(Math.abs(bytes) / UNIT);
    const taken = Atomics.add(this.#counters, TAKEN, units) + units;
    for (let peak = Atomics.load(this.#counters, PEAK); taken > peak; ) {
      peak = Atomics.compareExchange(this.#counters, PEAK, peak, taken);
    }
  }

  /**
   * Deals tasks of a stage to who asks: neighbours together, fewer as the stage comes to its end.
   *
   * @param most tasks that are dealt together
   * @returns undefined when all are dealt, or the run has stopped.
   */
  claim(stage: number, most = Number.POSITIVE_INFINITY): TaskRange | undefined {
    const tasks = this.#stages[stage] ?? 0;
    const place = DEALT + stage;
    if (!this.#isShared) return this.#claimOwn(tasks, place, most);
    let first = Atomics.load(this.#counters, place);
    while (first < tasks && !this.isStopped) {
      const count = Math.min(most, Math.max(1, Math.floor((tasks - first) / (8 * this.threads))));
      const found = Atomics.compareExchange(this.#counters, place, first, first + count);
      if (found === first) return { first, count };
      first = found;
    }
    return undefined;
  }

  /** Of equal runs of tasks, each thread has every so many-th. */
  #claimOwn(tasks: number, place: number, most: number): TaskRange | undefined {
    const { threads, thread } = this.shared;
    const each = Math.min(most, Math.max(1, Math.ceil(tasks / (8 * threads))));
    const first = (Atomics.add(this.#counters, place, 1) * threads + thread) * each;
    return first < tasks && !this.isStopped ? { first, count: Math.min(each, tasks - first) } : undefined;
  }

  /** Records that a thread goes on with its task. */
  beat(): void {
    Atomics.add(this.#counters, BEATS, 1);
  }

  /** A number that changes with whatever any thread does. */
  get progress(): number {
    return Atomics.load(this.#counters, BEATS) + Atomics.load(this.#counters, ENDED);
  }

  taskEnded(): void {
    Atomics.add(this.#counters, ENDED, 1);
    this.#changed();
  }

  /** Tasks that are known to have ended, but for those that a thread has told of itself. */
  endedBut(thread?: number): number {
    let tasks = Atomics.load(this.#counters, ENDED);
    for (const [other, ended] of this.#endedIn) if (other !== thread) tasks += ended;
    return tasks;
  }

  /** Where threads share no memory: `tell` tells others how many tasks have ended here. */
  tellBy(tell: () => void): void {
    if (!this.#isShared) this.#tell = tell;
  }

  /** What another thread has told. */
  hear(thread: number, tasks: number): void {
    this.#endedIn.set(thread, tasks);
    this.#changed();
  }

  /** Waits until all tasks up to the end of a stage have ended, or the run has stopped. */
  async stageEnded(stage: number): Promise<void> {
    const tasks = this.#stages.slice(0, stage + 1).reduce((sum, n) => sum + n, 0);
    const isFirst = this.shared.thread === 0;
    // the first thread hears of all, and then tells them
    if (!isFirst) this.#tell?.();
    await this.#until(() => this.endedBut() >= tasks);
    if (isFirst) this.#tell?.();
  }

  /**
   * Waits until `bytes` fit beside what all threads have leased; who waits keeps those that come later from passing.
   *
   * @returns undefined when the run has stopped.
   */
  async acquire(bytes: number): Promise<Lease | undefined> {
    const units = Math.min(this.#limit, Math.ceil(bytes / UNIT));
    const isMyTurn = () => Atomics.compareExchange(this.#counters, TURN, 0, 1) === 0;
    if (!(await this.#until(isMyTurn))) return undefined;
    try {
      const fits = () => Atomics.load(this.#counters, LEASED) + units <= this.#limit;
      if (!(await this.#until(fits))) return undefined;
      Atomics.add(this.#counters, LEASED, units);
      return this.#lease(bytes, units);
    } finally {
      Atomics.store(this.#counters, TURN, 0);
      this.#changed();
    }
  }

  #lease(bytes: number, units: number): Lease {
    let held = true;
    return {
      bytes,
      release: () => {
        if (!held) return;
        held = false;
        Atomics.sub(this.#counters, LEASED, units);
        this.#changed();
      },
    };
  }

  /** Waits until something is so, in this thread or by another one. @returns false when the run has stopped first. */
  async #until(isSo: () => boolean): Promise<boolean> {
    for (;;) {
      const seen = Atomics.load(this.#counters, CHANGES);
      if (isSo()) return true;
      if (this.isStopped) return false;
      if (this.#isShared) await counterChange(this.#counters, CHANGES, seen);
      else await new Promise<void>((resolve) => void this.#waiting.push(resolve));
    }
  }

  #changed(): void {
    Atomics.add(this.#counters, CHANGES, 1);
    Atomics.notify(this.#counters, CHANGES);
    for (const resolve of this.#waiting.splice(0)) resolve();
  }
}

function sharedMemory(stages: readonly number[]): SharedArrayBuffer | null {
  if (!isMemoryShared()) return null;
  return new SharedArrayBuffer((DEALT + stages.length) * Int32Array.BYTES_PER_ELEMENT);
}
