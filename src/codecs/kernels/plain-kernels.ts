import { crc32c } from "./crc32c.ts";
import { differences, sums } from "./delta.ts";
import type { Kernels } from "./kernel-types.ts";
import { lz4Decode, lz4Encode } from "./lz4-block.ts";
import { shuffle, unshuffle } from "./shuffle.ts";
import { swapBytes } from "./swap-bytes.ts";
import { wordsOf } from "./words.ts";

/** The kernels in TypeScript. */
export const plainKernels: Kernels = {
  kind: "plain",
  shuffle: (source, target, itemSize) => shuffle(source, 0, target, 0, source.length, itemSize),
  unshuffle: (source, target, itemSize) => unshuffle(source, 0, target, 0, source.length, itemSize),
  lz4Encode: (source, target, acceleration) =>
    lz4Encode(source, 0, source.length, target, 0, target.length, acceleration),
  lz4Decode: (source, target) => lz4Decode(source, 0, source.length, target, 0, target.length),
  lz4DecodePart(source, target, offset) {
    const end = offset + target.length;
    const prefix = offset === 0 ? target : new Uint8Array(end);
    if (lz4Decode(source, 0, source.length, prefix, 0, end, true) !== end) return false;
    if (prefix !== target) target.set(prefix.subarray(offset));
    return true;
  },
  swapBytes: (bytes, unit) => swapBytes(wordsOf(bytes), 0, bytes.length, unit),
  differences,
  sums,
  crc32c,
  transpose: undefined,
  blocks: undefined,
  zstd: undefined,
};
