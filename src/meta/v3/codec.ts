import { codecNamed, nameOfV3 } from "../../codecs/catalog.ts";
import { type JsonObject, type JsonValue, jsonEqual, pointerTo } from "../../util/json-value.ts";
import type { CodecConfig } from "../array-metadata.ts";
import { assertWord, member } from "../assert-json.ts";
import type { Endian } from "../data-type.ts";
import { type Extension, parseExtension, writeExtension } from "../extension.ts";
import type { Finding } from "../format.ts";
import { canonicalConfiguration, numcodecsConfiguration } from "../v2/configuration.ts";

const ENDIANS = ["little", "big"] as const;

/** Prefix of the names of codecs in the numcodecs package. */
const NUMCODECS = "numcodecs.";

/**
 * Reads one codec into its canonical form, independent of its list; accepts unknown names. Drops members that the
 * codec does not have, with a finding.
 *
 * @throws `invalid-metadata`
 */
export function parseV3Codec(json: JsonValue, pointer: string, findings: Finding[] = []): CodecConfig {
  const extension = parseExtension(json, pointer);
  const { name, configuration } = normalize(extension);
  const known = codecNamed(name);
  const settings = known?.aliases.v3 === extension.name ? known.settings : undefined;
  const unknown = Object.keys(configuration).filter((key) => settings && !settings.includes(key));
  const ignored = [...extension.others, ...unknown];
  if (ignored.length > 0) {
    findings.push({ message: `the codec \`${name}\` has no ${ignored.join(", ")}`, pointer });
  }
  const kept = Object.entries(configuration).filter(([key]) => !unknown.includes(key));
  return {
    name,
    configuration: Object.fromEntries(kept),
    stated: { zarrFormat: "v3", json, pointer },
    ...(!extension.mustUnderstand && { mayBeSkipped: true }),
  };
}

function normalize({ name, configuration }: Extension): { name: string; configuration: JsonObject } {
  const normalName = nameOfV3(name);
  const isOfNumcodecs = normalName !== undefined && name.startsWith(NUMCODECS);
  const normal = isOfNumcodecs ? canonicalConfiguration(normalName, configuration) : configuration;
  return { name: normalName ?? name, configuration: withoutDefaults(normalName ?? name, normal) };
}

/** Removes members that equal their default; blosc always states its block size. */
function withoutDefaults(name: string, configuration: JsonObject): JsonObject {
  if (name === "blosc") return { ...configuration, blocksize: member(configuration, "blocksize") ?? 0 };
  if (name === "zstd" && member(configuration, "checksum") === false) {
    const { checksum: _, ...rest } = configuration;
    return rest;
  }
  return configuration;
}

/**
 * The codec as its v3 document wrote it, if that still means the same after `read` converts it to the canonical form.
 */
export function statedV3Codec(
  { name, configuration, stated }: CodecConfig,
  read: (stated: CodecConfig) => CodecConfig = (same) => same,
): JsonValue | undefined {
  if (stated?.zarrFormat !== "v3") return undefined;
  const now = read(parseV3Codec(stated.json, stated.pointer));
  return now.name === name && jsonEqual(now.configuration, configuration) ? stated.json : undefined;
}

/**
 * Writes a codec's v3 form, independent of its list; undefined if v3 has none. `itemSize` is the size of its input
 * items in bytes.
 */
export function writeV3Codec(codec: CodecConfig, itemSize: number): JsonValue | undefined {
  const stated = statedV3Codec(codec);
  if (stated !== undefined) return stated;
  const { name, configuration } = codec;
  const known = codecNamed(name);
  const v3Name = known?.aliases.v3;
  if (known === undefined || v3Name === undefined) return undefined;
  if (name === "blosc") return writeExtension(v3Name, bloscConfiguration(configuration, itemSize));
  if (name === "zstd") return writeExtension(v3Name, { level: 0, ...configuration });
  if (v3Name.startsWith(NUMCODECS)) return numcodecsForm(v3Name, codec);
  if (known.settings === undefined || known.settings.includes("location"))
    return writeExtension(v3Name, configuration);
  const { location = "end", ...rest } = configuration;
  if (location === "end") return writeExtension(v3Name, rest);
  const other = known.aliases.alsoV3?.find((alias) => alias.startsWith(NUMCODECS));
  return other === undefined ? undefined : numcodecsForm(other, codec);
}

/** Writes a numcodecs codec; zarr-python needs its configuration even if it is empty. */
function numcodecsForm(name: string, codec: CodecConfig): JsonObject {
  return { name, configuration: numcodecsConfiguration(codec) };
}

function bloscConfiguration(configuration: JsonObject, itemSize: number): JsonObject {
  const { typesize = itemSize, cname = "lz4", clevel = 5, shuffle = "auto", blocksize = 0 } = configuration;
  const automatic = itemSize === 1 ? "bitshuffle" : "shuffle";
  return { typesize, cname, clevel, shuffle: shuffle === "auto" ? automatic : shuffle, blocksize };
}

/** Pointer to a codec, for errors. */
export function codecPointer({ stated }: CodecConfig, list: string, index: number): string {
  return stated?.pointer ?? pointerTo(list, index);
}

/** The byte order that a `bytes` codec states. */
export function endianOf({ configuration }: CodecConfig, pointer: string): Endian | undefined {
  const endian = member(configuration, "endian");
  return endian === undefined ? undefined : assertWord(endian, ENDIANS, pointer);
}
