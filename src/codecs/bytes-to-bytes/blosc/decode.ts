import { corrupt } from "../../failures.ts";
import { wordsOf } from "../../kernels/words.ts";
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
  const starts = wordsOf(source);
  for (let block = 0; block < blockCount(header); block++) {
    const targetStart = block * header.blockSize;
    const length = Math.min(header.blockSize, header.size - targetStart);
    const start = starts.getUint32(HEADER_SIZE + 4 * block, true);
    const mode = shuffleOfBlock(header.shuffle, length, header.typeSize);
    if (mode === "noshuffle") decodeStreams(source, start, header, inner, target, targetStart, length);
    else {
      const shuffled = workingBuffer(0, length);
      decodeStreams(source, start, header, inner, shuffled, 0, length);
      unshuffleBlock(mode, shuffled, target, targetStart, length, header.typeSize);
    }
  }
}

/** A block's streams, each behind its size as i32le; one as long as its decoded form is stored plainly. */
function decodeStreams(
  source: Uint8Array,
  start: number,
  header: BloscHeader,
  inner: InnerCodec,
  target: Uint8Array,
  targetStart: number,
  length: number,
): void {
  const words = wordsOf(source);
  const streams = streamCount(header, length);
  if (length % streams !== 0) throw corrupt("the blosc block is not a multiple of its item size");
  const plainSize = length / streams;
  let s = start;
  for (let t = targetStart; t < targetStart + length; t += plainSize) {
    if (s + 4 > header.encodedSize) throw corrupt("a blosc block lies outside the value", { found: s });
    const size = words.getInt32(s, true);
    s += 4;
    if (size < 0 || size > header.encodedSize - s) {
      throw corrupt("a blosc stream is cut off", { expected: size, found: header.encodedSize - s });
    }
    if (size === plainSize) target.set(source.subarray(s, s + size), t);
    else if (inner.decode(source, s, s + size, target, t, t + plainSize) !== plainSize) {
      throw corrupt(`a blosc stream is not whole ${header.inner} data`);
    }
    s += size;
  }
}
