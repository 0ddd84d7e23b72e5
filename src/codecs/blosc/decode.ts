import type { BlockLayout } from "../kernels/kernel-types.ts";
import { wordsOf } from "../kernels/swap-bytes.ts";
import { rangeInStream, type Span } from "../kernels/wasm-blocks.ts";
import { corrupt } from "../limits.ts";
import { shuffleOfBlock, unshuffleBlock, workingBuffer } from "./block-shuffle.ts";
import { type BloscHeader, blockCount, HEADER_SIZE, streamCount } from "./frame.ts";
import { blockKernels, type InnerCodec } from "./inner-codecs.ts";

/**
 * Decodes the blocks of `source` into `target`, which holds at least `header.size` bytes.
 *
 * @throws `corrupt-chunk`
 */
export function decodeBlocks(
  source: Uint8Array,
  header: BloscHeader,
  inner: InnerCodec,
  target: Uint8Array,
): void {
  for (let block = 0; block < blockCount(header); block++) {
    const { start, end } = boundsOf(block, header);
    decodeBlock(source, header, inner, block, target.subarray(start, end), end - start, 0);
  }
}

/**
 * Fills `target` with the decoded bytes from `offset` on, which must exist. Decodes only the blocks that contain them.
 *
 * @throws `corrupt-chunk`
 */
export function decodeBlockRange(
  source: Uint8Array,
  header: BloscHeader,
  inner: InnerCodec,
  offset: number,
  target: Uint8Array,
): void {
  const rangeEnd = offset + target.length;
  let block = Math.floor(offset / header.blockSize);
  for (let done = offset; done < rangeEnd; block++) {
    const { start, end } = boundsOf(block, header);
    const stop = Math.min(end, rangeEnd);
    const part = target.subarray(done - offset, stop - offset);
    decodeBlock(source, header, inner, block, part, end - start, done - start);
    done = stop;
  }
}

/** Position of a block in the decoded data. */
function boundsOf(block: number, { blockSize, size }: BloscHeader): { start: number; end: number } {
  const start = block * blockSize;
  return { start, end: Math.min(start + blockSize, size) };
}

/** Fills `target` with decoded bytes from `offset` on, of one block of `length` decoded bytes. */
function decodeBlock(
  source: Uint8Array,
  header: BloscHeader,
  inner: InnerCodec,
  index: number,
  target: Uint8Array,
  length: number,
  offset: number,
): void {
  const words = wordsOf(source);
  const start = words.getUint32(HEADER_SIZE + 4 * index, true);
  const streams = streamCount(header, length);
  const end = streamsEnd(words, start, header.encodedSize, streams, length);
  const mode = shuffleOfBlock(header.shuffle, length, header.typeSize);
  const layout = { inner: header.inner, mode, itemSize: header.typeSize, streams };
  const kernels = blockKernels(header, inner);
  // If the kernels fail, the slower code below finds out why.
  const block = source.subarray(start, end);
  if (kernels?.decode(block, target, layout, length, offset)) return;
  const isInPlace = mode === "noshuffle" && target.length === length;
  const shuffled = isInPlace ? target : workingBuffer(0, length);
  const wanted = { start: offset, end: offset + target.length };
  decodeStreams(block, layout, inner, shuffled, length, wanted);
  if (mode !== "noshuffle") unshuffleBlock(mode, shuffled, target, length, header.typeSize, offset);
  else if (!isInPlace) target.set(shuffled.subarray(wanted.start, wanted.end));
}

/** End of a block's streams, each stored after its size as i32le. */
function streamsEnd(
  words: DataView,
  start: number,
  encodedSize: number,
  streams: number,
  length: number,
): number {
  if (length % streams !== 0) throw corrupt("the blosc block is not a multiple of its item size");
  let s = start;
  for (let stream = 0; stream < streams; stream++) {
    if (s + 4 > encodedSize) throw corrupt("a blosc block lies outside the value", { found: s });
    const size = words.getInt32(s, true);
    s += 4;
    if (size < 0 || size > encodedSize - s) {
      throw corrupt("a blosc stream is cut off", { expected: size, found: encodedSize - s });
    }
    s += size;
  }
  return s;
}

/** Decodes the streams of a block as far as its `wanted` bytes need. A stream of full length is stored uncompressed. */
function decodeStreams(
  source: Uint8Array,
  layout: BlockLayout,
  inner: InnerCodec,
  target: Uint8Array,
  length: number,
  wanted: Span,
): void {
  const words = wordsOf(source);
  const plainSize = length / layout.streams;
  for (let s = 0, stream = 0; s < source.length; stream++) {
    const size = words.getInt32(s, true);
    s += 4;
    const t = stream * plainSize;
    const { start, end } = rangeInStream(layout, length, stream, wanted);
    if (end > start) {
      if (size === plainSize) target.set(source.subarray(s + start, s + end), t + start);
      else if (inner.decode(source, s, s + size, target, t, t + plainSize, end) < end) throw notWhole(layout);
    }
    s += size;
  }
}

function notWhole({ inner }: BlockLayout): Error {
  return corrupt(`a blosc stream is not valid ${inner} data`);
}
