import { JsonNumber, type JsonObject, type JsonValue } from "../../util/json-value.ts";
import type { CodecConfig } from "../array-metadata.ts";
import { member } from "../assert-json.ts";
import { type DataType, isFixed } from "../data-type.ts";
import type { Finding } from "../format.ts";

/** Converts a numcodecs configuration, without `id`, to the canonical form. */
export function canonicalConfiguration(id: string, configuration: JsonObject): JsonObject {
  const plain = plainNumbers(configuration);
  if (id !== "blosc") return plain;
  const shuffle = member(plain, "shuffle") ?? 1;
  return {
    cname: member(plain, "cname") ?? "lz4",
    clevel: member(plain, "clevel") ?? 5,
    shuffle: (typeof shuffle === "number" && SHUFFLES[shuffle + 1]) || shuffle,
    blocksize: member(plain, "blocksize") ?? 0,
  };
}

/** Converts a canonical configuration back to numcodecs. */
export function numcodecsConfiguration({ name, configuration }: CodecConfig): JsonObject {
  if (name === "blosc") {
    const { typesize: _, shuffle = "shuffle", ...rest } = configuration;
    const number = SHUFFLES.indexOf(String(shuffle));
    return { ...rest, shuffle: number < 0 ? shuffle : number - 1 };
  }
  if (name === "zstd" && configuration.checksum === false) {
    const { checksum: _, ...rest } = configuration;
    return rest;
  }
  return configuration;
}

/** Shuffle modes of blosc by their number in v2, from -1 on. */
export const SHUFFLES = ["auto", "noshuffle", "shuffle", "bitshuffle"];

/**
 * Converts numbers such as `100.0`, and netCDF-C's numbers in text, to JavaScript numbers; large integers keep their
 * token.
 */
export function plainNumbers(configuration: JsonObject): JsonObject {
  const plain = (value: JsonValue, name = ""): JsonValue => {
    if (Array.isArray(value)) return value.map((item) => plain(item));
    if (isNumberAsText(name, value)) return Number(value);
    if (!(value instanceof JsonNumber) || /^-?[0-9]+$/.test(value.text)) return value;
    return Number.isFinite(Number(value.text)) ? Number(value.text) : value;
  };
  return Object.fromEntries(Object.entries(configuration).map(([name, value]) => [name, plain(value, name)]));
}

export function isNumberAsText(name: string, value: JsonValue): value is string {
  return NUMBERS_AS_TEXT.includes(name) && typeof value === "string" && /^-?[0-9]{1,15}$/.test(value);
}

/** Numeric settings that netCDF-C before 4.10 wrote as text. */
export const NUMBERS_AS_TEXT = ["elementsize", "level", "clevel", "blocksize", "shuffle"];

/** Prefix of the members that netCDF-C adds, in lower or upper case. */
export const PREFIX = "_nczarr_";

/** True if any member is NCZarr's, which means that netCDF-C wrote the node. */
export function isNcZarr(...members: readonly JsonObject[]): boolean {
  return members.some((object) => Object.keys(object).some((name) => name.toLowerCase().startsWith(PREFIX)));
}

/**
 * Gives `shuffle` the item size that netCDF-C uses: it writes 0 or nothing, and ignores the setting when it reads. In
 * numcodecs, 0 leaves the bytes unchanged. For other arrays, 0 stays and adds a finding, because netCDF-C can also
 * write arrays without its own members (`mode=zarr`).
 */
export function withShuffledItems(
  codecs: readonly CodecConfig[],
  dataType: DataType,
  { isOfNcZarr, findings }: { readonly isOfNcZarr: boolean; readonly findings: Finding[] },
): CodecConfig[] {
  return codecs.map((codec) => {
    const size = member(codec.configuration, "elementsize");
    if (codec.name !== "shuffle" || (size !== 0 && size !== undefined)) return codec;
    if (isOfNcZarr && isFixed(dataType)) return { ...codec, configuration: { elementsize: dataType.size } };
    if (size === 0) {
      findings.push({
        message:
          "`shuffle` with `elementsize` 0 leaves the bytes as they are. If netCDF-C wrote this array, it shuffled them by the item size, and the values read here are wrong",
        ...(codec.stated && { pointer: codec.stated.pointer }),
        kind: "values",
      });
    }
    return codec;
  });
}
