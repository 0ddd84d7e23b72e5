import { jsonEqual } from "../util/json-equal.ts";
import { pointerTo } from "../util/json-pointer.ts";
import type { JsonObject, JsonValue } from "../util/json-value.ts";
import type { CodecConfig } from "./array-metadata.ts";
import type { Endian } from "./data-type.ts";
import type { Finding } from "./dialect.ts";
import { expectWord, member } from "./expect.ts";
import { type Extension, parseExtension, writeExtension } from "./extension.ts";
import { normalConfiguration, numcodecsConfiguration } from "./v2-codec.ts";

const ENDIANS = ["little", "big"] as const;

/** Members of the configurations of v3's own codecs. */
const MEMBERS = new Map<string, readonly string[]>([
  ["bytes", ["endian"]],
  ["transpose", ["order"]],
  ["gzip", ["level"]],
  ["zstd", ["level", "checksum"]],
  ["blosc", ["cname", "clevel", "shuffle", "typesize", "blocksize"]],
  ["crc32c", []],
  ["sharding_indexed", ["chunk_shape", "codecs", "index_codecs", "index_location"]],
  ["vlen-utf8", []],
  ["vlen-bytes", []],
  ["packbits", ["padding_encoding", "first_bit", "last_bit"]],
]);

/** Codecs registered for v3 that read no configuration with a member they do not know. @see V3-48 */
const STRICT = ["cast_value", "scale_offset"];

/** Codecs of the numcodecs package that are registered for v3, all as `numcodecs.` and the id. @see V3-47 */
const NUMCODECS = [
  ...["blosc", "zlib", "gzip", "bz2", "lzma", "zstd", "lz4", "pcodec", "zfpy"],
  ...["delta", "fixedscaleoffset", "quantize", "bitround", "packbits", "astype", "shuffle"],
  ...["crc32", "adler32", "crc32c", "fletcher32", "jenkins_lookup3"],
];

/** Names that v3 and the normal list use for different things, with their normal name. */
const RENAMED = new Map([
  ["endian", "bytes"],
  ["packbits", "v3.packbits"],
]);

/** The names of v3 for codecs whose normal name is another. */
const REGISTERED_NAMES = new Map([["v3.packbits", "packbits"]]);

/**
 * One codec in its normal form, of itself: names that are not known pass. Members that the codec does not have are
 * left out, with a finding.
 *
 * @throws `invalid-metadata`
 * @see V3-13, V3-43, V3-47
 */
export function parseV3Codec(json: JsonValue, pointer: string, findings: Finding[] = []): CodecConfig {
  const extension = parseExtension(json, pointer);
  const { name, configuration } = normalise(extension);
  const known = MEMBERS.get(extension.name);
  const unknown = Object.keys(configuration).filter((key) => known && !known.includes(key));
  const ignored = [...extension.others, ...unknown];
  if (ignored.length > 0) {
    findings.push({ message: `the codec \`${name}\` has no ${ignored.join(", ")}`, pointer });
  }
  const kept = Object.entries(configuration).filter(([key]) => !unknown.includes(key));
  return {
    name,
    configuration: Object.fromEntries(kept),
    stated: { dialect: "v3", json, pointer },
    ...(!extension.mustUnderstand && { mayBeSkipped: true }),
  };
}

function normalise({ name, configuration }: Extension): { name: string; configuration: JsonObject } {
  const id = name.startsWith("numcodecs.") ? name.slice("numcodecs.".length) : undefined;
  if (id !== undefined && NUMCODECS.includes(id)) {
    return { name: id, configuration: withoutDefaults(id, normalConfiguration(id, configuration)) };
  }
  const normalName = RENAMED.get(name) ?? name;
  return { name: normalName, configuration: withoutDefaults(normalName, configuration) };
}

/** Leaves out members that say what their absence says; blosc always states its block size. */
function withoutDefaults(name: string, configuration: JsonObject): JsonObject {
  if (name === "blosc") return { ...configuration, blocksize: member(configuration, "blocksize") ?? 0 };
  if (name === "zstd" && member(configuration, "checksum") === false) {
    const { checksum: _, ...rest } = configuration;
    return rest;
  }
  return configuration;
}

/** The codec as its v3 document stated it, where that, `read` by the same rules, still says what it is. */
export function statedV3Codec(
  { name, configuration, stated }: CodecConfig,
  read: (stated: CodecConfig) => CodecConfig = (same) => same,
): JsonValue | undefined {
  if (stated?.dialect !== "v3") return undefined;
  const now = read(parseV3Codec(stated.json, stated.pointer));
  return now.name === name && jsonEqual(now.configuration, configuration) ? stated.json : undefined;
}

/**
 * The v3 form of a codec that needs no others; undefined where v3 has none. `itemSize` is the bytes of an item at
 * its place.
 *
 * @see V3-14, V3-44
 */
export function writeV3Codec(codec: CodecConfig, itemSize: number): JsonValue | undefined {
  const stated = statedV3Codec(codec);
  if (stated !== undefined) return stated;
  const { configuration } = codec;
  const name = REGISTERED_NAMES.get(codec.name) ?? codec.name;
  const location = member(configuration, "location");
  if (name === "blosc") return writeExtension(name, bloscConfiguration(configuration, itemSize));
  if (name === "zstd") return writeExtension(name, { level: 0, ...configuration });
  if (codec.name === "packbits") return numcodecsForm(codec);
  if ((MEMBERS.has(name) || STRICT.includes(name)) && (location === undefined || location === "end")) {
    const { location: _, ...rest } = configuration;
    return writeExtension(name, rest);
  }
  return NUMCODECS.includes(name) ? numcodecsForm(codec) : undefined;
}

/** The reference wants a configuration of these even where it is empty. */
function numcodecsForm(codec: CodecConfig): JsonObject {
  return { name: `numcodecs.${codec.name}`, configuration: numcodecsConfiguration(codec) };
}

function bloscConfiguration(configuration: JsonObject, itemSize: number): JsonObject {
  const { typesize = itemSize, cname = "lz4", clevel = 5, shuffle = "auto", blocksize = 0 } = configuration;
  const automatic = itemSize === 1 ? "bitshuffle" : "shuffle";
  return { typesize, cname, clevel, shuffle: shuffle === "auto" ? automatic : shuffle, blocksize };
}

/** Where a codec is named, for errors about it. */
export function codecPointer({ stated }: CodecConfig, list: string, index: number): string {
  return stated?.pointer ?? pointerTo(list, index);
}

/** The byte order that a `bytes` codec states. */
export function endianOf({ configuration }: CodecConfig, pointer: string): Endian | undefined {
  const endian = member(configuration, "endian");
  return endian === undefined ? undefined : expectWord(endian, ENDIANS, pointer);
}
