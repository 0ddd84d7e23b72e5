import type { Lease } from "../../streams/byte-budget.ts";
import { counterChange, isMemoryShared } from "../../util/pause.ts";
import type { Scheduler, TaskRange } from "../scheduler.ts";

/** Indexes of the counters. One counter per stage follows them: the number of tasks dealt. */
const STOPPED = 0;
const LEASED = 1;
const TURN = 2;
const ENDED = 3;
const TAKEN = 4;
const PEAK = 5;
const BEATS = 6;
/** Incremented on every change that another thread may wait for. */
const CHANGES = 7;
const DEALT = 8;

/** Bytes are counted in KiB, so that 32-bit counters reach two terabytes. */
const UNIT = 1024;

/** State from which a thread creates its own `SharedScheduler`. */
export interface SharedRun {
  readonly stages: readonly number[];
  readonly maxMemory: number;
  readonly threads: number;
  /** Null if the threads share no memory: in pages that are not isolated. */
  readonly memory: SharedArrayBuffer | null;
  /** Number of the thread that receives this state. */
  readonly thread: number;
}

/**
 * Shared state of the threads of a run: tasks dealt and ended, bytes leased and taken, and the stop flag. The counters
 * are in shared memory, so no thread needs a message to get a task. Threads without shared memory each have a fixed
 * part of the tasks and of the bytes, and report the number of ended tasks to the others at the end of a stage.
 */
export class SharedScheduler implements Scheduler {
  /** State for another thread, which creates its own `SharedScheduler` from it. */
  readonly shared: SharedRun;
  readonly #counters: Int32Array;
  readonly #stages: readonly number[];
  readonly #limit: number;
  /** Called on every change, if the threads share no memory. */
  readonly #waiting: (() => void)[] = [];
  /** Number of tasks ended in each other thread, if the threads share no memory. */
  readonly #endedIn = new Map<number, number>();
  #tell: (() => void) | undefined;

  /**
   * @param stages number of tasks of each stage
   * @param maxMemory maximum number of bytes leased at one time by all threads together
   * @param memory memory of a `SharedScheduler` in another thread; null if the threads share none
   * @param thread number of this thread; 0 is the one that started the run
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

  /** Creates the scheduler of this thread from the state of another thread's. */
  static of({ stages, maxMemory, threads, memory, thread }: SharedRun): SharedScheduler {
    return new SharedScheduler(stages, maxMemory, threads, memory, thread);
  }

  get threads(): number {
    return this.shared.threads;
  }

  get thread(): number {
    return this.shared.thread;
  }

  get #isShared(): boolean {
    return this.shared.memory !== null;
  }

  get isStopped(): boolean {
    return Atomics.load(this.#counters, STOPPED) !== 0;
  }

  stop(): boolean {
    const isFirst = Atomics.compareExchange(this.#counters, STOPPED, 0, 1) === 0;
    this.#changed();
    return isFirst;
  }

  /** Over all threads that share these counters. */
  get peak(): number {
    return Atomics.load(this.#counters, PEAK) * UNIT;
  }

  /** Peak of bytes in the buffers of this thread; 0 if it is counted in shared memory. */
  get ownPeak(): number {
    return this.#isShared ? 0 : this.peak;
  }

  get taken(): number {
    return Atomics.load(this.#counters, TAKEN) * UNIT;
  }

  get buffers(): Scheduler["buffers"] {
    const limit = Math.floor(this.shared.maxMemory / this.threads);
    return { limit, onChange: (taken) => this.count(taken) };
  }

  /** Counts bytes that a thread took into buffers; negative if it gave them back. */
  count(bytes: number): void {
    const units = Math.sign(bytes) * Math.ceil(Math.abs(bytes) / UNIT);
    const taken = Atomics.add(this.#counters, TAKEN, units) + units;
    for (let peak = Atomics.load(this.#counters, PEAK); taken > peak; ) {
      peak = Atomics.compareExchange(this.#counters, PEAK, peak, taken);
    }
  }

  /** Deals fewer tasks at a time towards the end of the stage. */
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

  /** Deals equal ranges of tasks to the threads in turn: each thread computes its own. */
  #claimOwn(tasks: number, place: number, most: number): TaskRange | undefined {
    const { threads, thread } = this.shared;
    const each = Math.min(most, Math.max(1, Math.ceil(tasks / (8 * threads))));
    const first = (Atomics.add(this.#counters, place, 1) * threads + thread) * each;
    return first < tasks && !this.isStopped ? { first, count: Math.min(each, tasks - first) } : undefined;
  }

  beat(): void {
    Atomics.add(this.#counters, BEATS, 1);
  }

  /** A number that changes whenever any thread makes progress. */
  get progress(): number {
    return Atomics.load(this.#counters, BEATS) + Atomics.load(this.#counters, ENDED);
  }

  taskEnded(): void {
    Atomics.add(this.#counters, ENDED, 1);
    this.#changed();
  }

  /** Number of tasks known to have ended, without those that `thread` itself reported. */
  endedBut(thread?: number): number {
    let tasks = Atomics.load(this.#counters, ENDED);
    for (const [other, ended] of this.#endedIn) if (other !== thread) tasks += ended;
    return tasks;
  }

  /** Sets the callback that reports the number of tasks ended here, if the threads share no memory. */
  tellBy(tell: () => void): void {
    if (!this.#isShared) this.#tell = tell;
  }

  /** Receives the number of tasks ended in another thread. */
  hear(thread: number, tasks: number): void {
    this.#endedIn.set(thread, tasks);
    this.#changed();
  }

  async stageEnded(stage: number): Promise<void> {
    const tasks = this.#stages.slice(0, stage + 1).reduce((sum, n) => sum + n, 0);
    const isFirst = this.shared.thread === 0;
    // the first thread collects the reports of all others before it sends its own
    if (!isFirst) this.#tell?.();
    await this.#until(() => this.endedBut() >= tasks);
    if (isFirst) this.#tell?.();
  }

  /** A waiting caller blocks all later ones, in any thread. */
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

  /** Waits until a condition becomes true through any thread. @returns false if the run stopped first. */
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
