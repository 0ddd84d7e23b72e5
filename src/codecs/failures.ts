import { type ErrorDetails, isZarrflowError, ZarrflowError } from "../util/errors.ts";

const MORE = "more";

/** The bytes are not what the codec writes, or were changed since. */
export function corrupt(reason: string, details?: ErrorDetails, options?: ErrorOptions): ZarrflowError {
  return new ZarrflowError("corrupt-chunk", reason, details, options);
}

/** The output is larger than the `limit` bytes that its target holds. */
export function overrun(limit: number): ZarrflowError {
  return corrupt("the chunk decodes to more bytes than expected", { expected: limit, found: MORE });
}

/** Whether `error` says that a larger target might do. */
export function isOverrun(error: unknown): boolean {
  return isZarrflowError(error, "corrupt-chunk") && error.details.found === MORE;
}

/** `error` with the codec's name, ours or wrapped: what a codec throws of its own is a `codec-error`. */
export function codecFailure(error: unknown, codec: string, direction: "decode" | "encode"): ZarrflowError {
  if (isZarrflowError(error)) return error.addContext({ codec });
  const reason = error instanceof Error ? error.message : String(error);
  return new ZarrflowError("codec-error", `cannot ${direction}: ${reason}`, { codec }, { cause: error });
}

/** `error` of one part of a chunk, with the part's name in front. */
export function partFailure(part: string, error: ZarrflowError): ZarrflowError {
  const { code, reason, details } = error;
  return ZarrflowError.like({ code, reason: `${part}: ${reason}`, details }, { cause: error });
}
