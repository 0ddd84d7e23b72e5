import { wordsOf } from "../../kernels/words.ts";
import { xxh64 } from "../../kernels/xxh64.ts";
import type { ZstdBackend } from "./backend.ts";
import { limitHeld } from "./limit-held.ts";

/** The module's memory ends at 2 GiB, and it does not notice when it cannot get what it asks for. */
const MAX_HELD = 2 ** 30;
const DESCRIPTOR = 4;
const CHECKSUM_FLAG = 0x04;
const CHECKSUM_SIZE = 4;

/** zstd as WebAssembly, by `@foxglove/wasm-zstd`. */
export async function loadWasmZstd(): Promise<ZstdBackend> {
  const { compress, decompress, compressBound, isLoaded } = await import("@foxglove/wasm-zstd");
  await isLoaded;
  return {
    decodeFrame(frame, target) {
      limitHeld(frame.length + target.length, MAX_HELD);
      try {
        const decoded = decompress(frame, target.length);
        target.set(decoded);
        return decoded.length;
      } catch {
        return -1;
      }
    },
    encode(source, target, level, checksum) {
      limitHeld(source.length + compressBound(source.length), MAX_HELD);
      const frame = compress(source, level);
      const size = frame.length + (checksum ? CHECKSUM_SIZE : 0);
      if (size > target.length) return 0;
      target.set(frame);
      if (checksum) appendChecksum(target, frame.length, source);
      return size;
    },
  };
}

/** The package has no option for checksums: a flag in the frame's descriptor, and four bytes behind its blocks. */
function appendChecksum(target: Uint8Array, frameSize: number, content: Uint8Array): void {
  const words = wordsOf(target);
  words.setUint8(DESCRIPTOR, words.getUint8(DESCRIPTOR) | CHECKSUM_FLAG);
  words.setUint32(frameSize, Number(xxh64(content) & 0xffff_ffffn), true);
}
