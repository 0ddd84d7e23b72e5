import { compress, compressBound, decompress, isLoaded } from "@foxglove/wasm-zstd";
import type { ZstdLibrary } from "../../../src/codecs/zstd/frames.ts";

/** The twin of the kernels: the zstd library as WebAssembly. It writes no checksums. */
export async function loadLibraryZstd(): Promise<ZstdLibrary> {
  await isLoaded;
  return {
    decodeFrame(frame, target) {
      try {
        const decoded = decompress(frame, target.length);
        target.set(decoded);
        return decoded.length;
      } catch {
        return -1;
      }
    },
    encode(source, target, level) {
      if (compressBound(source.length) > 2 ** 30) throw new Error("too much for the library's memory");
      const frame = compress(source, level);
      if (frame.length > target.length) return 0;
      target.set(frame);
      return frame.length;
    },
  };
}
