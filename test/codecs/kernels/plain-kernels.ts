import type {
  DeltaKernels,
  Kernels,
  Lz4Kernels,
  NumberFormat,
  ShuffleKernels,
} from "../../../src/codecs/kernels/kernel-types.ts";
import { lz4Decode, lz4Encode } from "../../../src/codecs/kernels/lz4-block.ts";
import { swapBytes, wordView } from "../../../src/codecs/kernels/swap-bytes.ts";

export type PlainKernels = ShuffleKernels & Lz4Kernels & DeltaKernels & Pick<Kernels, "swapBytes" | "crc32c">;

/** Decodes or encodes a range of one buffer into a range of another. */
export type RangeCodec = (
  source: Uint8Array,
  start: number,
  end: number,
  target: Uint8Array,
  targetStart: number,
  targetEnd: number,
) => number;

/** Twins of the kernels in TypeScript, by their definitions. */
export const plainKernels: PlainKernels = {
  // byte 0 of every item, then byte 1 of every item, and so on; bytes past the last whole item stay at the end
  shuffle(source, target, itemSize) {
    const items = Math.floor(source.length / itemSize);
    target.set(source);
    for (let i = 0; i < items; i++) {
      for (let b = 0; b < itemSize; b++) target[b * items + i] = source[i * itemSize + b] as number;
    }
  },
  unshuffle(source, target, itemSize) {
    const items = Math.floor(source.length / itemSize);
    target.set(source);
    for (let i = 0; i < items; i++) {
      for (let b = 0; b < itemSize; b++) target[i * itemSize + b] = source[b * items + i] as number;
    }
  },
  lz4Encode: (source, target, acceleration) =>
    lz4Encode(source, 0, source.length, target, 0, target.length, acceleration),
  lz4Decode: (source, target) => lz4Decode(source, 0, source.length, target, 0, target.length),
  lz4DecodePart(source, target, offset) {
    const end = offset + target.length;
    const prefix = new Uint8Array(end);
    if (lz4Decode(source, 0, source.length, prefix, 0, end, true) !== end) return false;
    target.set(prefix.subarray(offset));
    return true;
  },
  swapBytes: (bytes, unit) => swapBytes(wordView(bytes), 0, bytes.length, unit),
  deltaEncode(source, target, format) {
    const numbers = numbersOf(source, format);
    for (let i = numbers.length - 1; i > 0; i--) numbers[i] = at(numbers, i) - at(numbers, i - 1);
    target.set(new Uint8Array(numbers.buffer));
  },
  deltaDecode(bytes, format) {
    const numbers = numbersOf(bytes, format);
    for (let i = 1; i < numbers.length; i++) numbers[i] = at(numbers, i - 1) + at(numbers, i);
    bytes.set(new Uint8Array(numbers.buffer));
  },
  crc32c,
};

/** CRC-32C (Castagnoli, reflected polynomial 0x82f63b78), bit by bit. */
export function crc32c(bytes: Uint8Array): number {
  let crc = -1;
  for (const byte of bytes) {
    crc ^= byte;
    for (let bit = 0; bit < 8; bit++) crc = (crc >>> 1) ^ (crc & 1 ? 0x82f6_3b78 : 0);
  }
  return ~crc >>> 0;
}

/** Arrays that keep what numbers of a format keep: whole ones wrap, others round. */
const ARRAYS = {
  i8: Int8Array,
  i16: Int16Array,
  i32: Int32Array,
  i64: BigInt64Array,
  f32: Float32Array,
  f64: Float64Array,
} as const;

/** A copy, since views may lie unaligned; bigints are added and subtracted as other numbers are. */
function numbersOf(bytes: Uint8Array, format: NumberFormat): Float64Array {
  return new ARRAYS[format](bytes.slice().buffer) as Float64Array;
}

function at(numbers: Float64Array, i: number): number {
  return numbers[i] as number;
}
