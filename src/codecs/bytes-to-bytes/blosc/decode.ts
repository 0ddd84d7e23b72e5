import { corrupt } from "../../failures.ts";
import { wordsOf } from "../../kernels/words.ts";
import { blockKernels } from "./block-kernels.ts";
import { shuffleOfBlock, unshuffleBlock, workingBuffer } from "./block-shuffle.ts";
import { type BloscHeader, blockCount, HEADER_SIZE, streamCount } from "./frame.ts";
import type { InnerCodec } from "./inner-codecs.ts";

/**
 * Decodes the blocks of `source` into `target`, which holds `header.size` bytes or more.
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
    decodeBlock(source, header, inner, block, target.subarray(start, end));
  }
}

/**
 * Fills `target` with the decoded bytes from `offset` on, which are there; decodes no block beside them.
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
    if (start === done && end === stop) {
      decodeBlock(source, header, inner, block, target.subarray(start - offset, end - offset));
    } else {
      const whole = workingBuffer(2, end - start).subarray(0, end - start);
      decodeBlock(source, header, inner, block, whole);
      target.set(whole.subarray(done - start, stop - start), done - offset);
    }
    done = stop;
  }
}

/** Where a block lies in the decoded form. */
function boundsOf(block: number, { blockSize, size }: BloscHeader): { start: number; end: number } {
  const start = block * blockSize;
  return { start, end: Math.min(start + blockSize, size) };
}

/** One block into `target`, which is as long as the block. */
function decodeBlock(
  source: Uint8Array,
  header: BloscHeader,
  inner: InnerCodec,
  block: number,
  target: Uint8Array,
): void {
  const { length } = target;
  const words = wordsOf(source);
  const start = words.getUint32(HEADER_SIZE + 4 * block, true);
  const streams = streamCount(header, length);
  const end = streamsEnd(words, start, header.encodedSize, streams, length);
  const mode = shuffleOfBlock(header.shuffle, length, header.typeSize);
  const layout = { inner: header.inner, mode, itemSize: header.typeSize, streams };
  const kernels = blockKernels(header, inner);
  // What the kernels refuse goes the longer way, which knows why.
  if (kernels?.decode(source.subarray(start, end), target, layout)) return;
  if (mode === "noshuffle") {
    decodeStreams(source, start, end, header, inner, target, length / streams);
  } else {
    const shuffled = workingBuffer(0, length);
    decodeStreams(source, start, end, header, inner, shuffled, length / streams);
    unshuffleBlock(mode, shuffled, target, 0, length, header.typeSize);
  }
}

/** Where a block's streams end, each behind its size as i32le. */
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

/** The streams of `source[start, end)`, of `plainSize` bytes each; one as long as that is stored plainly. */
function decodeStreams(
  source: Uint8Array,
  start: number,
  end: number,
  header: BloscHeader,
  inner: InnerCodec,
  target: Uint8Array,
  plainSize: number,
): void {
  const words = wordsOf(source);
  let t = 0;
  for (let s = start; s < end; t += plainSize) {
    const size = words.getInt32(s, true);
    s += 4;
    if (size === plainSize) target.set(source.subarray(s, s + size), t);
    else if (inner.decode(source, s, s + size, target, t, t + plainSize) !== plainSize)
      throw notWhole(header);
    s += size;
  }
}

function notWhole({ inner }: BloscHeader): Error {
  return corrupt(`a blosc stream is not whole ${inner} data`);
}
