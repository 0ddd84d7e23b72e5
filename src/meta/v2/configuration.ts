import { JsonNumber, type JsonObject, type JsonValue } from "../../util/json-value.ts";
import type { CodecConfig } from "../array-metadata.ts";
import { member } from "../assert-json.ts";

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
