/** What a buffer of `byteLength` takes of a pool: the next of 4, 5, 6, 7 times a power of two, from 4 KiB on. */
export function pooledSize(byteLength: number): number {
  if (byteLength <= SMALLEST_CLASS) return SMALLEST_CLASS;
  const quarter = 2 ** (Math.ceil(Math.log2(byteLength)) - 3);
  return Math.ceil(byteLength / quarter) * quarter;
}

/** The largest buffer that takes at most `bytes` of a pool; 0 where there is none. */
export function largestPooled(bytes: number): number {
  if (bytes < SMALLEST_CLASS) return 0;
  const quarter = 2 ** (Math.floor(Math.log2(bytes)) - 2);
  return Math.floor(bytes / quarter) * quarter;
}

/** The most that buffers of `byteLength` together take of a pool, whichever way they share it. */
export function pooledParts(byteLength: number, parts: number): number {
  return byteLength === 0 ? 0 : Math.ceil(1.25 * byteLength) + parts * SMALLEST_CLASS;
}

export const SMALLEST_CLASS = 4096;
