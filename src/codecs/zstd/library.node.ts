import type { ZstdLibrary } from "./frames.ts";

const SMALLEST_CHUNK = 64;
/** The largest window, as a power of two, that all decoders accept. */
const USUAL_WINDOW = 27;

interface ZstdOptions {
  readonly chunkSize: number;
  readonly maxOutputLength?: number;
  readonly pledgedSrcSize?: number;
  readonly params: Readonly<Record<number, number>>;
}

/** Bytes with a buffer that can be detached. */
type NodeBytes = Uint8Array<ArrayBuffer & { transfer(byteLength: number): ArrayBuffer }>;

/** The zstd functions of `node:zlib`, from Node 22.15 on. */
interface NodeZstd {
  zstdCompressSync(source: Uint8Array, options: ZstdOptions): NodeBytes;
  zstdDecompressSync(source: Uint8Array, options: ZstdOptions): NodeBytes;
  readonly constants: {
    readonly ZSTD_c_compressionLevel: number;
    readonly ZSTD_c_checksumFlag: number;
    readonly ZSTD_d_windowLogMax: number;
  };
}

/** Node's zstd, or undefined before 22.15. */
export function zstdLibrary(zlib: object | undefined): ZstdLibrary | undefined {
  return zlib && "zstdCompressSync" in zlib ? nodeZstd(zlib as NodeZstd) : undefined;
}

/**
 * Implements zstd with Node's zlib. If the chunk size holds the whole output, zlib need not join pieces and allocates
 * one buffer of that size. One spare byte when decoding keeps it from allocating a second buffer to see if more
 * follows.
 */
function nodeZstd({ zstdCompressSync, zstdDecompressSync, constants }: NodeZstd): ZstdLibrary {
  return {
    decodeFrame(frame, target) {
      const windowLog = Math.max(USUAL_WINDOW, Math.ceil(Math.log2(target.length + 1)));
      const chunkSize = Math.max(target.length + 1, SMALLEST_CHUNK);
      try {
        const decoded = zstdDecompressSync(frame, {
          maxOutputLength: Math.max(target.length, 1),
          chunkSize,
          params: { [constants.ZSTD_d_windowLogMax]: Math.min(windowLog, 31) },
        });
        return moveInto(target, decoded, chunkSize) ?? -1;
      } catch {
        return -1;
      }
    },
    encode(source, target, level, checksum) {
      const chunkSize = Math.max(target.length, SMALLEST_CHUNK);
      const encoded = zstdCompressSync(source, {
        chunkSize,
        pledgedSrcSize: source.length,
        params: {
          [constants.ZSTD_c_compressionLevel]: level,
          [constants.ZSTD_c_checksumFlag]: Number(checksum),
        },
      });
      return moveInto(target, encoded, chunkSize) ?? 0;
    },
  };
}

/**
 * Copies `bytes` to the beginning of `target` and detaches their buffer immediately: a thread would otherwise leave 64
 * MiB of such buffers to its garbage collector. A buffer of another length than requested may be shared, so it is kept.
 *
 * @returns the number of bytes; undefined if they do not fit.
 */
function moveInto(target: Uint8Array, bytes: NodeBytes, askedFor: number): number | undefined {
  const { length, buffer } = bytes;
  const fits = length <= target.length;
  if (fits) target.set(bytes);
  if (buffer.byteLength === askedFor) buffer.transfer(0);
  return fits ? length : undefined;
}
