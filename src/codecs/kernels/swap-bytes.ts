/**
 * Reverses the bytes of every `unit` (2, 4 or 8) bytes of `words` from `start` to `end`, in place; the range must be
 * whole units.
 */
export function swapBytes(words: DataView, start: number, end: number, unit: number): void {
  if (unit === 2) {
    for (let i = start; i < end; i += 2) words.setInt16(i, words.getInt16(i, false), true);
  } else if (unit === 4) {
    for (let i = start; i < end; i += 4) words.setInt32(i, words.getInt32(i, false), true);
  } else {
    for (let i = start; i < end; i += 8) {
      const first = words.getInt32(i, false);
      words.setInt32(i, words.getInt32(i + 4, false), true);
      words.setInt32(i + 4, first, true);
    }
  }
}

/**
 * Views bytes as words, which may be unaligned. All kernels read and write little-endian words through such views;
 * engines compile them to single loads and stores with a bounds check.
 */
export function wordView(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
