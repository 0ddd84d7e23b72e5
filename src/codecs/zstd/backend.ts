/** An implementation of zstd decoding. */
export interface ZstdDecoder {
  /**
   * Decodes one whole frame into `target`, which bounds it.
   *
   * @returns the bytes written; -1 if the frame is broken or decodes to more than `target` holds.
   */
  decodeFrame(frame: Uint8Array, target: Uint8Array): number;
}

/** An implementation of zstd encoding. */
export interface ZstdEncoder {
  /**
   * Encodes all of `source` as one frame.
   *
   * @returns the bytes written, or 0 if `target` is too small.
   */
  encode(source: Uint8Array, target: Uint8Array, level: number, checksum: boolean): number;
}

/** A library that does both. */
export type ZstdLibrary = ZstdDecoder & ZstdEncoder;

/** Levels of the zstd library; 0 selects its default. */
export const ZSTD_LEVELS = { least: -131_072, most: 22, usual: 3 } as const;
