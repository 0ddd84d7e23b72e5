import type { CodecFactory } from "../codec.ts";
import { Settings } from "../settings.ts";
import { maxDeflatedSize } from "./deflate/deflate.ts";
import { loadDeflate } from "./deflate/load-deflate.ts";

/** `zlib`: RFC 1950. @see V2-54 */
export async function loadZlib(): Promise<CodecFactory> {
  const { inflate, deflate } = await loadDeflate();
  return (configuration) => {
    const level = new Settings(configuration).integer("level", -1, 9, 1);
    return {
      kind: "bytes-to-bytes",
      name: "zlib",
      maxEncodedSize: maxDeflatedSize,
      scratchSize: maxDeflatedSize,
      encodeInto: (source, target) => deflate("zlib", source, target, level),
      decodeInto: (source, target) => inflate("zlib", source, target),
    };
  };
}
