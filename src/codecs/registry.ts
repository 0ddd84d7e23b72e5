import type { CodecConfig } from "../meta/array-metadata.ts";
import { ZarrflowError } from "../util/errors.ts";
import { nearestName } from "../util/nearest-name.ts";
import type { Codec, CodecContext, CodecFactory } from "./codec.ts";

/** Fetches a factory when the codec is first wanted, so that its code is loaded on use. */
export type CodecLoader = () => Promise<CodecFactory>;

const codecs = new Map<string, CodecFactory | CodecLoader>(
  Object.entries({
    transpose: async () => (await import("./array-to-array/transpose.ts")).createTranspose,

    bytes: async () => (await import("./array-to-bytes/bytes.ts")).createBytes,
    "vlen-bytes": async () => (await import("./array-to-bytes/vlen-bytes.ts")).createVlenBytes,
    "vlen-utf8": async () => (await import("./array-to-bytes/vlen-utf8.ts")).createVlenUtf8,

    adler32: async () => (await import("./bytes-to-bytes/adler32.ts")).createAdler32,
    astype: async () => (await import("./bytes-to-bytes/astype.ts")).createAstype,
    bitround: async () => (await import("./bytes-to-bytes/bitround.ts")).createBitround,
    blosc: async () => (await import("./bytes-to-bytes/blosc.ts")).createBlosc,
    crc32: async () => (await import("./bytes-to-bytes/crc32.ts")).createCrc32,
    crc32c: async () => (await import("./bytes-to-bytes/crc32c.ts")).createCrc32c,
    delta: async () => (await import("./bytes-to-bytes/delta.ts")).createDelta,
    fixedscaleoffset: async () =>
      (await import("./bytes-to-bytes/fixedscaleoffset.ts")).createFixedScaleOffset,
    fletcher32: async () => (await import("./bytes-to-bytes/fletcher32.ts")).createFletcher32,
    gzip: async () => (await import("./bytes-to-bytes/gzip.ts")).loadGzip(),
    lz4: async () => (await import("./bytes-to-bytes/lz4.ts")).createLz4,
    packbits: async () => (await import("./bytes-to-bytes/packbits.ts")).createPackbits,
    quantize: async () => (await import("./bytes-to-bytes/quantize.ts")).createQuantize,
    shuffle: async () => (await import("./bytes-to-bytes/shuffle.ts")).createShuffle,
    zlib: async () => (await import("./bytes-to-bytes/zlib.ts")).loadZlib(),
    zstd: async () => (await import("./bytes-to-bytes/zstd.ts")).loadZstdCodec(),
  } satisfies Record<string, CodecLoader>),
);

/** Codecs that are never read, each with the reason. */
const refused = new Map([["pickle", "reading pickles runs whatever code their author put in"]]);

/**
 * Makes a codec known by its normal name, in place of the one that had it.
 *
 * @param codec a factory, or a function without arguments that fetches one.
 * @example
 * ```ts
 * import { type BytesToBytesCodec, registerCodec } from "zarrflow/codecs";
 *
 * const codec: BytesToBytesCodec = {
 *   kind: "bytes-to-bytes",
 *   name: "invert",
 *   maxEncodedSize: (decodedSize) => decodedSize,
 *   fixedEncodedSize: (decodedSize) => decodedSize,
 *   encodeInto: invert,
 *   decodeInto: invert,
 * };
 * registerCodec("invert", () => codec);
 *
 * function invert(source: Uint8Array, target: Uint8Array): number {
 *   for (let i = 0; i < source.length; i++) target[i] = ~(source[i] ?? 0);
 *   return source.length;
 * }
 * ```
 */
export function registerCodec(name: string, codec: CodecFactory | CodecLoader): void {
  codecs.set(name, codec);
}

/** Normal names of all codecs that can be made. */
export function codecNames(): string[] {
  return [...codecs.keys()].sort();
}

/**
 * The codec of `config`, for its place in a chain.
 *
 * @throws `unsupported-codec` when the name is not known, with the nearest that is, or refused; `invalid-metadata` when
 *   the configuration is not the codec's.
 */
export async function makeCodec(config: CodecConfig, context: CodecContext): Promise<Codec> {
  const { name, configuration } = config;
  const reason = refused.get(name);
  if (reason !== undefined && !codecs.has(name)) {
    throw new ZarrflowError("unsupported-codec", `the codec is refused: ${reason}`, { codec: name });
  }
  const codec = codecs.get(name);
  if (codec === undefined) {
    const nearest = nearestName(name, codecs.keys());
    throw new ZarrflowError("unsupported-codec", "no such codec is known", {
      codec: name,
      hint: nearest ? `Did you mean \`${nearest}\`?` : `Known are ${codecNames().join(", ")}.`,
    });
  }
  const made = await codec(configuration, context);
  return typeof made === "function" ? made(configuration, context) : made;
}
