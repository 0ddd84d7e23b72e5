import { builtin } from "../../../util/platform.node.ts";
import type { CodecFactory } from "../../codec.ts";
import { ConfigReader, encoderSetting } from "../../config-reader.ts";
import { corrupt, overrun } from "../../failures.ts";
import { kernelsOfThread } from "../../kernels/kernels.ts";
import { wasmZstd } from "../../kernels/wasm-zstd.ts";
import { ZSTD_LEVELS, type ZstdBackend } from "./backend.ts";
import { type ZstdFrame, zstdFrames } from "./frames.ts";
import { kernelZstd } from "./kernel-zstd.ts";
import { type NodeZstd, nodeZstd } from "./node-zstd.ts";

/** `zstd`: RFC 8878. Frames without a content size, several of them and skippable ones are read. */
export async function loadZstdCodec(): Promise<CodecFactory> {
  const backend = await loadZstd();
  return (configuration) => {
    const settings = new ConfigReader(configuration);
    const level = encoderSetting(() => settings.integer("level", ZSTD_LEVELS.least, ZSTD_LEVELS.most, 0), 0);
    const checksum = encoderSetting(() => settings.flag("checksum", false), false);
    return {
      kind: "bytes-to-bytes",
      name: "zstd",
      maxEncodedSize: maxZstdSize,
      // The backend's copies of input and output.
      scratchSize: (decodedSize) => 2 * (decodedSize + maxZstdSize(decodedSize)),
      statedDecodedSize: (source) => contentSize(zstdFrames(source)),
      assertEncodable: () => {
        level.check();
        checksum.check();
      },
      encodeInto: (source, target) => backend.encode(source, target, level.value, checksum.value),
      decodeInto: (source, target) => decodeZstd(backend, source, target),
    };
  };
}

/** The most bytes that `size` bytes become in one frame. */
export function maxZstdSize(size: number): number {
  return size + (size >>> 8) + 512;
}

/** Decodes all frames of `source` one after the other. @throws as the codec */
export function decodeZstd(backend: ZstdBackend, source: Uint8Array, target: Uint8Array): number {
  let written = 0;
  for (const { start, end, contentSize, maxSize } of zstdFrames(source)) {
    const room = target.length - written;
    if (contentSize !== undefined && contentSize > room) throw overrun(target.length);
    const part = target.subarray(written, written + Math.min(contentSize ?? maxSize, room));
    const size = backend.decodeFrame(source.subarray(start, end), part);
    if (size === -1 && contentSize === undefined && maxSize > room) throw overrun(target.length);
    if (size === -1) throw corrupt("the zstd frame is damaged, or its checksum differs");
    if (contentSize !== undefined && size !== contentSize) {
      throw corrupt("the zstd frame decodes to fewer bytes than it states", {
        expected: contentSize,
        found: size,
      });
    }
    written += size;
  }
  return written;
}

function contentSize(frames: readonly ZstdFrame[]): number | undefined {
  let total = 0;
  for (const frame of frames) {
    if (frame.contentSize === undefined) return undefined;
    total += frame.contentSize;
  }
  return total;
}

const zstdKernels = kernelsOfThread(wasmZstd);

/** Kernels of our own, and beside them Node's zstd where it has one (from 22.15). */
export async function loadZstd(): Promise<ZstdBackend> {
  const zlib = builtin("node:zlib");
  const library = zlib && "zstdCompressSync" in zlib ? nodeZstd(zlib as unknown as NodeZstd) : undefined;
  return kernelZstd(zstdKernels(), library);
}
