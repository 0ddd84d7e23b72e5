import type { CodecFactory } from "../codec.ts";
import { ConfigReader, encoderSetting } from "../config-reader.ts";
import { decodeZstd, zstdDecoder } from "./decoder.ts";
import { ZSTD_LEVELS, type ZstdEncoder, type ZstdFrame, zstdFrames } from "./frames.ts";

/** `zstd`: RFC 8878. Reads frames without a content size, several frames, and skippable frames. */
export async function loadZstdCodec(): Promise<CodecFactory> {
  const decoder = zstdDecoder();
  return (configuration) => {
    const settings = new ConfigReader(configuration);
    const level = encoderSetting(() => settings.integer("level", ZSTD_LEVELS.least, ZSTD_LEVELS.most, 0), 0);
    const checksum = encoderSetting(() => settings.flag("checksum", false), false);
    return {
      kind: "bytes-to-bytes",
      name: "zstd",
      maxEncodedSize: maxZstdSize,
      // The backend copies input and output.
      scratchSize: (decodedSize) => 2 * (decodedSize + maxZstdSize(decodedSize)),
      statedDecodedSize: (source) => contentSize(zstdFrames(source)),
      assertEncodable: () => {
        level.check();
        checksum.check();
      },
      encodeInto(source, target) {
        const encode = (by: ZstdEncoder) => by.encode(source, target, level.value, checksum.value);
        return encoder ? encode(encoder) : loadEncoder().then(encode);
      },
      decodeInto: (source, target) => decodeZstd(decoder, source, target),
    };
  };
}

/** The most bytes that `size` bytes can become in one frame. */
export function maxZstdSize(size: number): number {
  return size + (size >>> 8) + 512;
}

function contentSize(frames: readonly ZstdFrame[]): number | undefined {
  let total = 0;
  for (const frame of frames) {
    if (frame.contentSize === undefined) return undefined;
    total += frame.contentSize;
  }
  return total;
}

let encoder: ZstdEncoder | undefined;

/** Loads the encoder with the first encoded chunk, so that programs that only read do not load it. */
async function loadEncoder(): Promise<ZstdEncoder> {
  encoder ??= (await import("./encoder.ts")).zstdEncoder();
  return encoder;
}
