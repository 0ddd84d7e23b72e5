import { builtinCodecs } from "../../codecs/descriptors.ts";
import { jsonEqual } from "../../util/json-equal.ts";
import type { JsonObject, JsonValue } from "../../util/json-value.ts";
import type { CodecConfig } from "../array-metadata.ts";
import { assertObject, integerOf, invalid, isObject, refusal, required } from "../assert-json.ts";
import type { Losses } from "../losses.ts";
import { canonicalConfiguration, numcodecsConfiguration } from "../v2/configuration.ts";

/** The members of `meta` that define the compression. */
export type V1Compression = { readonly compression: JsonValue; readonly compression_opts: JsonValue };

/** Canonical codec names for each value of `compression`; the writer's alias `gzip` is a codec of its own. */
const NAMES: ReadonlyMap<JsonValue, string> = new Map(
  builtinCodecs().flatMap(({ name, aliases }) => (aliases.v1 === undefined ? [] : [[aliases.v1, name]])),
);

const NONE: V1Compression = { compression: "none", compression_opts: null };
const POINTER = "/compression";

/**
 * Reads the only codec in `meta`; undefined for an uncompressed array. @throws `invalid-metadata`,
 * `unsupported-codec`
 */
export function parseV1Compression(document: JsonObject): CodecConfig | undefined {
  const compression = required(document, "compression");
  const options = required(document, "compression_opts");
  if (compression === null || compression === "none") return undefined;
  if (typeof compression !== "string") throw invalid(POINTER, "must be a name or null", compression);
  const name = NAMES.get(compression);
  if (name === undefined) {
    const hint = `The known codecs are ${[...NAMES.keys()].join(", ")} and none.`;
    throw refusal("unsupported-codec", POINTER, "the codec is not known", compression, hint);
  }
  const json: JsonObject = { compression, compression_opts: options };
  return {
    name,
    configuration: configurationOf(name, options),
    stated: { zarrFormat: "v1", json, pointer: POINTER },
  };
}

/** Converts options to the canonical form; null means the writer's default. */
function configurationOf(name: string, options: JsonValue): JsonObject {
  const pointer = "/compression_opts";
  if (name === "blosc") return canonicalConfiguration(name, assertObject(options ?? {}, pointer));
  if (name === "lzma") {
    const usual = { format: 1, check: -1, preset: null, filters: null };
    return { ...usual, ...canonicalConfiguration(name, assertObject(options ?? {}, pointer)) };
  }
  const level = integerOf(options ?? 1);
  if (level === undefined) throw invalid(pointer, "must be a level or null", options);
  return { level: Number(level) };
}

/**
 * Writes the compression from the bytes -> bytes codecs. v1 allows at most one. Keeps the original v1 form if it
 * still means the same.
 */
export function writeV1Compression(
  codecs: readonly CodecConfig[],
  itemSize: number,
  losses: Losses,
): V1Compression {
  const [codec] = codecs.filter(({ name }) => [...NAMES.values()].includes(name));
  for (const other of codecs) if (other !== codec) refuse(other, `the codec \`${other.name}\``, losses);
  if (codec === undefined) return NONE;
  const stated = statedCompression(codec);
  if (stated) return stated;
  const { name } = codec;
  const { level = 1, blocksize = 0, ...options } = numcodecsConfiguration(codec);
  if (name === "blosc") {
    if (blocksize !== 0) losses.add(pointerOf(codec), "a block size of blosc");
    if (options.cname === "zstd")
      refuse(codec, "`zstd` inside blosc, which readers of v1 do not support", losses);
    const shuffle = options.shuffle === -1 ? (itemSize === 1 ? 2 : 1) : options.shuffle;
    return { compression: name, compression_opts: { ...options, shuffle: shuffle ?? 1 } };
  }
  if (name === "v1.gzip") refuse(codec, "the name `gzip`, which is ambiguous", losses);
  return { compression: name, compression_opts: name === "lzma" ? options : level };
}

function statedCompression({ name, configuration, stated }: CodecConfig): V1Compression | undefined {
  if (stated?.zarrFormat !== "v1" || !isObject(stated.json)) return undefined;
  const now = parseV1Compression(stated.json);
  const isSame = now?.name === name && jsonEqual(now.configuration, configuration);
  return isSame ? { ...NONE, ...stated.json } : undefined;
}

function refuse(codec: CodecConfig, reason: string, losses: Losses): void {
  losses.require(pointerOf(codec), reason);
}

function pointerOf({ stated }: CodecConfig): string {
  return stated?.pointer ?? POINTER;
}
