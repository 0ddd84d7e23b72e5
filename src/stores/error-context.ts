import { throwIfAborted } from "../util/abort.ts";
import { isZarrflowError } from "../util/errors.ts";
import { assertKey } from "./key.ts";

/** Adds the store and the key to an error of zarrflow; other errors are returned unchanged. */
export function withErrorContext(error: unknown, store: string, key?: string): unknown {
  if (!isZarrflowError(error)) return error;
  return error.addContext(key === undefined ? { store } : { store, key });
}

/** The subject of a call; `store` describes the store for messages. */
export interface KeyCall {
  readonly store: string;
  readonly key: string;
  readonly signal: AbortSignal | undefined;
}

/**
 * Makes a call about a key.
 *
 * @throws `path-not-allowed` for an invalid key; `aborted`; the errors of `call`, with the store and the key
 *   added.
 */
export async function forKey<T>({ store, key, signal }: KeyCall, call: () => Promise<T>): Promise<T> {
  throwIfAborted(signal);
  assertKey(key);
  try {
    return await call();
  } catch (error) {
    throwIfAborted(signal);
    throw withErrorContext(error, store, key);
  }
}
