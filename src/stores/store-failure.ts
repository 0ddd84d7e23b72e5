import { type ErrorDetails, isZarrflowError, ZarrflowError } from "../util/errors.ts";
import { fileError } from "./files/file-error.ts";

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
