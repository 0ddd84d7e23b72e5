import type { BLOSC_SHUFFLES, INNER_CODECS } from "../codecs/bytes-to-bytes/blosc/descriptor.ts";
import { codecNamed, knownCodecs, nameOfV2, nameOfV3 } from "../codecs/descriptors.ts";
import { assertOneOf, assertSettings, invalidCodec } from "../codecs/option-parts.ts";
import { isZarrflowError } from "../util/errors.ts";
import { parseJson } from "../util/json-parse.ts";
import type { JsonObject } from "../util/json-value.ts";
import type { CodecConfig } from "./array-metadata.ts";
import { assertObject, isObject } from "./assert-json.ts";
import { compressorsOf } from "./codec-traits.ts";
import { parseExtension } from "./extension.ts";
import { parseV2Codec } from "./v2/codec.ts";
import { parseV3Codec } from "./v3/codec.ts";
import { assertV3Config } from "./v3/codec-settings.ts";
import { innerCodecs } from "./v3/sharding.ts";

/** Compressors that take a level, as `zstd:5`; `lzma` a preset, `lz4` an acceleration. */
type LevelledCodec = "zstd" | "gzip" | "zlib" | "bz2" | "lz4" | "lzma";
type BloscCodec = `blosc:${(typeof INNER_CODECS)[number]}`;
type BloscShuffle = (typeof BLOSC_SHUFFLES)[number];

/** A compressor in words: `none`, `zstd`, `zstd:5`, `blosc:zstd:5:bitshuffle`, or JSON. */
export type CodecText =
  | "none"
  | LevelledCodec
  | `${LevelledCodec}:${number}`
  | "blosc"
  | BloscCodec
  | `${BloscCodec}:${number}`
  | `${BloscCodec}:${number}:${BloscShuffle}`
  | `{${string}}`;

/** A compressor as people ask for it: in words, or by its name and settings, as every registered one is. */
export type CodecOption = CodecText | { readonly name: string; readonly configuration?: object };

/** The codec that an option means; undefined for `none`. @throws `invalid-option` with the nearest name */
export function codecMeant(option: CodecOption): CodecConfig | undefined {
  return typeof option === "string" ? parseCodec(option) : askedCodec(option as CodecConfig);
}

/**
 * A compressor as people ask for it: `none`, `zstd`, `zstd:5`, `gzip:1`, `blosc`, `blosc:zstd:5:bitshuffle`, or
 * JSON in v2 form (`{"id": "zstd", "level": 5}`) or v3 form (`{"name": "zstd", "configuration": {...}}`).
 *
 * @returns the codec in its normal form; undefined for `none`
 * @throws `invalid-option` with the nearest name.
 */
export function parseCodec(text: string): CodecConfig | undefined {
  const trimmed = text.trim();
  if (trimmed === "none") return undefined;
  if (trimmed.startsWith("{")) return askedCodec(fromJson(trimmed));
  const [name = "", ...parts] = trimmed.split(":");
  assertOneOf(name, optionCodecs());
  return askedCodec({ name, configuration: codecNamed(name)?.parseOption?.(parts) ?? {} });
}

/**
 * A codec that is asked for, with the settings that it has by its name alone where none are given.
 *
 * @throws `invalid-option` for settings that it does not have, and values that these cannot have
 */
export function askedCodec(config: CodecConfig): CodecConfig {
  // callers from JavaScript may omit the configuration
  const { name, configuration = {}, ...rest } = config;
  const { parseOption, allowed = {} } = codecNamed(name) ?? {};
  if (!isObject(configuration)) throw invalidCodec(`the configuration of ${name} is not an object`);
  const others = Object.keys(rest).filter((member) => member !== "stated" && member !== "mayBeSkipped");
  assertMembers(others, ["name", "configuration"], "a codec has no member");
  assertKnownSettings(name, configuration);
  assertSettings(name, configuration, allowed);
  const given = Object.entries(configuration).filter(([, value]) => value !== undefined && value !== null);
  return {
    ...rest,
    name,
    configuration: { ...configuration, ...parseOption?.([]), ...Object.fromEntries(given) },
  };
}

/** Documents may have other settings, which are kept. @throws `invalid-option` with the nearest one */
function assertKnownSettings(name: string, configuration: JsonObject): void {
  const { parseOption, settings } = codecNamed(name) ?? {};
  if (parseOption === undefined) return;
  assertMembers(
    Object.keys(configuration),
    settings ?? Object.keys(parseOption([])),
    `${name} has no setting`,
  );
}

function assertMembers(members: readonly string[], known: readonly string[], what: string): void {
  for (const member of members) assertOneOf(member, known, what);
}

/** Compressors that can be asked for by their name. */
export function optionCodecs(): string[] {
  return knownCodecs()
    .filter(({ kind, role = "compressor" }) => kind === "bytes-to-bytes" && role === "compressor")
    .flatMap(({ name, parseOption }) => (parseOption ? name : []))
    .sort();
}

function fromJson(text: string): CodecConfig {
  try {
    const json = assertObject(parseJson(new TextEncoder().encode(text)), "");
    if (Object.hasOwn(json, "id")) return parsedV2(json);
    const { name, configuration, others } = parseExtension(json, "");
    assertMembers(others, ["name", "configuration"], "a codec has no member");
    assertKnownSettings(nameOfV3(name) ?? name, configuration);
    assertV3Config(json, "");
    return parseV3Codec(json, "");
  } catch (error) {
    if (!isZarrflowError(error, "invalid-metadata")) throw error;
    throw invalidCodec(`\`${text}\` is not a codec: ${error.message}`);
  }
}

function parsedV2(json: JsonObject): CodecConfig {
  const { id, ...configuration } = json;
  if (typeof id === "string") assertKnownSettings(nameOfV2(id) ?? id, configuration);
  return parseV2Codec(json, "/compressor");
}

/** The codec list with its compressors replaced by one, or by none; filters and checksums stay. In shards too. */
export function withCompressor(
  codecs: readonly CodecConfig[],
  compressor: CodecConfig | undefined,
): readonly CodecConfig[] {
  const shards = codecs.findIndex(({ name }) => name === "sharding_indexed");
  if (shards >= 0)
    return codecs.map((codec, i) => (i === shards ? withInnerCompressor(codec, compressor) : codec));
  const compressors = compressorsOf(codecs);
  const first = codecs.findIndex((codec) => compressors.has(codec));
  const place = first < 0 ? codecs.length : first;
  const kept = codecs.filter((codec) => !compressors.has(codec));
  return compressor ? [...kept.slice(0, place), compressor, ...kept.slice(place)] : kept;
}

function withInnerCompressor(
  { name, configuration }: CodecConfig,
  compressor: CodecConfig | undefined,
): CodecConfig {
  const inner = withCompressor(innerCodecs(configuration.codecs), compressor);
  const codecs = inner.map((codec) => ({ name: codec.name, configuration: codec.configuration }));
  return { name, configuration: { ...configuration, codecs } };
}
