/** The kernels that are not in `reading`; they share its memory. All buffers must have 64 free bytes after them. */
export { splitBits, joinBits } from "./bit-shuffle";
export { blosclzDecode, blosclzEncode } from "./blosclz";
export { deltaDecode, deltaEncode } from "./delta";
export { lz4Decode } from "./lz4-decode";
export { lz4Encode } from "./lz4-encode";
export { shuffle, unshuffle } from "./shuffle";
export { zstdEncode } from "./zstd-encode";

/** Start of the memory that neither module uses itself. */
export const heapBase: usize = __heap_base;
