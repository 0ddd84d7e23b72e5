import type { CodecConfig } from "../meta/array-metadata.ts";
import { ZarrflowError } from "../util/errors.ts";
import { nearestName } from "../util/nearest-name.ts";
import type { Codec, CodecContext, CodecFactory, NestingCodecFactory } from "./codec.ts";
import type { CodecKind } from "./descriptor.ts";
import { addCodec, type BuiltinCodec, codecNamed, type NewCodec } from "./descriptors.ts";
import { fromNumcodecsClass, isNumcodecsClass, type NumcodecsClass } from "./numcodecs-codec.ts";

/** Fetches a factory when the codec is first wanted, so that its code is loaded on use. */
export type CodecLoader = () => Promise<CodecFactory | NestingCodecFactory | NumcodecsClass>;

const codecs = new Map<string, CodecFactory | CodecLoader | NumcodecsClass>(
  Object.entries({
    cast_value: async () => (await import("./array-to-array/cast-value/codec.ts")).createCastValue,
    scale_offset: async () => (await import("./array-to-array/scale-offset/codec.ts")).createScaleOffset,
    transpose: async () => (await import("./array-to-array/transpose/codec.ts")).createTranspose,

    bytes: async () => (await import("./array-to-bytes/bytes/codec.ts")).createBytes,
    sharding_indexed: async () => (await import("./array-to-bytes/sharding/codec.ts")).loadSharding,
    json2: async () => (await import("./array-to-bytes/tree/codec.ts")).createJson2,
    msgpack2: async () => (await import("./array-to-bytes/tree/codec.ts")).createMsgpack2,
    "v3.packbits": async () => (await import("./array-to-bytes/bit-packing/codec.ts")).createBitPacking,
    "vlen-array": async () => (await import("./array-to-bytes/vlen/vlen-array.ts")).createVlenArray,
    "vlen-bytes": async () => (await import("./array-to-bytes/vlen/codec.ts")).createVlenBytes,
    "vlen-utf8": async () => (await import("./array-to-bytes/vlen/codec.ts")).createVlenUtf8,
    zep0007: async () => (await import("./array-to-bytes/zep0007/codec.ts")).createZep0007,

    adler32: async () => (await import("./bytes-to-bytes/checksum/codec.ts")).createAdler32,
    astype: async () => (await import("./bytes-to-bytes/astype/codec.ts")).createAstype,
    base64: async () => (await import("./bytes-to-bytes/base64/codec.ts")).createBase64,
    bitround: async () => (await import("./bytes-to-bytes/bitround/codec.ts")).createBitround,
    blosc: async () => (await import("./bytes-to-bytes/blosc/codec.ts")).createBlosc,
    bz2: async () => (await import("./bytes-to-bytes/bz2/codec.ts")).createBz2,
    categorize: async () => (await import("./bytes-to-bytes/categorize/codec.ts")).createCategorize,
    crc32: async () => (await import("./bytes-to-bytes/checksum/codec.ts")).createCrc32,
    crc32c: async () => (await import("./bytes-to-bytes/checksum/codec.ts")).createCrc32c,
    delta: async () => (await import("./bytes-to-bytes/delta/codec.ts")).createDelta,
    fixedscaleoffset: async () =>
      (await import("./bytes-to-bytes/fixedscaleoffset/codec.ts")).createFixedScaleOffset,
    fletcher32: async () => (await import("./bytes-to-bytes/checksum/codec.ts")).createFletcher32,
    gzip: async () => (await import("./bytes-to-bytes/deflate/codec.ts")).loadGzip(),
    jenkins_lookup3: async () => (await import("./bytes-to-bytes/checksum/codec.ts")).createJenkinsLookup3,
    lz4: async () => (await import("./bytes-to-bytes/lz4/codec.ts")).createLz4,
    lzma: async () => (await import("./bytes-to-bytes/lzma/codec.ts")).createLzma,
    packbits: async () => (await import("./bytes-to-bytes/packbits/codec.ts")).createPackbits,
    quantize: async () => (await import("./bytes-to-bytes/quantize/codec.ts")).createQuantize,
    shuffle: async () => (await import("./bytes-to-bytes/shuffle/codec.ts")).createShuffle,
    "v1.gzip": async () => (await import("./bytes-to-bytes/deflate/codec.ts")).loadV1Gzip(),
    zlib: async () => (await import("./bytes-to-bytes/deflate/codec.ts")).loadZlib(),
    zstd: async () => (await import("./bytes-to-bytes/zstd/codec.ts")).loadZstdCodec(),
  } satisfies Record<BuiltinCodec, CodecLoader>),
);

/**
 * Makes a codec known, in place of the one that had its name.
 *
 * @param descriptor its name, or a description: what it takes and gives (`kind`), what it is for (`role`), and its names
 *   in each format (`aliases`). By default it turns bytes into bytes, and has the same name in v2 and v3. Where it does
 *   not say what it is for, it is taken for a compressor, which `codec: "zstd"` replaces and `codec: "none"` removes,
 *   unless a document of v2 lists it among its filters.
 * @param codec a factory; a class as the package numcodecs has them; or a function without arguments that fetches one.
 * @throws `invalid-option` where another codec has one of its names in v2 or v3.
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
 * registerCodec({ name: "invert", role: "filter" }, () => codec);
 *
 * function invert(source: Uint8Array, target: Uint8Array): number {
 *   for (let i = 0; i < source.length; i++) target[i] = ~(source[i] ?? 0);
 *   return source.length;
 * }
 * ```
 * @example
 * ```ts
 * import { decodeBytes, encodeBytes, registerCodec } from "zarrflow/codecs";
 *
 * class Reverse {
 *   static readonly codecId = "reverse";
 *   static fromConfig(): Reverse {
 *     return new Reverse();
 *   }
 *   encode(data: Uint8Array): Uint8Array {
 *     return data.slice().reverse();
 *   }
 *   decode(data: Uint8Array): Uint8Array {
 *     return data.slice().reverse();
 *   }
 * }
 * registerCodec(Reverse.codecId, Reverse);
 *
 * const encoded = await encodeBytes({ id: "reverse" }, new Uint8Array([1, 2, 3]));
 * console.log((await decodeBytes({ id: "reverse" }, encoded)).join()); // 1,2,3
 * ```
 */
export function registerCodec(
  descriptor: string | NewCodec,
  codec: CodecFactory | CodecLoader | NumcodecsClass,
): void {
  const described = typeof descriptor === "string" ? { name: descriptor } : descriptor;
  const { name } = described;
  addCodec(described);
  codecs.set(name, codec);
  registered.add(name);
  statedKinds.set(name, described.kind);
}

/** Other threads do not know them. */
const registered = new Set<string>();
const statedKinds = new Map<string, CodecKind | undefined>();

/** Names under which the program has registered codecs. */
export function registeredCodecs(): string[] {
  return [...registered];
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
  const reason = codecNamed(name)?.refused;
  if (reason !== undefined && !codecs.has(name)) {
    throw new ZarrflowError("unsupported-codec", `the codec is not supported: ${reason}`, { codec: name });
  }
  const codec = codecs.get(name);
  if (codec === undefined) {
    const nearest = nearestName(name, codecs.keys());
    throw new ZarrflowError("unsupported-codec", "the codec is not known", {
      codec: name,
      hint: nearest ? `Did you mean \`${nearest}\`?` : `The known codecs are ${codecNames().join(", ")}.`,
    });
  }
  const made = isNumcodecsClass(codec) ? codec : await codec(configuration, context);
  if (isNumcodecsClass(made)) return fromNumcodecsClass(made, name, configuration);
  const result = typeof made === "function" ? await made(configuration, context) : made;
  assertKind(result, name);
  return result;
}

/** @throws `codec-error` where a codec is of another kind than the program said as it registered it. */
function assertKind({ kind }: Codec, name: string): void {
  const stated = statedKinds.get(name);
  if (stated === undefined || stated === kind) return;
  throw new ZarrflowError("codec-error", "the codec has another kind than it was registered with", {
    codec: name,
    expected: stated,
    found: kind,
  });
}
