import type {
  DeltaKernels,
  Kernels,
  Lz4Kernels,
  ShuffleKernels,
} from "../../../src/codecs/kernels/kernel-types.ts";
import { lz4Decode, lz4Encode } from "../../../src/codecs/kernels/lz4-block.ts";
import { swapBytes } from "../../../src/codecs/kernels/swap-bytes.ts";
import { wordsOf } from "../../../src/codecs/kernels/words.ts";
import { crc32c } from "./plain-crc32c.ts";
import { deltaDecode, deltaEncode } from "./plain-delta.ts";
import { shuffle, unshuffle } from "./plain-shuffle.ts";

export type PlainKernels = ShuffleKernels & Lz4Kernels & DeltaKernels & Pick<Kernels, "swapBytes" | "crc32c">;

/** Twins of the kernels in TypeScript. */
export const plainKernels: PlainKernels = {
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
  deltaEncode,
  deltaDecode,
  crc32c,
};
