/** What other codecs need, in the same memory. All addresses are of buffers with 64 bytes of room behind them. */
export { splitBits, joinBits } from "./bit-shuffle";
export { blosclzDecode, blosclzEncode } from "./blosclz";
export { deltaDecode, deltaEncode } from "./delta";
export { lz4Decode } from "./lz4-decode";
export { lz4Encode } from "./lz4-encode";
export { shuffle, unshuffle } from "./shuffle";
export { zstdEncode } from "./zstd-encode";

/** Where the memory begins that neither module uses itself. */
export const heapBase: usize = __heap_base;
