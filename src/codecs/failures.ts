import { type ErrorDetails, isZarrflowError, ZarrflowError } from "../util/errors.ts";

const MORE = "more";

/** The error for bytes that the codec would never write, or that have changed since. */
export function corrupt(reason: string, details?: ErrorDetails, options?: ErrorOptions): ZarrflowError {
  return new ZarrflowError("corrupt-chunk", reason, details, options);
}

/** The error for output larger than its target of `limit` bytes. */
export function overrun(limit: number): ZarrflowError {
  return corrupt("the chunk decodes to more bytes than expected", { expected: limit, found: MORE });
}

/** True if decoding may succeed with a larger target. */
export function isOverrun(error: unknown): boolean {
  return isZarrflowError(error, "corrupt-chunk") && error.details.found === MORE;
}

/** Adds the codec's name to an error. Wraps errors that are not a `ZarrflowError` as `codec-error`. */
export function codecFailure(error: unknown, codec: string, direction: "decode" | "encode"): ZarrflowError {
  if (isZarrflowError(error)) return error.addContext({ codec });
  const reason = error instanceof Error ? error.message : String(error);
  return new ZarrflowError("codec-error", `cannot ${direction}: ${reason}`, { codec }, { cause: error });
}

/** The error of one part of a chunk, prefixed with the name of the part. */
export function partFailure(part: string, error: ZarrflowError): ZarrflowError {
  const { code, reason, details } = error;
  return ZarrflowError.like({ code, reason: `${part}: ${reason}`, details }, { cause: error });
}
