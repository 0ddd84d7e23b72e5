import { throwIfAborted } from "./abort.ts";

/** Expected time of a call to fast storage, and the extra time per MiB. */
const CALL_MS = 1;
const MIB_MS = 2;
/** Total excess time after which the disk or network counts as slow. */
const MAX_EXCESS_MS = 50;
/** How long non-blocking calls are then used; doubles while storage stays slow. */
const MIN_SLOW_MS = 50;
const MAX_SLOW_MS = 2000;
/** Time in blocking calls after which other work may run: signals, progress, messages, pending calls. */
const TURN_MS = 15;

/**
 * Decides when to use blocking storage calls, and when other work should get a turn. For small values, blocking calls
 * take a fifth of the time of non-blocking ones, but only if storage responds immediately.
 */
export class BlockingIo {
  /** Milliseconds by which calls exceeded their expected time, less those that they saved. */
  #late = 0;
  #slowUntil = 0;
  #slowMs = MIN_SLOW_MS;
  #turned = performance.now();

  /** True while storage is slow: use non-blocking calls. */
  get isSlow(): boolean {
    return this.#slowUntil > 0 && performance.now() < this.#slowUntil;
  }

  /**
   * Makes a blocking call, unless storage is slow.
   *
   * @param bytesOf returns the number of bytes that the call moved
   * @returns undefined if the call was skipped or failed
   */
  attempt<A, T>(call: (of: A) => T | undefined, of: A, bytesOf: (result: T) => number): T | undefined {
    if (this.isSlow) return undefined;
    const began = performance.now();
    const result = call(of);
    this.#note(began, result === undefined ? 0 : bytesOf(result));
    return result;
  }

  /** Records a blocking call that started at `began` and moved `bytes`. */
  #note(began: number, bytes: number): void {
    const now = performance.now();
    this.#late = Math.max(0, this.#late + now - began - CALL_MS - (bytes / 2 ** 20) * MIB_MS);
    if (this.#late >= MAX_EXCESS_MS) {
      this.#late = 0;
      this.#slowUntil = now + this.#slowMs;
      this.#slowMs = Math.min(2 * this.#slowMs, MAX_SLOW_MS);
    } else if (this.#late === 0) this.#slowMs = MIN_SLOW_MS;
  }

  /** Returns a promise to await before the next call if other work is due a turn. */
  yield(): Promise<void> | undefined {
    if (performance.now() - this.#turned < TURN_MS) return undefined;
    return nextTurn().then(() => {
      this.#turned = performance.now();
    });
  }
}

/**
 * Processes items with blocking calls as long as storage answers immediately. Yields the items that are left over.
 *
 * @param pages batches of items that are available together, without waiting for each
 * @param attempt returns the bytes that an item took, or undefined to leave it over
 */
export async function* processSync<T>(
  pages: AsyncIterable<Iterable<T>> | Iterable<Iterable<T>>,
  attempt: (item: T) => number | undefined,
  signal: AbortSignal | undefined,
): AsyncGenerator<T> {
  const io = new BlockingIo();
  for await (const page of pages) {
    for (const item of page) {
      const others = io.yield();
      if (others) {
        await others;
        throwIfAborted(signal);
      }
      if (io.attempt(attempt, item, itself) === undefined) yield item;
    }
  }
}

const itself = (bytes: number) => bytes;

/** Lets due work run: timers, signals, finished calls. For loops that otherwise never wait. */
export function nextTurn(): Promise<void> {
  const { setImmediate: soon = setTimeout } = globalThis;
  return new Promise((resolve) => {
    soon(resolve);
  });
}
