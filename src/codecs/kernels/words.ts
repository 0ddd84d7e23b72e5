/**
 * Views bytes as words, which may be unaligned. All kernels read and write little-endian words through such views;
 * engines compile them to single loads and stores with a bounds check.
 */
export function wordsOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
