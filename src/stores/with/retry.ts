import { checkedOptions } from "../../util/check-options.ts";
import { RETRY_OPTIONS, type RetryOptions, retrier, withOneBuffer } from "../remote/retry-requests.ts";
import type { GetOptions, Store } from "../store.ts";
import { type StoreOperation, type Wrapped, wrapStore } from "./wrap-store.ts";

export type { Retry } from "../remote/retry-events.ts";
export type { RetryOptions } from "../remote/retry-requests.ts";

/** Calls that do the same when made again; a stream or a writer that has failed cannot go on. */
const REPEATABLE: readonly StoreOperation[] = ["get", "size", "set", "delete"];

/**
 * A store whose calls are made again where they failed transiently (`transient`, `short-read`): after a random part of a
 * time that doubles, and never before the server's `Retry-After`. As many are made at once as are found to be of use, 256
 * at most; while the server asks for fewer, fewer. Listings and writers are not repeated. `HttpStore` and `S3Store` do
 * this by themselves.
 *
 * @example
 * ```ts
 * import { defineStore } from "zarrflow";
 * import { withRetry } from "zarrflow/stores/with/retry";
 *
 * const values = new Map<string, Uint8Array>();
 * const store = withRetry(defineStore({ get: async (key) => values.get(key) }), { attempts: 8 });
 * console.log(await store.get("zarr.json")); // undefined
 * ```
 */
export function withRetry<S extends Store>(store: S, options: RetryOptions = {}): Wrapped<S> {
  const retry = retrier(store.description, checkedOptions<RetryOptions>(options, RETRY_OPTIONS));
  const wrapped = wrapStore(store, (call, run, { signal }) =>
    REPEATABLE.includes(call.operation) ? retry({ ...call, sent: call.written }, run, signal) : run(),
  );
  const { get } = wrapped;
  return { ...wrapped, get: (key: string, how?: GetOptions) => get(key, withOneBuffer(how)) };
}
