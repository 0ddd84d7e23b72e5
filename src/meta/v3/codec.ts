import { codecNamed, nameOfV3 } from "../../codecs/catalog.ts";
import { type JsonObject, type JsonValue, jsonEqual, pointerTo } from "../../util/json-value.ts";
import type { CodecConfig } from "../array-metadata.ts";
import { assertWord, member, required } from "../assert-json.ts";
import type { DataType, Endian } from "../data-type.ts";
import { type Extension, parseExtension, writeExtension } from "../extension.ts";
import type { Finding } from "../format.ts";
import { canonicalConfiguration, numcodecsConfiguration } from "../v2/configuration.ts";
import { numpyItemSize, writeNumpyType } from "../v2/numpy-type.ts";
import { parseV3DataType, plainV3Type, type V3DataType } from "./data-type.ts";

const BYTE_ORDERS = ["little", "big"] as const;

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
  return endian === undefined ? undefined : assertWord(endian, BYTE_ORDERS, pointer);
}

/**
 * True for item filters. In v3 they are array -> array codecs before `bytes`; in the canonical list they are bytes ->
 * bytes codecs after it. Moving them keeps the encoded bytes if their item types have the byte order of `bytes`. The
 * canonical list uses that order; the order in v3's item types is ignored.
 */
export function isItemFilter({ name }: CodecConfig): boolean {
  return codecNamed(name)?.itemFilter !== undefined;
}

/** Settings with a filter's input and output item types. */
const INPUTS = ["dtype", "decode_dtype"];
const OUTPUTS = ["astype", "encode_dtype"];

/** NumPy's name for the items that `bytes` writes; undefined for items that filters cannot process. */
export function itemType(dataType: DataType, endian: Endian | undefined): string | undefined {
  const type = writeNumpyType(dataType, endian);
  return typeof type === "string" && type !== "|O" ? type : undefined;
}

/** Sets the byte order of a filter's item types to `endian`, and fills in an omitted input type. */
export function placeFilter(filter: CodecConfig, type: string | undefined, endian: Endian): CodecConfig {
  const { name, configuration } = filter;
  const input = codecNamed(name)?.itemFilter?.input;
  const complete =
    input === undefined || type === undefined || Object.hasOwn(configuration, input)
      ? configuration
      : { ...configuration, [input]: type };
  return { ...filter, configuration: inOrder(complete, endian === "big" ? ">" : "<") };
}

/** Sets the byte order of type strings to `mark`; also converts names such as `float64`, which some writers use. */
function inOrder(configuration: JsonObject, mark: "<" | ">"): JsonObject {
  const reorder = (value: JsonValue): JsonValue => {
    if (typeof value !== "string") return value;
    const plain = plainV3Type(value);
    const type = plain ? String(writeNumpyType(plain, "little")) : value;
    return type.replace(/^[<>]/, mark);
  };
  const members = Object.entries(configuration).map(([name, value]): [string, JsonValue] => [
    name,
    INPUTS.includes(name) || OUTPUTS.includes(name) ? reorder(value) : value,
  ]);
  return Object.fromEntries(members);
}

/** The item types before and after a placed filter. */
export function filterTypes({ name, configuration }: CodecConfig, type: string | undefined) {
  const named = (names: readonly string[]) =>
    names.map((one) => member(configuration, one)).find((value) => typeof value === "string");
  const input = named(INPUTS) ?? type;
  return { input, output: codecNamed(name)?.itemFilter?.output ?? named(OUTPUTS) ?? input };
}

/**
 * Writes filters after `bytes` in v3's form, and returns the byte order that `bytes` then needs; undefined if
 * impossible.
 */
export function writeFilters(
  filters: readonly CodecConfig[],
  dataType: DataType,
  endian: Endian | undefined,
):
  | { readonly json: JsonValue[]; readonly endian: Endian | undefined; readonly itemSize: number }
  | undefined {
  let type = itemType(dataType, endian);
  let order = endian;
  const written: { readonly stated: JsonValue | undefined; readonly filter: CodecConfig }[] = [];
  for (const filter of filters) {
    const { input, output } = filterTypes(filter, type);
    if (input === undefined || type === undefined || !sameItems(input, type)) return undefined;
    const before = type;
    const place = order ?? "little";
    written.push({ stated: statedV3Codec(filter, (stated) => placeFilter(stated, before, place)), filter });
    type = output;
    if (type?.startsWith("<")) order = "little";
    if (type?.startsWith(">")) order = "big";
  }
  // Use the byte order of `bytes`: zarr-python reinterprets its decoded output as the named type.
  const mark = order === "big" ? ">" : "<";
  const json = written.map(
    ({ stated, filter: { name, configuration } }) =>
      stated ?? {
        name: codecNamed(name)?.aliases.v3 ?? name,
        configuration: inOrder(configuration, mark),
      },
  );
  return { json, endian: order, itemSize: numpyItemSize(type) ?? 1 };
}

/** True if items of both types have the same size and byte order. */
function sameItems(a: string, b: string): boolean {
  return a[0] === b[0] && numpyItemSize(a) === numpyItemSize(b);
}

/**
 * The data type after the casts in `codecs`, a list at `pointer`.
 *
 * @throws `invalid-metadata`, `unsupported-data-type` at a cast.
 */
export function typeAfter(type: V3DataType, codecs: readonly CodecConfig[], pointer: string): V3DataType {
  return codecs.reduce((before, codec, i) => {
    if (codec.name !== "cast_value") return before;
    const at = `${codecPointer(codec, pointer, i)}/configuration`;
    return parseV3DataType(required(codec.configuration, "data_type", at), `${at}/data_type`);
  }, type);
}
