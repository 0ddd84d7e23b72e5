import { isJsonObject } from "../../meta/assert-json.ts";
import type { DataType } from "../../meta/data-type.ts";
import { integerRange, numberKindOf } from "../../meta/number-kinds.ts";
import { parseV3DataType } from "../../meta/v3/data-type.ts";
import { parseFillV3 } from "../../meta/v3/fill-value.ts";
import type { Buffers } from "../../util/bytes.ts";
import { isZarrflowError, ZarrflowError } from "../../util/errors.ts";
import type { JsonObject, JsonValue } from "../../util/json-value.ts";
import type { ChunkData } from "../chunk-data.ts";
import type { ArrayToArrayCodec, CodecFactory } from "../codec.ts";
import { ConfigReader } from "../config-reader.ts";
import { type Cast, castTo, type OutOfRange, ROUNDINGS } from "./convert.ts";
import {
  type BigArray,
  copySize,
  dataTypeOf,
  isBig,
  keeper,
  type NumberArray,
  type NumberType,
  numberTypeOf,
  readNumbers,
  writeNumbers,
} from "./number-array.ts";

/**
 * `scale_offset`: encodes to `(value - offset) * scale` in the arithmetic of the array's own type, and decodes to
 * `value / scale + offset`. Rejects numbers if an integer type cannot hold an intermediate result.
 */
export const createScaleOffset: CodecFactory = (configuration, { spec }) => {
  assertNames(configuration, ["offset", "scale"]);
  const type = numbersAt("scale_offset", spec.dataType);
  const settings = new ConfigReader(configuration);
  const scale = scalar(settings.value("scale") ?? 1, type, "scale");
  const offset = scalar(settings.value("offset") ?? 0, type, "offset");
  const coding =
    type.kind === "float" ? floats(type, Number(scale), Number(offset)) : integers(type, scale, offset);
  return valueCodec({ name: "scale_offset", decoded: type, stored: type, ...coding });
};

function floats(type: NumberType, scale: number, offset: number) {
  const keep = keeper(type);
  return {
    encode: (value: number | bigint) => keep(keep(Number(value) - offset) * scale),
    decode: (value: number | bigint) => keep(keep(Number(value) / scale) + offset),
  };
}

function integers(type: NumberType, scale: number | bigint, offset: number | bigint) {
  const { least, most } = integerRange(numberKindOf(type));
  const factor = BigInt(scale);
  const start = BigInt(offset);
  const inRange = (value: bigint) => {
    if (value >= least && value <= most) return value;
    throw notHeld(value, type);
  };
  const keep = (value: bigint) => (type.size === 8 ? inRange(value) : Number(inRange(value)));
  return {
    encode: (value: number | bigint) => keep(inRange(BigInt(value) - start) * factor),
    decode(value: number | bigint) {
      const whole = BigInt(value);
      if (factor === 0n || whole % factor !== 0n) throw notHeld(`${whole} / ${factor}`, type);
      return keep(inRange(whole / factor) + start);
    },
  };
}

function notHeld(value: bigint | string, type: NumberType): ZarrflowError {
  return new ZarrflowError("codec-error", `${value} is not a value of ${numberKindOf(type).name}`);
}

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
  throw new ZarrflowError("invalid-metadata", "`out_of_range` can be `wrap` only for integer types");
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
  const pairs = isJsonObject(map) ? new ConfigReader(map).value(name) : undefined;
  const list = pairs ?? [];
  if (!isJsonObject(map) || !Array.isArray(list) || !list.every(isPair)) {
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

/** Computes one number from another; 64-bit integers are bigints. */
type Compute = (value: number | bigint) => number | bigint;

/** Computes each number of an array from a number of another array. */
export interface ValueCoding {
  readonly name: string;
  /** Type of the numbers before encoding. */
  readonly decoded: NumberType;
  /** Type of the encoded numbers. */
  readonly stored: NumberType;
  readonly encode: Compute;
  readonly decode: Compute;
}

/**
 * Creates the array -> array codec for a computation. Works in place if both types have the same size.
 *
 * @throws (the codec's `encodedSpec`) `invalid-metadata` if the fill value does not survive a round trip.
 */
export function valueCodec({ name, decoded, stored, encode, decode }: ValueCoding): ArrayToArrayCodec {
  return {
    kind: "array-to-array",
    name,
    itemScratchSize: copySize(decoded) + copySize(stored),
    encodedSpec: (spec) => ({
      ...spec,
      dataType: dataTypeOf(stored),
      fillValue: spec.fillValue && encodedFill(spec.fillValue),
    }),
    encode: (data, buffers) => convert(data, decoded, stored, encode, buffers),
    decode: (data, buffers) => convert(data, stored, decoded, decode, buffers),
  };

  function encodedFill(fill: Uint8Array): Uint8Array {
    const [value] = readNumbers(fill, decoded);
    const bytes = new Uint8Array(stored.size);
    try {
      if (value !== undefined) {
        put(bytes, stored, encode(value));
        const again = new Uint8Array(decoded.size);
        put(again, decoded, decode(readNumbers(bytes, stored)[0] ?? 0));
        const [back] = readNumbers(again, decoded);
        if (back === value || (Number.isNaN(value) && Number.isNaN(back))) return bytes;
      }
    } catch (cause) {
      throw new ZarrflowError("invalid-metadata", "the fill value cannot be encoded", { value }, { cause });
    }
    throw new ZarrflowError("invalid-metadata", "the fill value changes when encoded and decoded", {
      value,
    });
  }
}

function put(bytes: Uint8Array, type: NumberType, value: number | bigint): void {
  writeNumbers(bytes, type, 1, (numbers) => {
    numbers[0] = value;
  });
}

function convert(
  data: ChunkData,
  from: NumberType,
  to: NumberType,
  compute: Compute,
  buffers: Buffers,
): ChunkData {
  if (data.kind !== "fixed") throw new ZarrflowError("codec-error", "the codec needs numbers");
  const items = data.bytes.length / from.size;
  const isInPlace = from.size === to.size;
  const bytes = isInPlace ? data.bytes : buffers.take(items * to.size);
  try {
    writeNumbers(bytes, to, items, (numbers) => computeAll(readNumbers(data.bytes, from), numbers, compute));
  } catch (error) {
    if (!isInPlace) buffers.give(bytes);
    throw error;
  }
  if (!isInPlace) buffers.give(data.bytes);
  return { ...data, bytes, itemSize: to.size };
}

function computeAll(from: NumberArray | BigArray, to: NumberArray | BigArray, compute: Compute): void {
  if (isBig(to)) for (let i = 0; i < to.length; i++) to[i] = compute(from[i] as number | bigint) as bigint;
  else for (let i = 0; i < to.length; i++) to[i] = compute(from[i] as number | bigint) as number;
}

/**
 * Reads a number in the form of v3 fill values.
 *
 * @throws `invalid-metadata`
 */
export function scalar(json: JsonValue, type: NumberType, option: string): number | bigint {
  // The specification of the codec uses this form; fill values do not.
  const plain = json === "+Infinity" ? "Infinity" : json;
  const bytes = inOption(option, () => parseFillV3(plain, dataTypeOf(type), "little", ""));
  return readNumbers(bytes, type)[0] ?? 0;
}

/** Calls `read` and names the option in its errors. The chain adds the place in the document. */
export function inOption<T>(option: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (!isZarrflowError(error)) throw error;
    const { value, hint } = error.details;
    const details = { value, ...(hint !== undefined && { hint }) };
    const reason = `\`${option}\`: ${error.reason}`;
    throw ZarrflowError.like({ code: error.code, reason, details }, { cause: error });
  }
}

/**
 * The type of the numbers at the codec's place.
 *
 * @throws `invalid-metadata` if the items are not numbers.
 */
export function numbersAt(name: string, dataType: DataType): NumberType {
  const type = numberTypeOf(dataType);
  if (type) return type;
  throw new ZarrflowError(
    "invalid-metadata",
    `\`${name}\` supports integers and floats, not items of type ${dataType.kind}`,
  );
}

/**
 * Checks that all members of a configuration are known: an unknown one could change the meaning of the data.
 *
 * @throws `invalid-metadata`
 */
export function assertNames(configuration: JsonObject, names: readonly string[]): void {
  const other = Object.keys(configuration).find((name) => !names.includes(name));
  if (other === undefined) return;
  throw new ZarrflowError("invalid-metadata", `\`${other}\` is not an option of the codec`, {
    hint: `Its settings are ${names.join(", ")}.`,
  });
}
