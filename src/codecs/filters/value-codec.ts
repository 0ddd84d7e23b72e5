import type { DataType } from "../../meta/data-type.ts";
import { parseFillV3 } from "../../meta/v3/fill-value.ts";
import type { Buffers } from "../../util/bytes.ts";
import { isZarrflowError, ZarrflowError } from "../../util/errors.ts";
import type { JsonObject, JsonValue } from "../../util/json-value.ts";
import type { ChunkData } from "../chunk-data.ts";
import type { ArrayToArrayCodec } from "../codec.ts";
import {
  type BigArray,
  copySize,
  dataTypeOf,
  isBig,
  type NumberArray,
  type NumberType,
  numberTypeOf,
  readNumbers,
  writeNumbers,
} from "./number-array.ts";

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
    throw new ZarrflowError("invalid-metadata", "the fill value changes when it is encoded and decoded", {
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
    `\`${name}\` computes with integers and floats, not with items of type ${dataType.kind}`,
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
