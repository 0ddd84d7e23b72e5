import type { Store } from "../store.ts";
import { type StoreOperation, type Wrapped, wrapStore } from "./wrap-store.ts";

/** One request that succeeded. A listing is one, however many keys it gives. */
export interface StoreRequest {
  readonly operation: Exclude<StoreOperation, "next">;
  /** The key, or the prefix of a listing. */
  readonly key: string;
  /** Bytes of values read or written; undefined where a key was asked for that is missing. */
  readonly bytes: number | undefined;
}

/** A store that calls `onRequest` with each request, when it has succeeded. */
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
