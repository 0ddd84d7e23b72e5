import { isFixed } from "../../meta/data-type.ts";
import { ZarrflowError } from "../../util/errors.ts";
import { product } from "../../util/shape.ts";
import type { ChunkData } from "../chunk-data.ts";
import type { ChunkSpec } from "../codec.ts";

/**
 * Checks that a codec returned a number of bytes from 0 to `limit`. Buffers are reused, so a wrong number would expose
 * bytes of an earlier chunk as output of the codec.
 *
 * @throws `codec-error` for anything else.
 */
export function assertLength(length: unknown, limit: number, what: string): number {
  const isLength = typeof length === "number" && Number.isSafeInteger(length) && length >= 0;
  if (isLength && length <= limit) return length;
  throw new ZarrflowError("codec-error", `the codec returns an invalid ${what}`, {
    expected: `a whole number from 0 to ${limit}`,
    found: typeof length === "string" ? JSON.stringify(length) : String(length),
  });
}

/** @throws `codec-error` if an array -> bytes codec did not return bytes of the size it promised. */
export function assertEncoded(encoded: unknown, size: number | undefined): Uint8Array {
  if (encoded instanceof Uint8Array && (size === undefined || encoded.length === size)) return encoded;
  throw new ZarrflowError("codec-error", "the codec returns another number of bytes than it states", {
    expected: size === undefined ? "bytes" : `${size} bytes`,
    found: encoded instanceof Uint8Array ? `${encoded.length} bytes` : typeof encoded,
  });
}

/** @throws `codec-error` if the codecs did not return a whole chunk of `spec` with these strides. */
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

/** The problem with the offsets of variable data, if any: they must not decrease and must end within the bytes. */
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
