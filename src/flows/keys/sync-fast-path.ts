import { throwIfAborted } from "../../util/abort.ts";
import { nextTurn } from "../../util/next-turn.ts";

/** After so many milliseconds others may run: signals, progress, calls that wait. */
const TURN_MS = 4;
/** Where fewer items are done in that time, it may be a disk or a network that is waited for, */
const SMALL_ITEMS = 2;
/** and some are left over, to be done at the same time: twice as many where it goes on so, up to a number. */
const MIN_LEFT = 4;
const MAX_LEFT = 64;

/**
 * Does what can be done without waiting, item after item, which takes a fifth of the time of calls that wait, and gives
 * those that are left over.
 *
 * @param pages items that are at hand together, which are not waited for one by one
 * @param attempt whether an item is done; if not, it is left over
 */
export async function* processSync<T>(
  pages: AsyncIterable<readonly T[]>,
  attempt: (item: T) => boolean,
  signal: AbortSignal | undefined,
): AsyncGenerator<T> {
  let spent = 0;
  let done = 0;
  let leftOver = 0;
  let nextLeft = MIN_LEFT;
  for await (const page of pages) {
    for (const item of page) {
      const began = performance.now();
      if (leftOver > 0 || !attempt(item)) {
        leftOver = Math.max(0, leftOver - 1);
        yield item;
        continue;
      }
      done++;
      spent += performance.now() - began;
      if (spent < TURN_MS) continue;
      if (done < SMALL_ITEMS) leftOver = nextLeft;
      nextLeft = done < SMALL_ITEMS ? Math.min(2 * nextLeft, MAX_LEFT) : MIN_LEFT;
      spent = done = 0;
      await nextTurn();
      throwIfAborted(signal);
    }
  }
}
