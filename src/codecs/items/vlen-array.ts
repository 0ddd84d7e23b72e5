import { ZarrflowError } from "../../util/errors.ts";
import { JsonNumber, type JsonValue } from "../../util/json-value.ts";
import { formatFloat } from "../../util/json-write.ts";
import type { VariableData } from "../chunk-data.ts";
import type { ArrayToBytesCodec, CodecFactory } from "../codec.ts";
import { ConfigReader } from "../config-reader.ts";
import { isBig, type NumberType, numberType, readNumbers, writeNumbers } from "../filters/number-array.ts";
import { corrupt } from "../limits.ts";
import { parseObject } from "./object-values.ts";
import { mapItems, packItems, packTexts, valuesSize } from "./packed-items.ts";
import { vlenCodec } from "./vlen.ts";

/** Type of the numbers in the lists; booleans are stored as one-byte numbers. */
interface ListType extends NumberType {
  readonly isBool?: boolean;
}

const BOOL: ListType = { kind: "uint", size: 1, endian: "little", isBool: true };

/**
 * `vlen-array` of numcodecs: lists of numbers or booleans of one type and of any length, in the layout of `vlen-bytes`.
 * As an object, each item is a JSON list, with bare tokens for numbers that are not finite.
 */
export const createVlenArray: CodecFactory = (configuration, context) => {
  const settings = new ConfigReader(configuration);
  const type: ListType = settings.value("dtype") === "|b1" ? BOOL : numberType(settings, "dtype");
  const name = "vlen-array";
  const packed = vlenCodec(name, context, "object", () => {});
  return {
    ...packed,
    scratchSize: valuesSize(context.spec.shape),
    decode(bytes, buffers) {
      const data = packed.decode(bytes, buffers);
      const lists = packTexts(texts(data, type), data.shape, 2 * bytes.length, buffers);
      buffers.give(bytes);
      return lists;
    },
    encode(data, buffers) {
      const items = mapItems(name, data, (text, i) => listBytes(parseObject(text), type, i));
      const lists = packItems(items, data.shape, buffers);
      const encoded = packed.encode(lists, buffers);
      buffers.give(data.bytes);
      return encoded;
    },
  } satisfies ArrayToBytesCodec;
};

function* texts({ bytes, offsets }: VariableData, type: ListType): Generator<string> {
  for (let i = 0; i + 1 < offsets.length; i++) {
    yield listText(bytes.subarray(offsets[i], offsets[i + 1]), type);
  }
}

function listText(item: Uint8Array, type: ListType): string {
  if (item.length % type.size !== 0) {
    throw corrupt(`an item of ${item.length} bytes is not a list of numbers of ${type.size}`);
  }
  const numbers = readNumbers(item, type);
  const texts = isBig(numbers) ? Array.from(numbers, String) : Array.from(numbers, textOf(type));
  return `[${texts.join(",")}]`;
}

function textOf({ kind, isBool }: ListType): (number: number) => string {
  if (isBool) return (number) => String(number !== 0);
  return kind === "float" ? formatFloat : String;
}

/** The bytes of a list of numbers; `null`, which NumPy uses for no list, is encoded as an empty list. */
function listBytes(item: JsonValue, type: ListType, index: number): Uint8Array {
  const list = item ?? [];
  if (!Array.isArray(list)) throw noNumbers(index);
  const bytes = new Uint8Array(list.length * type.size);
  writeNumbers(bytes, type, list.length, (numbers) => {
    for (const [i, value] of list.entries()) {
      if (isBig(numbers)) {
        const number = integerOf(value);
        numbers[i] = number ?? 0n;
        if (number === undefined || numbers[i] !== number) throw noNumbers(index);
      } else {
        const number = type.isBool ? boolNumber(value) : numberOf(value);
        if (number === undefined) throw noNumbers(index);
        numbers[i] = number;
        if (type.kind !== "float" && numbers[i] !== number) throw noNumbers(index);
      }
    }
  });
  return bytes;
}

function boolNumber(value: JsonValue): number | undefined {
  return typeof value === "boolean" ? Number(value) : undefined;
}

function numberOf(value: JsonValue): number | undefined {
  const number = value instanceof JsonNumber ? Number(value.text) : value;
  return typeof number === "number" ? number : undefined;
}

function integerOf(value: JsonValue): bigint | undefined {
  if (Number.isInteger(value)) return BigInt(value as number);
  return value instanceof JsonNumber && /^-?[0-9]+$/.test(value.text) ? BigInt(value.text) : undefined;
}

function noNumbers(index: number): ZarrflowError {
  return new ZarrflowError(
    "codec-error",
    `item ${index} is not a list of numbers in the range of the data type`,
  );
}
