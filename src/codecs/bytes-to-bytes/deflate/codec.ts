import type { BytesToBytesCodec, CodecFactory } from "../../codec.ts";
import { ConfigReader, encoderSetting } from "../../config-reader.ts";
import { type DeflateFormat, maxDeflatedSize } from "./deflate.ts";
import { loadDeflate } from "./load-deflate.ts";

/** What tells the codecs of deflate from one another. */
interface DeflateCodec {
  readonly name: string;
  /** The container that is written. */
  readonly writes: DeflateFormat;
  /** The container of encoded bytes; by default the one that is written. */
  readonly formatOf?: (source: Uint8Array) => DeflateFormat;
  /** The lowest `level` that the configuration may have. */
  readonly leastLevel: -1 | 0;
}

/** The factory of a codec of deflate, once that is loaded. */
export async function loadDeflateCodec({
  name,
  writes,
  formatOf = () => writes,
  leastLevel,
}: DeflateCodec): Promise<CodecFactory> {
  const { inflate, deflate } = await loadDeflate();
  return (configuration) => {
    const settings = new ConfigReader(configuration);
    const level = encoderSetting(() => settings.integer("level", leastLevel, 9, 1), 1);
    return {
      kind: "bytes-to-bytes",
      name,
      maxEncodedSize: maxDeflatedSize,
      scratchSize: maxDeflatedSize,
      assertEncodable: level.check,
      encodeInto: (source, target) => deflate(writes, source, target, level.value),
      decodeInto: (source, target) => inflate(formatOf(source), source, target),
    } satisfies BytesToBytesCodec;
  };
}
