import { checkedOptions } from "../../util/options.ts";
import { RETRY_OPTIONS, type RetryOptions, retrier, withOneBuffer } from "../remote/retry-requests.ts";
import type { GetOptions, Store } from "../store.ts";
import { type StoreOperation, type Wrapped, wrapStore } from "./wrap-store.ts";

export type { Retry, RetryOptions } from "../remote/retry-requests.ts";

/** Calls that can be repeated. A stream or a writer that has failed cannot continue. */
const REPEATABLE: readonly StoreOperation[] = ["get", "size", "set", "delete"];

/**
 * Retries calls to a store that failed transiently (`transient`, `short-read`). Pauses are random, with a maximum
 * that doubles, and never shorter than the server's `Retry-After`. As many calls run at once as prove useful, at
 * most 256, and fewer while the server reports an overload. Listings and writers are not retried. `HttpStore` and
 * `S3Store` do this themselves.
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
