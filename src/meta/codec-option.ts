import {
  type BLOSC_SHUFFLES,
  codecNamed,
  type INNER_CODECS,
  knownCodecs,
  nameOfV2,
  nameOfV3,
} from "../codecs/catalog.ts";
import {
  assertNeeded,
  assertOneOf,
  assertSettings,
  codecSettings,
  invalidCodec,
} from "../codecs/option-parts.ts";
import { isZarrflowError } from "../util/errors.ts";
import { parseJson } from "../util/json-parse.ts";
import type { JsonObject } from "../util/json-value.ts";
import type { CodecConfig } from "./array-metadata.ts";
import { assertObject, isJsonObject } from "./assert-json.ts";
import { parseExtension } from "./extension.ts";
import { parseV2Codec } from "./v2/codecs.ts";
import { parseV3Codec } from "./v3/codec.ts";
import { assertV3Config } from "./v3/codecs.ts";

/** Codecs that the user asked for, in order of encoding. */
export interface AskedCodecs {
  readonly codecs: readonly CodecConfig[];
  /**
   * True if they replace all filters, compressors and checksums of an array; false if they replace only the
   * compressor.
   */
  readonly isList: boolean;
  /** True if any of them depends on the values of items. */
  readonly looksAtValues: boolean;
}

/** Compressors with a number, as in `zstd:5`: a level, for `lzma` a preset, for `lz4` an acceleration. */
type LevelledCodec = "zstd" | "gzip" | "zlib" | "bz2" | "lz4" | "lzma";
type BloscCodec = `blosc:${(typeof INNER_CODECS)[number]}`;
type BloscShuffle = (typeof BLOSC_SHUFFLES)[number];

/** Codecs that may stand alone in place of a list. */
type FilterCodec =
  | ("delta" | "bitround" | "quantize" | "fixedscaleoffset" | "astype" | "packbits" | "shuffle" | "base64")
  | ("transpose" | "cast_value" | "scale_offset" | "bytes")
  | ("crc32c" | "crc32" | "adler32" | "fletcher32" | "jenkins_lookup3");

/**
 * Codecs in words: a compressor (`none`, `zstd`, `zstd:5`, `blosc:zstd:5:bitshuffle`), or all codecs in order of
 * encoding (`bitround:10,zstd:5`, `delta`). Each may be JSON.
 */
export type CodecText =
  | "none"
  | LevelledCodec
  | `${LevelledCodec}:${number}`
  | "blosc"
  | BloscCodec
  | `${BloscCodec}:${number}`
  | `${BloscCodec}:${number}:${BloscShuffle}`
  | FilterCodec
  | `${FilterCodec}:${string}`
  | `${string},${string}`
  | `{${string}}`;

/** Codecs as users write them: in words, or a single codec with its name and settings, for every registered codec. */
export type CodecOption = CodecText | { readonly name: string; readonly configuration?: object | undefined };

/**
 * Parses codecs that the user asked for. A single compressor replaces the compressors: `none`, `zstd`, `zstd:5`,
 * `gzip:1`, `blosc:zstd:5:bitshuffle`, or JSON in v2 form (`{"id": "zstd", "level": 5}`) or v3 form
 * (`{"name": "zstd", "configuration": {...}}`). A comma-separated list, or a single codec that is not a compressor,
 * replaces all codecs: `bitround:10,zstd:5`.
 *
 * @throws `invalid-option` with the nearest name, and for codecs in an order that cannot work.
 */
export function askedCodecs(option: CodecOption): AskedCodecs {
  if (typeof option !== "string") return listed([askedCodec(option as CodecConfig)]);
  const texts = listedTexts(option);
  const [text = ""] = texts;
  if (texts.length === 1 && text === "none") return { codecs: [], isList: false, looksAtValues: false };
  if (texts.includes("none")) {
    throw invalidCodec(
      "`none` cannot be in a list of codecs",
      "Omit it: a list without a compressor means no compression.",
    );
  }
  return listed(texts.map(parseCodec));
}

function listed(codecs: readonly CodecConfig[]): AskedCodecs {
  assertOrder(codecs);
  const [first, ...others] = codecs;
  const { kind, role = "compressor" } = codecNamed(first?.name ?? "") ?? { kind: "bytes-to-bytes" };
  const isList = others.length > 0 || kind !== "bytes-to-bytes" || role !== "compressor";
  const looksAtValues = codecs.some(({ name }) => name !== "transpose" && /^filter/.test(placeInList(name)));
  return { codecs, isList, looksAtValues };
}

/** Splits at commas outside of JSON. */
function listedTexts(text: string): string[] {
  const texts: string[] = [];
  let depth = 0;
  let start = 0;
  for (const { 0: token, index } of text.matchAll(/"(?:[^"\\]|\\.)*"|[{}[\],]/g)) {
    if (token === "{" || token === "[") depth++;
    else if (token === "}" || token === "]") depth--;
    else if (token === "," && depth === 0) {
      texts.push(text.slice(start, index).trim());
      start = index + 1;
    }
  }
  return [...texts, text.slice(start).trim()];
}

const ORDER = ["filter of arrays", "filter of items", "serializer", "codec of bytes"] as const;

/** The role of a codec in a list; roles must appear in the order of `ORDER`. */
export function placeInList(name: string): (typeof ORDER)[number] {
  const { kind, itemFilter, objects } = codecNamed(name) ?? {};
  if (kind === "array-to-array") return "filter of arrays";
  if (itemFilter) return "filter of items";
  return kind === "array-to-bytes" || objects ? "serializer" : "codec of bytes";
}

function assertOrder(codecs: readonly CodecConfig[]): void {
  const hint = "Filters come first, then a serializer if there is one, then compressors and checksums.";
  for (const [i, { name }] of codecs.entries()) {
    const before = codecs[i - 1]?.name;
    if (before === undefined) continue;
    const [place, placeBefore] = [placeInList(name), placeInList(before)];
    if (place === "serializer" && placeBefore === "serializer")
      throw invalidCodec(`\`${before}\` and \`${name}\` both turn items into bytes`, hint);
    if (ORDER.indexOf(placeBefore) > ORDER.indexOf(place))
      throw invalidCodec(`\`${name}\`, a ${place}, cannot come after \`${before}\`, a ${placeBefore}`, hint);
  }
}

/** Parses one codec of a list into its canonical form. @throws `invalid-option` with the nearest name */
function parseCodec(text: string): CodecConfig {
  if (text.startsWith("{")) return askedCodec(fromJson(text));
  const [name = "", ...parts] = text.split(":");
  const { parseOption, parts: meant, refused } = codecNamed(name) ?? {};
  if (refused !== undefined) throw invalidCodec(`${name} is not implemented`, `${refused}.`);
  if (codecNamed(name) === undefined) assertOneOf(name, optionCodecs());
  const configuration = meant ? codecSettings(parts, meant) : parseOption?.(parts);
  if (configuration === undefined) {
    const isSharding = codecNamed(name)?.nested !== undefined;
    throw invalidCodec(
      `${name} has no short form`,
      isSharding ? "Write --shards for shards." : `Write it as JSON: {"id": "${name}", ...}.`,
    );
  }
  return askedCodec({ name, configuration });
}

/**
 * Completes a requested codec with default settings.
 *
 * @throws `invalid-option` for unknown settings and invalid values
 */
export function askedCodec(config: CodecConfig): CodecConfig {
  // callers from JavaScript may omit the configuration
  const { name, configuration = {}, ...rest } = config;
  const { parseOption, parts = [], allowed = {} } = codecNamed(name) ?? {};
  if (!isJsonObject(configuration)) throw invalidCodec(`the configuration of ${name} is not an object`);
  const others = Object.keys(rest).filter((member) => member !== "stated" && member !== "mayBeSkipped");
  assertMembers(others, ["name", "configuration"], "a codec has no member");
  assertKnownSettings(name, configuration);
  assertSettings(name, configuration, allowed);
  assertNeeded(name, configuration, parts);
  const given = Object.entries(configuration).filter(([, value]) => value !== undefined && value !== null);
  return {
    ...rest,
    name,
    configuration: { ...configuration, ...parseOption?.([]), ...Object.fromEntries(given) },
  };
}

/**
 * Rejects unknown settings in options; documents may have them, and they are kept. @throws `invalid-option` with the
 * nearest name
 */
function assertKnownSettings(name: string, configuration: JsonObject): void {
  const { parseOption, parts, settings, itemFilter } = codecNamed(name) ?? {};
  const short = parts?.map(({ setting }) => setting) ?? (parseOption && Object.keys(parseOption([])));
  if (short === undefined) return;
  const known = settings ?? [...short, ...(itemFilter?.input ? [itemFilter.input] : [])];
  assertMembers(Object.keys(configuration), known, `${name} has no setting`);
}

function assertMembers(members: readonly string[], known: readonly string[], what: string): void {
  for (const member of members) assertOneOf(member, known, what);
}

/** Names of the codecs that can be requested. */
export function optionCodecs(): string[] {
  return knownCodecs()
    .flatMap(({ name, parseOption, parts }) => (parseOption || parts ? name : []))
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
