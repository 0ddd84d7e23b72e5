import { parseV3DataType } from "../../meta/v3/data-type.ts";
import { ZarrflowError } from "../../util/errors.ts";
import { JsonNumber, type JsonObject, type JsonValue } from "../../util/json-value.ts";
import type { CodecFactory } from "../codec.ts";
import { ConfigReader } from "../config-reader.ts";
import { type Cast, castTo, type OutOfRange, ROUNDINGS } from "./convert.ts";
import type { NumberType } from "./number-array.ts";
import { assertNames, inOption, numbersAt, scalar, valueCodec } from "./value-codec.ts";

/**
 * `cast_value`: casts each number to the same number of another type, `data_type`. Numbers between two values of the
 * type are rounded; numbers out of its range are clamped, wrapped or rejected. `scalar_map` sets the result for single
 * numbers. Decoding casts back by the same rules.
 */
export const createCastValue: CodecFactory = (configuration, { spec }) => {
  assertNames(configuration, ["data_type", "rounding", "out_of_range", "scalar_map"]);
  const settings = new ConfigReader(configuration);
  const target = settings.value("data_type");
  if (target === undefined) throw new ZarrflowError("invalid-metadata", "`data_type` is required");
  const decoded = numbersAt("cast_value", spec.dataType);
  const { dataType } = inOption("data_type", () => parseV3DataType(target, ""));
  const stored = numbersAt("cast_value", dataType);
  const rounding = settings.word("rounding", ROUNDINGS, "nearest-even");
  const outOfRange = outOfRangeOf(settings, stored);
  const map = settings.value("scalar_map") ?? {};
  return valueCodec({
    name: "cast_value",
    decoded,
    stored,
    encode: mapped(castTo(stored, rounding, outOfRange), scalars(map, "encode", decoded, stored)),
    decode: mapped(castTo(decoded, rounding, outOfRange), scalars(map, "decode", stored, decoded)),
  });
};

function outOfRangeOf(settings: ConfigReader, stored: NumberType): OutOfRange {
  const outOfRange = settings.word<OutOfRange>("out_of_range", ["clamp", "wrap", "error"], "error");
  if (outOfRange !== "wrap" || stored.kind !== "float") return outOfRange;
  throw new ZarrflowError("invalid-metadata", "`out_of_range` can be `wrap` for types of integers only");
}

/** Looks up floats by value, so that all NaNs are equal, and both zeros. */
function mapped(cast: Cast, scalars: ReadonlyMap<number | bigint, number | bigint>): Cast {
  if (scalars.size === 0) return cast;
  return (value) => scalars.get(value) ?? cast(value);
}

function scalars(
  map: JsonValue,
  name: "encode" | "decode",
  from: NumberType,
  to: NumberType,
): ReadonlyMap<number | bigint, number | bigint> {
  const pairs = isObject(map) ? new ConfigReader(map).value(name) : undefined;
  const list = pairs ?? [];
  if (!isObject(map) || !Array.isArray(list) || !list.every(isPair)) {
    throw new ZarrflowError("invalid-metadata", `\`${name}\` of \`scalar_map\` must be a list of pairs`);
  }
  assertNames(map, ["encode", "decode"]);
  const values = list.map(([a, b]): [number | bigint, number | bigint] => [
    scalar(a, from, "scalar_map"),
    scalar(b, to, "scalar_map"),
  ]);
  // If a number is listed twice, the first entry wins.
  return new Map(values.reverse());
}

function isPair(pair: JsonValue): pair is [JsonValue, JsonValue] {
  return Array.isArray(pair) && pair.length === 2;
}

function isObject(value: JsonValue): value is JsonObject {
  return (
    typeof value === "object" && value !== null && !Array.isArray(value) && !(value instanceof JsonNumber)
  );
}
