import pLimit from "p-limit";
import { throwIfAborted } from "../../util/abort.ts";
import { ZarrflowError } from "../../util/errors.ts";
import { isWritable, type Store } from "../store.ts";
import { type Wrapped, wrapStore } from "./wrap-store.ts";

/**
 * A store of which no more than `concurrency` calls are under way at once; more wait for their turn, first come, first served. A
 * call whose signal is aborted while it waits is not made. A writer holds no place between its calls.
 *
 * @throws `invalid-option` when `concurrency` is not a whole number of 1 or more.
 */
export function withConcurrencyLimit<S extends Store>(store: S, concurrency: number): Wrapped<S> {
  if (!(Number.isInteger(concurrency) && concurrency >= 1)) {
    throw new ZarrflowError("invalid-option", "the number of concurrent requests must be 1 or more", {
      value: concurrency,
    });
  }
  // one that writes one value at a time is limited already, and its waiting calls would keep the open writer out
  if (isWritable(store) && store.singleWriter) return wrapStore(store, (_call, run) => run());
  const limit = pLimit(concurrency);
  return wrapStore(store, (_call, run, { signal }) =>
    limit(() => {
      throwIfAborted(signal);
      return run();
    }),
  );
}
