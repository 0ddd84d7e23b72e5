import { ZarrflowError } from "../../util/errors.ts";
import { builtin } from "../../util/platform.node.ts";
import type { ZstdKernels } from "../kernels/kernel-types.ts";
import { kernelsOfThread } from "../kernels/kernels.ts";
import { MAX_MEMORY, type WasmMemory } from "../kernels/wasm-memory.ts";
import { corrupt, overrun } from "../limits.ts";
import { type ZstdDecoder, zstdFrames } from "./frames.ts";
import { zstdLibrary } from "./library.node.ts";

/** Decodes whole frames of zstd. */
export function wasmZstd(wasm: WasmMemory): ZstdKernels {
  return {
    maxSize: MAX_MEMORY,

    decode(frame, target) {
      const [f = 0, t = 0] = wasm.allocate(frame, target);
      const from = wasm.copyIn(frame, f);
      const to = wasm.placeFor(target, t);
      const size = wasm.exports.zstdDecode(from, from + frame.length, to, to + target.length);
      if (size > 0) wasm.fetch(target, to, size);
      return size;
    },
  };
}

/**
 * Chunks of these sizes decode faster with the library; for others, allocating its output buffer costs more than that
 * saves.
 */
const DECODED_BY_LIBRARY = { least: 128 * 1024, most: 8 * 1024 * 1024 };

const zstdKernels = kernelsOfThread(wasmZstd);

/**
 * Decodes with our kernels and, if Node has it, Node's zstd.
 *
 * @throws as `kernelsOfThread`
 */
export const zstdDecoder = (): ZstdDecoder => kernelDecoder(zstdKernels(), zstdLibrary(builtin("node:zlib")));

/** Decodes with our kernels; `library`, if there is one, handles chunks of some sizes. */
export function kernelDecoder(kernels: ZstdKernels, library: ZstdDecoder | undefined): ZstdDecoder {
  return {
    decodeFrame(frame, target) {
      const { least, most } = DECODED_BY_LIBRARY;
      if (library && target.length >= least && target.length <= most) {
        return library.decodeFrame(frame, target);
      }
      assertHeldLimit(frame.length + target.length, kernels.maxSize);
      return kernels.decode(frame, target);
    },
  };
}

/**
 * Decodes all frames of `source`, one after another.
 *
 * @throws as the codec
 */
export function decodeZstd(decoder: ZstdDecoder, source: Uint8Array, target: Uint8Array): number {
  let written = 0;
  for (const { start, end, contentSize, maxSize } of zstdFrames(source)) {
    const room = target.length - written;
    if (contentSize !== undefined && contentSize > room) throw overrun(target.length);
    const part = target.subarray(written, written + Math.min(contentSize ?? maxSize, room));
    const size = decoder.decodeFrame(source.subarray(start, end), part);
    if (size === -1 && contentSize === undefined && maxSize > room) throw overrun(target.length);
    if (size === -1) throw corrupt("the zstd frame is damaged, or its checksum differs");
    if (contentSize !== undefined && size !== contentSize) {
      throw corrupt("the zstd frame decodes to fewer bytes than its stated size", {
        expected: contentSize,
        found: size,
      });
    }
    written += size;
  }
  return written;
}

/** @throws `resource-limit` if a WebAssembly memory would have to hold more than `most` bytes at once. */
export function assertHeldLimit(bytes: number, most: number): void {
  if (bytes <= most) return;
  throw new ZarrflowError("resource-limit", "zstd supports at most 1 GiB per chunk, encoded and decoded", {
    expected: most,
    found: bytes,
  });
}
