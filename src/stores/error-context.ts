import { throwIfAborted } from "../util/abort.ts";
import { type ErrorDetails, isZarrflowError, ZarrflowError } from "../util/errors.ts";
import { fileError } from "./files/file-error.ts";
import { assertKey } from "./key.ts";

/** `error` as a failure of a store, and of a key in it: errors of ours say so, others are passed on as they are. */
export function withErrorContext(error: unknown, store: string, key?: string): unknown {
  if (!isZarrflowError(error)) return error;
  return error.addContext(key === undefined ? { store } : { store, key });
}

/**
 * What a store threw that is not of ours, as an error of ours whose cause it is: failures of files by their codes, all
 * else `transient`.
 */
export function storeFailure(error: unknown, where: ErrorDetails = {}): ZarrflowError {
  const known = fileError(error, where);
  if (isZarrflowError(known)) return known.addContext(where);
  const words = error instanceof Error ? `${error.name}: ${error.message}` : `a thrown ${typeof error}`;
  return new ZarrflowError("transient", `the store failed: ${words}`, where, { cause: error });
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
