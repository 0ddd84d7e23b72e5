import pLimit from "p-limit";
import { throwIfAborted } from "../../util/abort.ts";
import { ZarrflowError } from "../../util/errors.ts";
import { isWritable, type Store } from "../store.ts";
import { type Wrapped, wrapStore } from "./wrap-store.ts";

/**
 * Limits the calls to a store to `concurrency` at a time; others wait for their turn in order. A call that is
 * aborted while it waits is not made. A writer takes no place between its calls.
 *
 * @throws `invalid-option` if `concurrency` is not a whole number of 1 or more.
 */
export function withConcurrencyLimit<S extends Store>(store: S, concurrency: number): Wrapped<S> {
  if (!(Number.isInteger(concurrency) && concurrency >= 1)) {
    throw new ZarrflowError("invalid-option", "the number of concurrent requests must be 1 or more", {
      value: concurrency,
    });
  }
  // a single writer is limited already, and calls that wait for it would block its own
  if (isWritable(store) && store.singleWriter) return wrapStore(store, (_call, run) => run());
  const limit = pLimit(concurrency);
  return wrapStore(store, (_call, run, { signal }) =>
    limit(() => {
      throwIfAborted(signal);
      return run();
    }),
  );
}
