/** What the host calls. All addresses are of buffers with 64 bytes of room behind them. */
export { splitBits, joinBits } from "./bit-shuffle";
export { blosclzDecode, blosclzEncode } from "./blosclz";
export { copyRows } from "./copy-rows";
export { copyShared } from "./copy-shared";
export { crc32c } from "./crc32c";
export { deltaDecode, deltaEncode } from "./delta";
export { lz4Decode } from "./lz4-decode";
export { lz4Encode } from "./lz4-encode";
export { shuffle, unshuffle } from "./shuffle";
export { swapBytes } from "./swap";
export { transpose } from "./transpose";
export { zstdDecode } from "./zstd-decode";
export { zstdEncode } from "./zstd-encode";

/** Where the memory begins that the kernels do not use themselves. */
export const heapBase: usize = __heap_base;
