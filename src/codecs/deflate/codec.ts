import { builtin } from "../../util/platform.node.ts";
import type { BytesToBytesCodec, CodecFactory } from "../codec.ts";
import { ConfigReader, encoderSetting } from "../config-reader.ts";
import { type Deflate, type DeflateFormat, maxDeflatedSize } from "./deflate.ts";

/** The differences between the deflate codecs. */
interface DeflateCodec {
  readonly name: string;
  /** The container to write. */
  readonly writes: DeflateFormat;
  /** The container of encoded bytes; by default the one that is written. */
  readonly formatOf?: (source: Uint8Array) => DeflateFormat;
  /** The lowest `level` that the configuration may have. */
  readonly leastLevel: -1 | 0;
}

/** Loads deflate and returns the factory of a codec. */
async function loadDeflateCodec({
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

/** `gzip`: RFC 1952; reads several members. */
export const loadGzip = () => loadDeflateCodec({ name: "gzip", writes: "gzip", leastLevel: -1 });

/** `zlib`: RFC 1950. */
export const loadZlib = () => loadDeflateCodec({ name: "zlib", writes: "zlib", leastLevel: -1 });

/**
 * `v1.gzip`: the codec `gzip` of Zarr v1. The writer of v1 used the name as an alias of zlib; taken literally it means
 * gzip files. Reading detects the container by its first bytes; writing uses zlib.
 */
export const loadV1Gzip = () =>
  loadDeflateCodec({
    name: "v1.gzip",
    writes: "zlib",
    formatOf: (source) => (isGzip(source) ? "gzip" : "zlib"),
    leastLevel: 0,
  });

/** No zlib stream starts with these bytes. */
function isGzip([first, second]: Uint8Array): boolean {
  return first === 0x1f && second === 0x8b;
}

/** Loads Node's zlib or, without it, fflate. */
export async function loadDeflate(): Promise<Deflate> {
  const zlib = builtin("node:zlib");
  if (zlib) return (await import("./node-deflate.ts")).nodeDeflate(zlib);
  const [{ fflateDeflate }, fflate] = await Promise.all([import("./fflate-deflate.ts"), import("fflate")]);
  return fflateDeflate(fflate);
}
