import { throwIfAborted } from "../util/abort.ts";
import { isZarrflowError } from "../util/errors.ts";
import { assertKey } from "./key.ts";

/** `error` as a failure of a store, and of a key in it: errors of ours say so, others are passed on as they are. */
export function withErrorContext(error: unknown, store: string, key?: string): unknown {
  if (!isZarrflowError(error)) return error;
  return error.addContext(key === undefined ? { store } : { store, key });
}

/** What a call is about; the store in words. */
export interface KeyCall {
  readonly store: string;
  readonly key: string;
  readonly signal: AbortSignal | undefined;
}

/**
 * Makes a call about a key.
 *
 * @throws `path-not-allowed` for what is no key; `aborted`; what `call` throws, with the
 *   store and the key.
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
