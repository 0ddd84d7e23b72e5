import { joinBits, splitBits } from "../kernels/bit-shuffle.ts";
import type { BlockLayout } from "../kernels/kernel-types.ts";
import { wordView } from "../kernels/swap-bytes.ts";
import { rangeInStream, type Span } from "../kernels/wasm-blocks.ts";
import { shuffleKernels } from "../kernels/wasm-filters.ts";
import { corrupt } from "../limits.ts";
import {
  type BloscHeader,
  blockCount,
  HEADER_SIZE,
  MIN_STREAM,
  type Shuffle,
  streamCount,
  writeFrameHeader,
} from "./frame.ts";
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
  const words = wordView(source);
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
      throw corrupt("a blosc stream is truncated", { expected: size, found: encodedSize - s });
    }
    s += size;
  }
  return s;
}

/** Decodes those streams of a block that its `wanted` bytes need. A stream of full length is stored uncompressed. */
function decodeStreams(
  source: Uint8Array,
  layout: BlockLayout,
  inner: InnerCodec,
  target: Uint8Array,
  length: number,
  wanted: Span,
): void {
  const words = wordView(source);
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
    writeFrameHeader(target, { ...header, isStored: false, encodedSize });
    return encodedSize;
  }
  const storedSize = HEADER_SIZE + source.length;
  writeFrameHeader(target, { ...header, isStored: true, encodedSize: storedSize });
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
  const starts = wordView(target);
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
  const words = wordView(target);
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

/** Larger working buffers are not kept. */
const MAX_KEPT = 4 * 1024 * 1024;
const kept: Uint8Array[] = [];

/** A working buffer of at least `size` bytes; `which` distinguishes buffers that are in use at the same time. */
export function workingBuffer(which: 0 | 1 | 2, size: number): Uint8Array {
  const buffer = kept[which];
  if (buffer && buffer.length >= size) return buffer;
  const larger = new Uint8Array(size);
  if (size <= MAX_KEPT) kept[which] = larger;
  return larger;
}

/**
 * The shuffle applied to a block of `length` bytes: none for single bytes, and no bit shuffle unless the number of
 * items is a multiple of 8.
 */
export function shuffleOfBlock(shuffleMode: Shuffle, length: number, typeSize: number): Shuffle {
  if (shuffleMode === "shuffle") return typeSize > 1 ? "shuffle" : "noshuffle";
  if (shuffleMode === "noshuffle") return "noshuffle";
  const items = Math.floor(length / typeSize);
  return items > 0 && items % 8 === 0 ? "bitshuffle" : "noshuffle";
}

/** Shuffles the block of `source` at `start` to the beginning of `target`. */
export function shuffleBlock(
  mode: Shuffle,
  source: Uint8Array,
  start: number,
  target: Uint8Array,
  length: number,
  typeSize: number,
): void {
  const { shuffle } = shuffleKernels();
  const block = source.subarray(start, start + length);
  if (mode === "shuffle") {
    shuffle(block, target, typeSize);
    return;
  }
  const planes = workingBuffer(1, length);
  const items = Math.floor(length / typeSize);
  shuffle(block, planes, typeSize);
  splitBits(planes, 0, target, 0, typeSize, items);
  const whole = items * typeSize;
  target.set(planes.subarray(whole, length), whole);
}

/**
 * Reverses `shuffleBlock` for the `length` bytes at the beginning of `source` and fills `target` with the result from
 * `offset` on.
 */
export function unshuffleBlock(
  mode: Shuffle,
  source: Uint8Array,
  target: Uint8Array,
  length: number,
  typeSize: number,
  offset: number,
): void {
  const items = Math.floor(length / typeSize);
  const isWhole = target.length === length;
  if (mode === "shuffle" && !isWhole && offset % typeSize === 0 && target.length % typeSize === 0) {
    unshuffleItems(source, items, target, offset / typeSize, typeSize);
    return;
  }
  const { unshuffle } = shuffleKernels();
  const block = isWhole ? target : workingBuffer(2, length).subarray(0, length);
  if (mode === "shuffle") unshuffle(source.subarray(0, length), block, typeSize);
  else {
    const planes = workingBuffer(1, length);
    const whole = items * typeSize;
    joinBits(source, 0, planes, 0, typeSize, items);
    planes.set(source.subarray(whole, length), whole);
    unshuffle(planes.subarray(0, length), block, typeSize);
  }
  if (!isWhole) target.set(block.subarray(offset, offset + target.length));
}

/** Fills `target` with the items from `first` on, given byte planes of `items` bytes each. */
function unshuffleItems(
  source: Uint8Array,
  items: number,
  target: Uint8Array,
  first: number,
  typeSize: number,
): void {
  const count = target.length / typeSize;
  const planes = workingBuffer(1, target.length).subarray(0, target.length);
  for (let plane = 0; plane < typeSize; plane++) {
    const start = plane * items + first;
    planes.set(source.subarray(start, start + count), plane * count);
  }
  shuffleKernels().unshuffle(planes, target, typeSize);
}
