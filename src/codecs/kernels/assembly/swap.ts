/** Reverses the bytes of every `unit` (2, 4 or 8) bytes in place; may also reverse up to 15 bytes after the end. */
export function swapBytes(start: usize, length: usize, unit: usize): void {
  const end = start + length;
  if (unit == 2) {
    for (let s = start; s < end; s += 16) {
      const v = v128.load(s);
      v128.store(s, i8x16.shuffle(v, v, 1, 0, 3, 2, 5, 4, 7, 6, 9, 8, 11, 10, 13, 12, 15, 14));
    }
  } else if (unit == 4) {
    for (let s = start; s < end; s += 16) {
      const v = v128.load(s);
      v128.store(s, i8x16.shuffle(v, v, 3, 2, 1, 0, 7, 6, 5, 4, 11, 10, 9, 8, 15, 14, 13, 12));
    }
  } else {
    for (let s = start; s < end; s += 16) {
      const v = v128.load(s);
      v128.store(s, i8x16.shuffle(v, v, 7, 6, 5, 4, 3, 2, 1, 0, 15, 14, 13, 12, 11, 10, 9, 8));
    }
  }
}
