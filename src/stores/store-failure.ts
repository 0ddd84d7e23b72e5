import { type ErrorDetails, isZarrflowError, ZarrflowError } from "../util/errors.ts";
import { fileError } from "./files/file-error.ts";

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
