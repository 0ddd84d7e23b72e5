import type { Store } from "../store.ts";
import { type StoreOperation, type Wrapped, wrapStore } from "./wrap-store.ts";

/** A request that succeeded. A listing is one request, whatever its number of keys. */
export interface StoreRequest {
  readonly operation: Exclude<StoreOperation, "next">;
  /** The key, or the prefix of a listing. */
  readonly key: string;
  /** Bytes of values read or written; undefined for a missing key. */
  readonly bytes: number | undefined;
}

/** Calls `onRequest` after each successful request to a store. */
export function withRequestLog<S extends Store>(
  store: S,
  onRequest: (request: StoreRequest) => void,
): Wrapped<S> {
  return wrapStore(store, async ({ operation, key, written }, run) => {
    const answer = await run();
    if (operation === "next") return answer;
    const read = answer instanceof Uint8Array ? answer.length : 0;
    const isMissing = answer === undefined && (operation === "get" || operation === "size");
    onRequest({ operation, key, bytes: isMissing ? undefined : read + written });
    return answer;
  });
}
