import { ZarrflowError } from "../../../util/errors.ts";
import { BitWriter } from "./bit-writer.ts";
import { blockCrc, streamCrc } from "./block-crc.ts";
import { sortBlock } from "./block-sort.ts";
import { BLOCK_MAGIC, BLOCK_UNIT, END_MAGIC, STREAM_MAGIC } from "./format.ts";
import { listSymbols } from "./list-symbols.ts";
import { collapseRuns } from "./runs.ts";
import { writeBlock } from "./write-block.ts";

/** The reference leaves this many bytes of a block free. */
const BLOCK_RESERVE = 19;

/** The most bytes that `size` bytes become: noise takes 1 % more, and a block has tables. */
export function maxBz2Size(size: number): number {
  return size + (size >>> 5) + 2048;
}

/** Bytes of the largest block that `size` bytes can fill; runs of four become five. */
export function blockCapacity(size: number, level: number): number {
  return Math.min(BLOCK_UNIT * level - BLOCK_RESERVE, size + Math.ceil(size / 4) + 5);
}

/**
 * Encodes `source` as one bzip2 stream.
 *
 * @returns the bytes written.
 * @throws `codec-error` when `target` is too small.
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
