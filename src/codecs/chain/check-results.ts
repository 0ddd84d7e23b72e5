import { isFixed } from "../../meta/data-type.ts";
import { ZarrflowError } from "../../util/errors.ts";
import { product } from "../../util/shape.ts";
import type { ChunkData } from "../chunk-data.ts";
import type { ChunkSpec } from "../codec.ts";

/**
 * A number of bytes that a codec gave, from 0 to `limit`. Buffers are reused, so a wrong one would take what an earlier
 * chunk left in them for the codec's output.
 *
 * @throws `codec-error` for all that is no such number.
 */
export function assertLength(length: unknown, limit: number, what: string): number {
  const isLength = typeof length === "number" && Number.isSafeInteger(length) && length >= 0;
  if (isLength && length <= limit) return length;
  throw new ZarrflowError("codec-error", `the codec returns an invalid ${what}`, {
    expected: `a whole number from 0 to ${limit}`,
    found: typeof length === "string" ? JSON.stringify(length) : String(length),
  });
}

/** @throws `codec-error` when what an array -> bytes codec gave is not the bytes that it promised. */
export function assertEncoded(encoded: unknown, size: number | undefined): Uint8Array {
  if (encoded instanceof Uint8Array && (size === undefined || encoded.length === size)) return encoded;
  throw new ZarrflowError("codec-error", "the codec returns another number of bytes than it states", {
    expected: size === undefined ? "bytes" : `${size} bytes`,
    found: encoded instanceof Uint8Array ? `${encoded.length} bytes` : typeof encoded,
  });
}

/** @throws `codec-error` when what codecs decoded is not one whole chunk of `spec`, laid out by `strides`. */
export function assertChunk(data: unknown, spec: ChunkSpec, strides: readonly number[]): ChunkData {
  const problem = chunkProblem(data as ChunkData | undefined, spec, strides);
  if (problem === undefined) return data as ChunkData;
  throw new ZarrflowError("codec-error", `the codecs do not return a whole chunk: ${problem}`);
}

function chunkProblem(
  data: ChunkData | undefined,
  { shape, dataType }: ChunkSpec,
  strides: readonly number[],
): string | undefined {
  if (!(data?.bytes instanceof Uint8Array)) return "it has no bytes";
  if (!Array.isArray(data.shape) || !sameNumbers(data.shape, shape)) return "its shape differs";
  if (!isFixed(dataType)) {
    return data.kind === "variable"
      ? offsetsProblem(data.offsets, data.bytes, product(shape))
      : "its items have a fixed size";
  }
  if (data.kind !== "fixed") return "its items have variable size";
  if (data.itemSize !== dataType.size) return `its items have ${data.itemSize} bytes, not ${dataType.size}`;
  const size = product(shape) * dataType.size;
  if (data.bytes.length !== size) return `it has ${data.bytes.length} bytes, not ${size}`;
  const isLaidOut = shape.every((n, d) => n === 1 || data.strides?.[d] === strides[d]);
  return isLaidOut ? undefined : "its strides differ";
}

/** What is wrong with the offsets of variable data: they must rise, and end within the bytes. */
function offsetsProblem(offsets: unknown, { length }: Uint8Array, items: number): string | undefined {
  if (!(offsets instanceof Uint32Array) || offsets.length !== items + 1)
    return "it does not have one offset per item and one more";
  let before = 0;
  for (const offset of offsets) {
    if (offset < before) return "its offsets decrease";
    before = offset;
  }
  return before <= length ? undefined : "its offsets point beyond its bytes";
}

function sameNumbers(a: readonly number[], b: readonly number[]): boolean {
  return a.length === b.length && a.every((n, i) => n === b[i]);
}
