import { ZarrflowError } from "../../../util/errors.ts";
import { BitWriter } from "./bit-writer.ts";
import { sortBlock } from "./block-sort.ts";
import {
  BLOCK_MAGIC,
  BLOCK_UNIT,
  blockCrc,
  END_MAGIC,
  RUN_START,
  STREAM_MAGIC,
  streamCrc,
} from "./format.ts";
import { listSymbols } from "./list-symbols.ts";
import { writeBlock } from "./write-block.ts";

/** The reference encoder leaves this many bytes of a block unused. */
const BLOCK_RESERVE = 19;

/** The most bytes that `size` bytes can become: noise grows by 1 %, and each block has tables. */
export function maxBz2Size(size: number): number {
  return size + (size >>> 5) + 2048;
}

/** Bytes of the largest block that `size` bytes can fill; runs of four become five bytes. */
export function blockCapacity(size: number, level: number): number {
  return Math.min(BLOCK_UNIT * level - BLOCK_RESERVE, size + Math.ceil(size / 4) + 5);
}

/**
 * Encodes `source` as one bzip2 stream.
 *
 * @returns the bytes written.
 * @throws `codec-error` if `target` is too small.
 */
export function encodeBz2(source: Uint8Array, target: Uint8Array, level: number): number {
  const bits = new BitWriter(target);
  const capacity = blockCapacity(source.length, level);
  const block = new Uint8Array(capacity);
  const order = new Int32Array(capacity);
  const column = new Uint8Array(capacity);
  const symbols = new Uint16Array(capacity + 1);

  for (const byte of STREAM_MAGIC) bits.write(8, byte);
  bits.write(8, 0x30 + level);
  let crc = 0;
  for (let start = 0; start < source.length; ) {
    const { size, next } = collapseRuns(source, start, block);
    const sum = blockCrc(source, start, next);
    crc = streamCrc(crc, sum);
    const last = column.subarray(0, size);
    const origin = sortBlock(block.subarray(0, size), order.subarray(0, size), last);
    for (const half of BLOCK_MAGIC) bits.write(24, half);
    bits.writeUint32(sum);
    bits.write(1, 0);
    bits.write(24, origin);
    writeBlock(bits, listSymbols(last, symbols));
    start = next;
  }
  for (const half of END_MAGIC) bits.write(24, half);
  bits.writeUint32(crc);

  const written = bits.finish();
  if (written <= target.length) return written;
  throw new ZarrflowError("codec-error", "the target is too small", {
    expected: written,
    found: target.length,
  });
}

/** The most equal bytes that five bytes of a block can represent. */
const MAX_RUN = RUN_START + 251;

/**
 * Fills `block` with `source` from `start` on. A run of 4 to 255 equal bytes becomes four of them and a byte with the
 * number of the others.
 *
 * @returns the number of bytes in the block, and the start of the rest of the source.
 */
function collapseRuns(source: Uint8Array, start: number, block: Uint8Array): { size: number; next: number } {
  const limit = block.length - RUN_START - 1;
  let size = 0;
  let s = start;
  while (s < source.length && size <= limit) {
    const byte = source[s] as number;
    let run = 1;
    const most = Math.min(MAX_RUN, source.length - s);
    while (run < most && source[s + run] === byte) run++;
    s += run;
    for (let i = Math.min(run, RUN_START); i > 0; i--) block[size++] = byte;
    if (run >= RUN_START) block[size++] = run - RUN_START;
  }
  return { size, next: s };
}
