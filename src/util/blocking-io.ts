/** What a call of storage that answers at once takes, and for each MiB. */
const CALL_MS = 1;
const MIB_MS = 2;
/** When calls have taken so much longer, it is a disk or a network that is waited for: */
const PATIENCE_MS = 50;
/** for so long others are made in their place, that leave the thread free; twice as long where it goes on so. */
const MIN_SLOW_MS = 50;
const MAX_SLOW_MS = 2000;
/** After so long in calls that block, others may run: signals, progress, messages, calls that wait. */
const TURN_MS = 15;

/**
 * Judges calls of storage that block the thread, which for small values take a fifth of the time of those that do not:
 * whether storage answers at once, so that they are worth making, and when it is time for others to run.
 */
export class BlockingIo {
  /** Milliseconds that calls took longer than they may, less those that they took shorter. */
  #late = 0;
  #slowUntil = 0;
  #slowMs = MIN_SLOW_MS;
  #turned = performance.now();

  /** Whether storage is waited for now: make calls that leave the thread free. */
  get isSlow(): boolean {
    return this.#slowUntil > 0 && performance.now() < this.#slowUntil;
  }

  /**
   * Makes a call that blocks, unless storage is waited for now.
   *
   * @param bytesOf the bytes that it moved
   * @returns undefined where it was not made, or did not succeed
   */
  attempt<A, T>(call: (of: A) => T | undefined, of: A, bytesOf: (result: T) => number): T | undefined {
    if (this.isSlow) return undefined;
    const began = performance.now();
    const result = call(of);
    this.#note(began, result === undefined ? 0 : bytesOf(result));
    return result;
  }

  /** Notes a call that blocked since `began`, and the bytes that it moved. */
  #note(began: number, bytes: number): void {
    const now = performance.now();
    this.#late = Math.max(0, this.#late + now - began - CALL_MS - (bytes / 2 ** 20) * MIB_MS);
    if (this.#late >= PATIENCE_MS) {
      this.#late = 0;
      this.#slowUntil = now + this.#slowMs;
      this.#slowMs = Math.min(2 * this.#slowMs, MAX_SLOW_MS);
    } else if (this.#late === 0) this.#slowMs = MIN_SLOW_MS;
  }

  /** What to wait for before the next call, where it is time to let others run. */
  yield(): Promise<void> | undefined {
    if (performance.now() - this.#turned < TURN_MS) return undefined;
    return nextTurn().then(() => {
      this.#turned = performance.now();
    });
  }
}

/** Lets what is due run first: timers, signals, calls that have ended. For loops that wait for nothing. */
export function nextTurn(): Promise<void> {
  const { setImmediate: soon = setTimeout } = globalThis;
  return new Promise((resolve) => {
    soon(resolve);
  });
}
