import { blosclzDecode, blosclzEncode } from "../kernels/blosclz.ts";
import type { BlockKernels } from "../kernels/kernel-types.ts";
import { kernelsOfThread } from "../kernels/kernels.ts";
import { lz4Decode, lz4Encode } from "../kernels/lz4-block.ts";
import { snappyDecode, snappyEncode } from "../kernels/snappy.ts";
import { wasmBlocks } from "../kernels/wasm-blocks.ts";
import { ZSTD_KERNEL_LEVELS } from "../kernels/wasm-codecs.ts";
import { isOverrun } from "../limits.ts";
import { decodeZstd, zstdDecoder } from "../zstd/decoder.ts";
import { zstdEncoder } from "../zstd/encoder.ts";
import type { BloscHeader, InnerName } from "./frame.ts";

/** A codec for the streams in blosc blocks; works on parts of larger buffers. */
export interface InnerCodec {
  /**
   * Decodes one stream. If only its first `wanted` bytes are needed, the bytes after them may be left out.
   *
   * @returns the bytes written, or -1 if the stream is broken or decodes to more than the target's part holds.
   * @throws `corrupt-chunk`, `codec-error` if more is known.
   */
  decode(
    source: Uint8Array,
    start: number,
    end: number,
    target: Uint8Array,
    targetStart: number,
    targetEnd: number,
    wanted: number,
  ): number;
  /**
   * @param level 1 to 9.
   * @returns the bytes written, or 0 if they do not fit.
   */
  encode(
    source: Uint8Array,
    start: number,
    end: number,
    target: Uint8Array,
    targetStart: number,
    targetEnd: number,
    level: number,
  ): number;
  /**
   * Converts the level to the effort of the block kernels; undefined if they do not support the level. Absent if there
   * are no such kernels or they would be slower.
   */
  kernelEffort?(level: number): number | undefined;
}

const lz4: InnerCodec = {
  decode(source, start, end, target, targetStart, targetEnd, wanted) {
    const wantedEnd = targetStart + wanted;
    return lz4Decode(source, start, end, target, targetStart, wantedEnd, wantedEnd < targetEnd);
  },
  encode: (source, start, end, target, targetStart, targetEnd, level) =>
    lz4Encode(source, start, end, target, targetStart, targetEnd, 10 - level),
  kernelEffort: (level) => 10 - level,
};
const blosclz: InnerCodec = { decode: blosclzDecode, encode: blosclzEncode, kernelEffort: (level) => level };
const snappy: InnerCodec = { decode: snappyDecode, encode: snappyEncode };

const loaders: Readonly<Record<InnerName, () => InnerCodec | Promise<InnerCodec>>> = {
  blosclz: () => blosclz,
  lz4: () => lz4,
  snappy: () => snappy,
  zlib: loadInnerZlib,
  zstd: innerZstd,
};
const loaded = new Map<InnerName, InnerCodec>();

/** The inner codec of that name, or a promise if it must be loaded first. */
export function innerCodec(name: InnerName): InnerCodec | Promise<InnerCodec> {
  const known = loaded.get(name);
  if (known) return known;
  const codec = loaders[name]();
  if (codec instanceof Promise) {
    return codec.then((inner) => {
      loaded.set(name, inner);
      return inner;
    });
  }
  loaded.set(name, codec);
  return codec;
}

async function loadInnerZlib(): Promise<InnerCodec> {
  const { loadDeflate } = await import("../deflate/codec.ts");
  const { inflate, deflate } = await loadDeflate();
  return {
    decode: (source, start, end, target, targetStart, targetEnd) =>
      orTooLarge(() => inflate("zlib", source.subarray(start, end), target.subarray(targetStart, targetEnd))),
    encode: (source, start, end, target, targetStart, targetEnd, level) =>
      deflate("zlib", source.subarray(start, end), target.subarray(targetStart, targetEnd), level),
  };
}

function innerZstd(): InnerCodec {
  const decoder = zstdDecoder();
  const encoder = zstdEncoder();
  return {
    kernelEffort: (level) => (zstdLevel(level) <= ZSTD_KERNEL_LEVELS.most ? zstdLevel(level) : undefined),
    decode: (source, start, end, target, targetStart, targetEnd) =>
      orTooLarge(() =>
        decodeZstd(decoder, source.subarray(start, end), target.subarray(targetStart, targetEnd)),
      ),
    encode: (source, start, end, target, targetStart, targetEnd, level) =>
      encoder.encode(
        source.subarray(start, end),
        target.subarray(targetStart, targetEnd),
        zstdLevel(level),
        false,
      ),
  };
}

/** The zstd level that c-blosc uses for its levels 1 to 9. */
function zstdLevel(level: number): number {
  if (level === 9) return 22;
  return level === 8 ? 20 : 2 * level - 1;
}

/** Returns -1 in place of an overrun: a larger target would not help, because the size of the stream is known. */
function orTooLarge(decode: () => number): number {
  try {
    return decode();
  } catch (error) {
    if (isOverrun(error)) return -1;
    throw error;
  }
}

const blocksOfThread = kernelsOfThread(wasmBlocks);

/** The kernels for whole blocks of this kind, if any. */
export function blockKernels(
  { inner: name, blockSize }: BloscHeader,
  inner: InnerCodec,
): BlockKernels | undefined {
  const blocks = blocksOfThread();
  if (inner.kernelEffort === undefined) return undefined;
  return blocks.inner.includes(name) && blockSize <= blocks.maxSize ? blocks : undefined;
}
