import { type RetryOptions, retrier, withOneBuffer } from "../remote/retry-requests.ts";
import type { GetOptions, Store } from "../store.ts";
import { type StoreOperation, type Wrapped, wrapStore } from "./wrap-store.ts";

/** Calls that do the same when made again; a stream or a writer that has failed cannot go on. */
const REPEATABLE: readonly StoreOperation[] = ["get", "size", "set", "delete"];

/**
 * As `withRetry`.
 *
 * @param server whose requests are limited together with those of other stores; by default the calls of this one are, by
 *   themselves
 */
export function withRetryAt<S extends Store>(
  server: string | undefined,
  store: S,
  options: RetryOptions = {},
): Wrapped<S> {
  const retry = retrier(store.description, options, server);
  const wrapped = wrapStore(store, (call, run, { signal }) =>
    REPEATABLE.includes(call.operation) ? retry({ ...call, sent: call.written }, run, signal) : run(),
  );
  const { get } = wrapped;
  return { ...wrapped, get: (key: string, how?: GetOptions) => get(key, withOneBuffer(how)) };
}
