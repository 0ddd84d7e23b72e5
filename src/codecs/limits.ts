import { isFixed } from "../meta/data-type.ts";
import { type ErrorDetails, isZarrflowError, ZarrflowError } from "../util/errors.ts";
import type { CodecPipeline } from "./codec.ts";

/** The most bytes of one chunk, between any two codecs. */
export const MAX_CHUNK_SIZE = 2 ** 31 - 1;

/** The most bytes accepted from other encoders, which may write more frames or padding than our limit, `ours`. */
export function foreignSizeBound(ours: number): number {
  return Math.min(2 * ours + 65_536, MAX_CHUNK_SIZE);
}

/** The most bytes of a stored chunk that the codecs decode, whoever wrote it. */
export function maxStoredSize({
  spec,
  maxEncodedSize,
}: Pick<CodecPipeline, "spec" | "maxEncodedSize">): number {
  // The size of variable data is not known in advance.
  return isFixed(spec.dataType) ? foreignSizeBound(maxEncodedSize) : MAX_CHUNK_SIZE;
}

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

/**
 * Number of items of `size` bytes to encode.
 *
 * @throws `codec-error` if the last item is incomplete.
 */
export function itemsToEncode(bytes: Uint8Array, size: number): number {
  if (bytes.length % size === 0) return bytes.length / size;
  throw new ZarrflowError("codec-error", notWhole(bytes, size));
}

/**
 * Number of items of `size` bytes to decode.
 *
 * @throws `corrupt-chunk` if the last item is incomplete.
 */
export function itemsToDecode(bytes: Uint8Array, size: number): number {
  if (bytes.length % size === 0) return bytes.length / size;
  throw corrupt(notWhole(bytes, size));
}

function notWhole(bytes: Uint8Array, size: number): string {
  return `${bytes.length} bytes are not a whole number of items of ${size} bytes`;
}

/**
 * Offsets of consecutive items of the given `lengths`, followed by the end of the last item.
 *
 * @param tooLarge creates the error for more bytes than a chunk may have
 */
export function offsetsOf(lengths: Uint32Array, tooLarge: (found: number) => ZarrflowError): Uint32Array {
  const offsets = new Uint32Array(lengths.length + 1);
  let end = 0;
  lengths.forEach((length, i) => {
    end += length;
    offsets[i + 1] = end;
  });
  if (end <= MAX_CHUNK_SIZE) return offsets;
  throw tooLarge(end);
}
