/** The containers of deflate: RFC 1952 and RFC 1950. */
export type DeflateFormat = "gzip" | "zlib";

/** An implementation of deflate. */
export interface Deflate {
  /**
   * Decodes all of `source` into `target` and verifies its checksums; `gzip` may have several members.
   *
   * @returns the bytes written.
   * @throws `corrupt-chunk`, also if `target` is too small or bytes follow the end.
   */
  inflate(format: DeflateFormat, source: Uint8Array, target: Uint8Array): number;
  /**
   * Encodes all of `source`.
   *
   * @returns the bytes written, or 0 if `target` is too small.
   */
  deflate(format: DeflateFormat, source: Uint8Array, target: Uint8Array, level: number): number;
}

/** The most bytes that `size` bytes can become at any level. */
export function maxDeflatedSize(size: number): number {
  return size + (size >>> 5) + (size >>> 7) + (size >>> 11) + 64;
}
