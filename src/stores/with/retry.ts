import { assertKnown } from "../../util/check-options.ts";
import { RETRY_OPTIONS, type RetryOptions } from "../remote/retry-requests.ts";
import type { Store } from "../store.ts";
import { withRetryAt } from "./retry-at.ts";
import type { Wrapped } from "./wrap-store.ts";

export type { Retry } from "../remote/retry-events.ts";
export type { RetryOptions } from "../remote/retry-requests.ts";

/**
 * A store whose calls are made again where they failed transiently (`transient`, `short-read`): after a random part of a
 * time that doubles, and never before the server's `Retry-After`. As many are made at once as are found to be of use, 256
 * at most; while the server asks for fewer, fewer. Listings and writers are not repeated.
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
  assertKnown(options, RETRY_OPTIONS);
  return withRetryAt(undefined, store, options);
}
