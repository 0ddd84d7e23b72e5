import { codecNamed, nameOfV2 } from "../../codecs/descriptors.ts";
import { jsonEqual } from "../../util/json-equal.ts";
import { JsonNumber, type JsonObject, type JsonValue } from "../../util/json-value.ts";
import type { CodecConfig } from "../array-metadata.ts";
import { assertObject, invalid, member, refusal } from "../assert-json.ts";
import type { Losses } from "../losses.ts";

/** Shuffle modes of blosc by their number in v2, from -1 on. */
const SHUFFLES = ["auto", "noshuffle", "shuffle", "bitshuffle"];

/**
 * One filter or compressor in its normal form. Ids that are not known pass; `pickle` does not.
 *
 * @throws `invalid-metadata`, `unsupported-codec`.
 */
export function parseV2Codec(json: JsonValue, pointer: string): CodecConfig {
  const { id, ...configuration } = assertObject(json, pointer);
  const idPointer = `${pointer}/id`;
  if (typeof id !== "string") throw invalid(idPointer, "a codec needs an `id`", id);
  if (id === "pickle") {
    throw refusal(
      "unsupported-codec",
      idPointer,
      "reading `pickle` can run any code, so it is not supported",
      id,
    );
  }
  const name = nameOfV2(id);
  // The name that the normal list gives to a codec which v2 does not have.
  if (name === undefined && codecNamed(id) !== undefined) {
    throw refusal("unsupported-codec", idPointer, "the codec is not known", id);
  }
  return {
    name: name ?? id,
    configuration: canonicalConfiguration(id, configuration),
    stated: { zarrFormat: "v2", json, pointer: idPointer },
  };
}

/** A numcodecs configuration, without `id`, in its normal form. */
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

/** Settings that are numbers, and that netCDF-C before 4.10 wrote as text. */
const NUMBERS = ["elementsize", "level", "clevel", "blocksize", "shuffle"];

function isNumberAsText(name: string, value: JsonValue): value is string {
  return NUMBERS.includes(name) && typeof value === "string" && /^-?[0-9]{1,15}$/.test(value);
}

/**
 * Numbers such as `100.0`, and those of netCDF-C that are text, as JavaScript numbers; integers beyond 2^53 keep their
 * token.
 */
function plainNumbers(configuration: JsonObject): JsonObject {
  const plain = (value: JsonValue, name = ""): JsonValue => {
    if (Array.isArray(value)) return value.map((item) => plain(item));
    if (isNumberAsText(name, value)) return Number(value);
    if (!(value instanceof JsonNumber) || /^-?[0-9]+$/.test(value.text)) return value;
    return Number.isFinite(Number(value.text)) ? Number(value.text) : value;
  };
  return Object.fromEntries(Object.entries(configuration).map(([name, value]) => [name, plain(value, name)]));
}

/** The numcodecs configuration that `canonicalConfiguration` reads as this one. */
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

/** The v2 form of a codec: as v2 once stated it, where that still says the same to every reader. */
export function writeV2Codec(codec: CodecConfig, pointer: string, losses: Losses): JsonObject {
  const { stated } = codec;
  if (stated?.zarrFormat === "v2") {
    const parsed = parseV2Codec(stated.json, stated.pointer);
    const json = assertObject(stated.json, pointer);
    const hasText = Object.entries(json).some(([name, value]) => isNumberAsText(name, value));
    const isSame = parsed.name === codec.name && jsonEqual(parsed.configuration, codec.configuration);
    if (isSame && !hasText) return json;
  }
  const id = codecNamed(codec.name)?.aliases.v2;
  if (id === undefined) losses.require(pointer, `the codec \`${codec.name}\``);
  return { id: id ?? codec.name, ...numcodecsConfiguration(codec) };
}
