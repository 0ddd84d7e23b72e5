import { throwIfAborted } from "../util/abort.ts";
import { type ErrorDetails, isZarrflowError, ZarrflowError } from "../util/errors.ts";
import { fileError } from "./files/file-error.ts";
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

/**
 * Converts an error of a foreign store to a `ZarrflowError`, with the original as its cause. File errors are
 * converted by their codes; all others become `transient`.
 */
export function storeFailure(error: unknown, where: ErrorDetails = {}): ZarrflowError {
  const known = fileError(error, where);
  if (isZarrflowError(known)) return known.addContext(where);
  const words = error instanceof Error ? `${error.name}: ${error.message}` : `a thrown ${typeof error}`;
  return new ZarrflowError("transient", `the store failed: ${words}`, where, { cause: error });
}
