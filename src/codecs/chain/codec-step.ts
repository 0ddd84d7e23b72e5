import { isFixed } from "../../meta/data-type.ts";
import { type Awaitable, after, isPromise } from "../../util/awaitable.ts";
import { type Buffers, plainBuffers } from "../../util/bytes.ts";
import { ZarrflowError } from "../../util/errors.ts";
import { sameNumbers } from "../../util/numbers.ts";
import { product } from "../../util/shape.ts";
import type { ChunkData } from "../chunk-data.ts";
import type { ArrayToBytesCodec, BytesToBytesCodec, ChunkPlace, ChunkSpec, PlacedCodec } from "../codec.ts";
import { codecFailure, corrupt, isOverrun } from "../limits.ts";

export type Direction = "decode" | "encode";

/** A chunk between two codecs: items of an array, or bytes. */
export type ChunkForm = ChunkData | Uint8Array;

/**
 * Applies one codec to one chunk. Takes ownership of the chunk, whose bytes came from `buffers`; the caller owns the
 * result. After an error all buffers have been given back.
 */
export type CodecStep = (chunk: ChunkForm) => Promise<ChunkForm>;

/**
 * One codec of a chain as a function of chunks. The steps of `loadCodecs` in order encode as the whole pipeline does;
 * in reverse order they decode.
 *
 * @throws (the step) `corrupt-chunk`, `codec-error` with the codec's name.
 */
export function codecStep(
  placed: PlacedCodec,
  direction: Direction,
  buffers: Buffers = plainBuffers,
): CodecStep {
  const call = codecCall(placed, direction);
  return async (chunk) => call(chunk, buffers);
}

/** As `CodecStep`, but returns or throws synchronously if the codec is synchronous. */
export type CodecCall = (chunk: ChunkForm, buffers: Buffers, place?: ChunkPlace) => Awaitable<ChunkForm>;

export function codecCall(placed: PlacedCodec, direction: Direction): CodecCall {
  const fail = (error: unknown, chunk: ChunkForm, buffers: Buffers): never => {
    buffers.give(chunk instanceof Uint8Array ? chunk : chunk.bytes);
    throw codecFailure(error, placed.codec.name, direction);
  };
  return (chunk, buffers, place) => {
    try {
      const result = applied(placed, direction, chunk, buffers, place);
      if (!isPromise(result)) return result;
      return Promise.resolve(result).catch((error) => fail(error, chunk, buffers));
    } catch (error) {
      return fail(error, chunk, buffers);
    }
  };
}

function applied(
  { codec, ...sizes }: PlacedCodec,
  direction: Direction,
  chunk: ChunkForm,
  buffers: Buffers,
  place: ChunkPlace | undefined,
): Awaitable<ChunkForm> {
  switch (codec.kind) {
    case "array-to-array":
      return direction === "decode"
        ? codec.decode(asArray(chunk), buffers, place)
        : codec.encode(asArray(chunk), buffers);
    case "array-to-bytes":
      return packingStep(codec, direction, chunk, buffers);
    case "bytes-to-bytes":
      return bytesStep({ codec, ...sizes }, direction, asBytes(chunk), buffers);
  }
}

function packingStep(
  codec: ArrayToBytesCodec,
  direction: Direction,
  chunk: ChunkForm,
  buffers: Buffers,
): Awaitable<ChunkForm> {
  if (direction === "decode") return codec.decode(asBytes(chunk), buffers);
  codec.assertEncodable?.();
  return after(codec.encode(asArray(chunk), buffers), (bytes) => assertEncoded(bytes, codec.encodedSize));
}

function bytesStep(
  placed: PlacedCodec<BytesToBytesCodec>,
  direction: Direction,
  source: Uint8Array,
  buffers: Buffers,
): Awaitable<Uint8Array> {
  const result =
    direction === "decode"
      ? decodeBytesStep(placed, source, buffers)
      : encodeBytesStep(placed.codec, source, buffers);
  return after(result, (bytes) => {
    buffers.give(source);
    return bytes;
  });
}

/** Decodes into a buffer of the size that the chain promises; without one, into a buffer of sufficient size. */
function decodeBytesStep(
  { codec, decodedSize, maxDecodedSize }: PlacedCodec<BytesToBytesCodec>,
  source: Uint8Array,
  buffers: Buffers,
): Awaitable<Uint8Array> {
  const stated = statedSize(codec, source);
  if (decodedSize === undefined) return decodeUnsized(codec, source, stated, maxDecodedSize, buffers);
  assertSize(decodedSize, stated);
  return after(
    filled(buffers, decodedSize, (target) => codec.decodeInto(source, target)),
    (decoded) => {
      if (decoded.length === decodedSize) return decoded;
      buffers.give(decoded);
      throw otherSize(decodedSize, decoded.length);
    },
  );
}

function encodeBytesStep(
  codec: BytesToBytesCodec,
  source: Uint8Array,
  buffers: Buffers,
): Awaitable<Uint8Array> {
  codec.assertEncodable?.();
  const limit = assertLength(
    codec.maxEncodedSize(source.length),
    Number.MAX_SAFE_INTEGER,
    "maximum encoded size",
  );
  const fixedSize = codec.fixedEncodedSize?.(source.length);
  return after(
    filled(buffers, limit, (target) => codec.encodeInto(source, target)),
    (encoded) => {
      if (fixedSize === undefined || encoded.length === fixedSize) return encoded;
      buffers.give(encoded);
      throw new ZarrflowError(
        "codec-error",
        "the encoded length differs from the length that the codec stated",
        {
          expected: fixedSize,
          found: encoded.length,
        },
      );
    },
  );
}

function statedSize(codec: BytesToBytesCodec, source: Uint8Array): number | undefined {
  const stated = codec.statedDecodedSize?.(source);
  return stated === undefined ? undefined : assertLength(stated, Number.MAX_SAFE_INTEGER, "decoded size");
}

const FIRST_GUESS = 65_536;
const GROWTH = 4;

/** Decodes data of any size up to `limit`: uses the stated size, or else tries larger and larger buffers. */
async function decodeUnsized(
  codec: BytesToBytesCodec,
  source: Uint8Array,
  stated: number | undefined,
  limit: number,
  buffers: Buffers,
): Promise<Uint8Array> {
  if (stated !== undefined && stated > limit) throw tooLarge(limit, stated);
  let size = Math.min(stated ?? Math.max(FIRST_GUESS, GROWTH * source.length), limit);
  for (;;) {
    try {
      const decoded = await filled(buffers, size, (target) => codec.decodeInto(source, target));
      if (stated === undefined || decoded.length === stated) return decoded;
      buffers.give(decoded);
      throw otherSize(stated, decoded.length);
    } catch (error) {
      if (stated !== undefined || !isOverrun(error)) throw error;
      if (size === limit) throw tooLarge(limit, `more than ${limit}`);
      size = Math.min(GROWTH * size, limit);
    }
  }
}

/** Takes a buffer, calls `fill`, and returns the part that was written. Gives the buffer back after an error. */
function filled(
  buffers: Buffers,
  size: number,
  fill: (target: Uint8Array) => Awaitable<number>,
): Awaitable<Uint8Array> {
  const target = buffers.take(size);
  const fail = (error: unknown): never => {
    buffers.give(target);
    throw error;
  };
  try {
    const result = after(fill(target), (written) =>
      target.subarray(0, assertLength(written, target.length, "number of bytes written")),
    );
    return isPromise(result) ? result.catch(fail) : result;
  } catch (error) {
    return fail(error);
  }
}

function assertSize(expected: number, found: number | undefined): void {
  if (found !== undefined && found !== expected) throw otherSize(expected, found);
}

function otherSize(expected: number, found: number): ZarrflowError {
  return corrupt("the decoded length does not match the metadata", { expected, found });
}

function tooLarge(limit: number, found: number | string): ZarrflowError {
  return new ZarrflowError("resource-limit", "the chunk decodes to more bytes than allowed", {
    expected: `at most ${limit}`,
    found,
  });
}

function asBytes(chunk: ChunkForm): Uint8Array {
  if (chunk instanceof Uint8Array) return chunk;
  throw new ZarrflowError("codec-error", "the codec needs bytes, but gets an array");
}

function asArray(chunk: ChunkForm): ChunkData {
  if (!(chunk instanceof Uint8Array)) return chunk;
  throw new ZarrflowError("codec-error", "the codec needs an array, but gets bytes");
}

/**
 * Checks that a codec returned a number of bytes from 0 to `limit`. Buffers are reused, so a wrong number would expose
 * bytes of an earlier chunk as output of the codec.
 *
 * @throws `codec-error` for anything else.
 */
export function assertLength(length: unknown, limit: number, what: string): number {
  const isLength = typeof length === "number" && Number.isSafeInteger(length) && length >= 0;
  if (isLength && length <= limit) return length;
  throw new ZarrflowError("codec-error", `the codec returned an invalid ${what}`, {
    expected: `a whole number from 0 to ${limit}`,
    found: typeof length === "string" ? JSON.stringify(length) : String(length),
  });
}

/** @throws `codec-error` if an array -> bytes codec did not return bytes of the size it promised. */
export function assertEncoded(encoded: unknown, size: number | undefined): Uint8Array {
  if (encoded instanceof Uint8Array && (size === undefined || encoded.length === size)) return encoded;
  throw new ZarrflowError("codec-error", "the codec returned a different number of bytes than it stated", {
    expected: size === undefined ? "bytes" : `${size} bytes`,
    found: encoded instanceof Uint8Array ? `${encoded.length} bytes` : typeof encoded,
  });
}

/** @throws `codec-error` if the codecs did not return a whole chunk of `spec` with these strides. */
export function assertChunk(data: unknown, spec: ChunkSpec, strides: readonly number[]): ChunkData {
  const problem = chunkProblem(data as ChunkData | undefined, spec, strides);
  if (problem === undefined) return data as ChunkData;
  throw new ZarrflowError("codec-error", `the codecs did not return a whole chunk: ${problem}`);
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
    return "it does not have one more offset than items";
  let before = 0;
  for (const offset of offsets) {
    if (offset < before) return "its offsets decrease";
    before = offset;
  }
  return before <= length ? undefined : "its offsets point beyond its bytes";
}
