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
  const words = wordsOf(source);
  const kernels = blockKernels(header, inner);
  for (let block = 0; block < blockCount(header); block++) {
    const targetStart = block * header.blockSize;
    const length = Math.min(header.blockSize, header.size - targetStart);
    const start = words.getUint32(HEADER_SIZE + 4 * block, true);
    const streams = streamCount(header, length);
    const end = streamsEnd(words, start, header.encodedSize, streams, length);
    const mode = shuffleOfBlock(header.shuffle, length, header.typeSize);
    const layout = { inner: header.inner, mode, itemSize: header.typeSize, streams };
    const decoded = target.subarray(targetStart, targetStart + length);
    // What the kernels refuse goes the longer way, which knows why.
    if (kernels?.decode(source.subarray(start, end), decoded, layout)) continue;
    if (mode === "noshuffle") {
      decodeStreams(source, start, end, header, inner, target, targetStart, length / streams);
    } else {
      const shuffled = workingBuffer(0, length);
      decodeStreams(source, start, end, header, inner, shuffled, 0, length / streams);
      unshuffleBlock(mode, shuffled, target, targetStart, length, header.typeSize);
    }
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
  targetStart: number,
  plainSize: number,
): void {
  const words = wordsOf(source);
  let t = targetStart;
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
