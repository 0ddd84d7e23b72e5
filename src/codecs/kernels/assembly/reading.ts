/** The kernels that arrays of all codecs need, and the zstd decoder. All buffers must have 64 free bytes after them. */
export { copyRows } from "./copy-rows";
export { copyShared } from "./copy-shared";
export { crc32c } from "./crc32c";
export { swapBytes } from "./swap";
export { transpose } from "./transpose";
export { zstdDecode } from "./zstd-decode";

/** Start of the memory that this module does not use itself. */
export const heapBase: usize = __heap_base;
