import type { CodecFactory } from "../codec.ts";
import { Settings } from "../settings.ts";
import { maxDeflatedSize } from "./deflate/deflate.ts";
import { loadDeflate } from "./deflate/load-deflate.ts";

/**
 * `v1.gzip`: what the name `gzip` means in Zarr v1, a zlib stream by its writer's rule, a gzip file by its words. The
 * first bytes tell; written is the former.
 *
 * @see V1-30
 */
export async function loadV1Gzip(): Promise<CodecFactory> {
  const { inflate, deflate } = await loadDeflate();
  return (configuration) => {
    const level = new Settings(configuration).integer("level", 0, 9, 1);
    return {
      kind: "bytes-to-bytes",
      name: "v1.gzip",
      maxEncodedSize: maxDeflatedSize,
      scratchSize: maxDeflatedSize,
      encodeInto: (source, target) => deflate("zlib", source, target, level),
      decodeInto: (source, target) => inflate(isGzip(source) ? "gzip" : "zlib", source, target),
    };
  };
}

/** No zlib stream begins so. */
function isGzip([first, second]: Uint8Array): boolean {
  return first === 0x1f && second === 0x8b;
}
