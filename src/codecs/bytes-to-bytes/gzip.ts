import type { CodecFactory } from "../codec.ts";
import { Settings } from "../settings.ts";
import { maxDeflatedSize } from "./deflate/deflate.ts";
import { loadDeflate } from "./deflate/load-deflate.ts";

/** `gzip`: RFC 1952; several members are read. @see V2-54 */
export async function loadGzip(): Promise<CodecFactory> {
  const { inflate, deflate } = await loadDeflate();
  return (configuration) => {
    const level = new Settings(configuration).integer("level", -1, 9, 1);
    return {
      kind: "bytes-to-bytes",
      name: "gzip",
      maxEncodedSize: maxDeflatedSize,
      scratchSize: maxDeflatedSize,
      encodeInto: (source, target) => deflate("gzip", source, target, level),
      decodeInto: (source, target) => inflate("gzip", source, target),
    };
  };
}
