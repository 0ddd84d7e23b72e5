import type { ZstdLibrary } from "./backend.ts";

const SMALLEST_CHUNK = 64;
/** The window, as a power of two, up to which any decoder goes. */
const USUAL_WINDOW = 27;

interface ZstdOptions {
  readonly chunkSize: number;
  readonly maxOutputLength?: number;
  readonly pledgedSrcSize?: number;
  readonly params: Readonly<Record<number, number>>;
}

/** Bytes whose buffer can be taken away from them. */
type NodeBytes = Uint8Array<ArrayBuffer & { transfer(byteLength: number): ArrayBuffer }>;

/** The part of `node:zlib` that speaks zstd, from Node 22.15 on. */
interface NodeZstd {
  zstdCompressSync(source: Uint8Array, options: ZstdOptions): NodeBytes;
  zstdDecompressSync(source: Uint8Array, options: ZstdOptions): NodeBytes;
  readonly constants: {
    readonly ZSTD_c_compressionLevel: number;
    readonly ZSTD_c_checksumFlag: number;
    readonly ZSTD_d_windowLogMax: number;
  };
}

/** Node's zstd, where it has one: from 22.15 on. */
export function zstdLibrary(zlib: object | undefined): ZstdLibrary | undefined {
  return zlib && "zstdCompressSync" in zlib ? nodeZstd(zlib as NodeZstd) : undefined;
}

/**
 * zstd by Node's zlib. A chunk size that holds the whole output spares it joining pieces, and is that of the one buffer
 * that it makes; where one byte is left over, it makes no second to see whether more follows.
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
 * Copies `bytes` to the begin of `target`, and lets go at once of the buffer that was made for them: a thread would leave
 * 64 MiB of such buffers to its garbage collector. One that is not as long as asked for may have bytes of others in it.
 *
 * @returns how many bytes there are; undefined where they do not fit.
 */
function moveInto(target: Uint8Array, bytes: NodeBytes, askedFor: number): number | undefined {
  const { length, buffer } = bytes;
  const fits = length <= target.length;
  if (fits) target.set(bytes);
  if (buffer.byteLength === askedFor) buffer.transfer(0);
  return fits ? length : undefined;
}
