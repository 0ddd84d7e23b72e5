/** What arrays of any codec need, and decoding zstd. All addresses are of buffers with 64 bytes of room behind them. */
export { copyRows } from "./copy-rows";
export { copyShared } from "./copy-shared";
export { crc32c } from "./crc32c";
export { swapBytes } from "./swap";
export { transpose } from "./transpose";
export { zstdDecode } from "./zstd-decode";

/** Where the memory begins that this module does not use itself. */
export const heapBase: usize = __heap_base;
