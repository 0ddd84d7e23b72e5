import type { ZstdBackend } from "./backend.ts";

const SMALLEST_CHUNK = 64;
/** The window, as a power of two, up to which any decoder goes. */
const USUAL_WINDOW = 27;

interface ZstdOptions {
  readonly chunkSize: number;
  readonly maxOutputLength?: number;
  readonly pledgedSrcSize?: number;
  readonly params: Readonly<Record<number, number>>;
}

/** The part of `node:zlib` that speaks zstd, from Node 22.15 on. */
export interface NodeZstd {
  zstdCompressSync(source: Uint8Array, options: ZstdOptions): Uint8Array;
  zstdDecompressSync(source: Uint8Array, options: ZstdOptions): Uint8Array;
  readonly constants: {
    readonly ZSTD_c_compressionLevel: number;
    readonly ZSTD_c_checksumFlag: number;
    readonly ZSTD_d_windowLogMax: number;
  };
}

/**
 * zstd by Node's zlib. A chunk size that holds the whole output spares it joining pieces; where one byte is left over,
 * it makes no second buffer to see whether more follows.
 */
export function nodeZstd({ zstdCompressSync, zstdDecompressSync, constants }: NodeZstd): ZstdBackend {
  return {
    decodeFrame(frame, target) {
      const windowLog = Math.max(USUAL_WINDOW, Math.ceil(Math.log2(target.length + 1)));
      try {
        const decoded = zstdDecompressSync(frame, {
          maxOutputLength: Math.max(target.length, 1),
          chunkSize: Math.max(target.length + 1, SMALLEST_CHUNK),
          params: { [constants.ZSTD_d_windowLogMax]: Math.min(windowLog, 31) },
        });
        if (decoded.length > target.length) return -1;
        target.set(decoded);
        return decoded.length;
      } catch {
        return -1;
      }
    },
    encode(source, target, level, checksum) {
      const encoded = zstdCompressSync(source, {
        chunkSize: Math.max(target.length, SMALLEST_CHUNK),
        pledgedSrcSize: source.length,
        params: {
          [constants.ZSTD_c_compressionLevel]: level,
          [constants.ZSTD_c_checksumFlag]: Number(checksum),
        },
      });
      if (encoded.length > target.length) return 0;
      target.set(encoded);
      return encoded.length;
    },
  };
}
