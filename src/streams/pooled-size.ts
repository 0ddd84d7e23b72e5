/** Bytes that a pool uses for a buffer: at least 4 KiB, rounded up to 4, 5, 6 or 7 times a power of two. */
export function pooledSize(byteLength: number): number {
  if (byteLength <= SMALLEST_CLASS) return SMALLEST_CLASS;
  const quarter = 2 ** (Math.ceil(Math.log2(byteLength)) - 3);
  return Math.ceil(byteLength / quarter) * quarter;
}

/** Size of the largest buffer that uses at most `bytes` of a pool; 0 if no buffer fits. */
export function largestPooled(bytes: number): number {
  if (bytes < SMALLEST_CLASS) return 0;
  const quarter = 2 ** (Math.floor(Math.log2(bytes)) - 2);
  return Math.floor(bytes / quarter) * quarter;
}

/** The most bytes of a pool that `parts` buffers of `byteLength` in total use, however they divide it. */
export function pooledParts(byteLength: number, parts: number): number {
  return byteLength === 0 ? 0 : Math.ceil(1.25 * byteLength) + parts * SMALLEST_CLASS;
}

export const SMALLEST_CLASS = 4096;
