import { type RetryOptions, retrier, withOneBuffer } from "../remote/retry-requests.ts";
import type { GetOptions, Store } from "../store.ts";
import { type StoreOperation, type Wrapped, wrapStore } from "./wrap-store.ts";

export type { Retry } from "../remote/retry-events.ts";
export type { RetryOptions } from "../remote/retry-requests.ts";

/** Calls that do the same when made again; a stream or a writer that has failed cannot go on. */
const REPEATABLE: readonly StoreOperation[] = ["get", "size", "set", "delete"];

/**
 * A store whose calls are made again where they failed transiently (`transient`, `short-read`): after a random part of a
 * time that doubles, and never before the server's `Retry-After`. While the server asks for fewer requests, fewer
 * of them are made at once. Listings and writers are not repeated.
 *
 * @example
 * ```ts
 * import { HttpStore } from "zarrflow/stores/http";
 * import { withRetry } from "zarrflow/stores/with/retry";
 *
 * const store = withRetry(new HttpStore("https://example.org/era5.zarr"), { attempts: 8 });
 * console.log(store.description); // https://example.org/era5.zarr
 * ```
 */
export function withRetry<S extends Store>(store: S, options: RetryOptions = {}): Wrapped<S> {
  const retry = retrier(store.description, options);
  const wrapped = wrapStore(store, (call, run, { signal }) =>
    REPEATABLE.includes(call.operation) ? retry(call, run, signal) : run(),
  );
  const { get } = wrapped;
  return { ...wrapped, get: (key: string, how?: GetOptions) => get(key, withOneBuffer(how)) };
}
