import { wordsOf } from "../kernels/swap-bytes.ts";
import { shuffleBlock, shuffleOfBlock, workingBuffer } from "./block-shuffle.ts";
import { type BloscHeader, blockCount, HEADER_SIZE, MIN_STREAM, streamCount, writeHeader } from "./frame.ts";
import { blockKernels, type InnerCodec } from "./inner-codecs.ts";

/**
 * Writes `source` as one blosc value, uncompressed if encoding does not make it smaller.
 *
 * @param header all fields except `isStored` and `encodedSize`, which are computed here.
 * @returns the bytes written, at most 16 more than `source`.
 */
export function encodeBlosc(
  source: Uint8Array,
  header: BloscHeader,
  inner: InnerCodec,
  target: Uint8Array,
  level: number,
): number {
  const worthwhile = level > 0 && source.length >= MIN_STREAM;
  const encodedSize = worthwhile ? encodeBlocks(source, header, inner, target, level) : 0;
  if (encodedSize > 0) {
    writeHeader(target, { ...header, isStored: false, encodedSize });
    return encodedSize;
  }
  const storedSize = HEADER_SIZE + source.length;
  writeHeader(target, { ...header, isStored: true, encodedSize: storedSize });
  target.set(source, HEADER_SIZE);
  return storedSize;
}

/** Encodes all blocks, after the table of their starts. Returns 0 if the result is not smaller than the data. */
function encodeBlocks(
  source: Uint8Array,
  header: BloscHeader,
  inner: InnerCodec,
  target: Uint8Array,
  level: number,
): number {
  const starts = wordsOf(target);
  const targetEnd = source.length + HEADER_SIZE;
  const kernels = blockKernels(header, inner);
  const effort = inner.kernelEffort?.(level);
  let t = HEADER_SIZE + 4 * blockCount(header);
  if (t > targetEnd) return 0;
  for (let block = 0; block < blockCount(header); block++) {
    const start = block * header.blockSize;
    const length = Math.min(header.blockSize, source.length - start);
    starts.setUint32(HEADER_SIZE + 4 * block, t, true);
    const mode = shuffleOfBlock(header.shuffle, length, header.typeSize);
    if (kernels && effort !== undefined) {
      const streams = streamCount(header, length);
      const layout = { inner: header.inner, mode, itemSize: header.typeSize, streams };
      const block = source.subarray(start, start + length);
      const size = kernels.encode(block, target.subarray(t, targetEnd), layout, effort);
      t = size === 0 ? 0 : t + size;
    } else if (mode === "noshuffle")
      t = encodeStreams(source, start, length, header, inner, target, t, targetEnd, level);
    else {
      const shuffled = workingBuffer(0, length);
      shuffleBlock(mode, source, start, shuffled, length, header.typeSize);
      t = encodeStreams(shuffled, 0, length, header, inner, target, t, targetEnd, level);
    }
    if (t === 0) return 0;
  }
  return t;
}

/** Encodes the streams of one block from `targetStart` on. Returns their end, or 0 if they do not fit. */
function encodeStreams(
  source: Uint8Array,
  start: number,
  length: number,
  header: BloscHeader,
  inner: InnerCodec,
  target: Uint8Array,
  targetStart: number,
  targetEnd: number,
  level: number,
): number {
  const words = wordsOf(target);
  const plainSize = length / streamCount(header, length);
  let t = targetStart;
  for (let s = start; s < start + length; s += plainSize) {
    const sizeAt = t;
    t += 4;
    const room = Math.min(plainSize, targetEnd - t);
    if (room <= 0) return 0;
    let size = inner.encode(source, s, s + plainSize, target, t, t + room, level);
    if (size === 0 || size === plainSize) {
      if (plainSize > room) return 0;
      target.set(source.subarray(s, s + plainSize), t);
      size = plainSize;
    }
    words.setInt32(sizeAt, size, true);
    t += size;
  }
  return t;
}
