import pLimit from "p-limit";
import { throwIfAborted } from "../../util/abort.ts";
import { ZarrflowError } from "../../util/errors.ts";
import { isWritable, type Store } from "../store.ts";
import { type Wrapped, wrapStore } from "./wrap-store.ts";

/**
 * A store of which no more than `io` calls are under way at once; more wait for their turn, first come, first served. A
 * call whose signal is aborted while it waits is not made. A writer holds no place between its calls.
 *
 * @throws `invalid-option` when `io` is not a whole number of 1 or more.
 */
export function withIoLimit<S extends Store>(store: S, io: number): Wrapped<S> {
  if (!(Number.isInteger(io) && io >= 1)) {
    throw new ZarrflowError("invalid-option", "the number of concurrent requests must be 1 or more", {
      value: io,
    });
  }
  // one that writes one value at a time is limited already, and its waiting calls would keep the open writer out
  if (isWritable(store) && store.singleWriter) return wrapStore(store, (_call, run) => run());
  const limit = pLimit(io);
  return wrapStore(store, (_call, run, { signal }) =>
    limit(() => {
      throwIfAborted(signal);
      return run();
    }),
  );
}
