import { ZarrflowError } from "../../util/errors.ts";
import { JsonNumber, type JsonValue } from "../../util/json-value.ts";
import { formatFloat } from "../../util/json-write.ts";
import type { ArrayToBytesCodec, CodecFactory } from "../codec.ts";
import { corrupt } from "../failures.ts";
import { isBig, readNumbers, writeNumbers } from "../numbers/number-array.ts";
import { type NumberType, numberType } from "../numbers/number-type.ts";
import { Settings } from "../settings.ts";
import { itemViews, packItems } from "./packed-items.ts";
import { parseItem } from "./tree-codec.ts";
import { vlenCodec } from "./vlen.ts";

/**
 * `vlen-array` of numcodecs: lists of numbers of one type, each as long as it likes, in the layout of `vlen-bytes`. As
 * an object an item is the JSON list of its numbers, with bare tokens for what is not finite.
 *
 * @see V2-56
 */
export const createVlenArray: CodecFactory = (configuration, context) => {
  const type = numberType(new Settings(configuration), "dtype");
  const name = "vlen-array";
  const packed = vlenCodec(name, context, "object", () => {});
  return {
    ...packed,
    decode(bytes, buffers) {
      const data = packed.decode(bytes, buffers);
      const encoder = new TextEncoder();
      const texts = itemViews(name, data).map((item) => encoder.encode(listText(item, type)));
      const lists = packItems(texts, data.shape, buffers);
      buffers.give(bytes);
      return lists;
    },
    encode(data, buffers) {
      const items = itemViews(name, data).map((text, i) => listBytes(parseItem(text), type, i));
      const lists = packItems(items, data.shape, buffers);
      const encoded = packed.encode(lists, buffers);
      buffers.give(data.bytes);
      return encoded;
    },
  } satisfies ArrayToBytesCodec;
};

function listText(item: Uint8Array, type: NumberType): string {
  if (item.length % type.size !== 0) {
    throw corrupt(`an item of ${item.length} bytes is no list of numbers of ${type.size}`);
  }
  const numbers = readNumbers(item, type);
  const texts = isBig(numbers)
    ? Array.from(numbers, String)
    : Array.from(numbers, type.kind === "float" ? formatFloat : String);
  return `[${texts.join(",")}]`;
}

/** The numbers' bytes; `null`, which NumPy has for none, is an empty list. */
function listBytes(item: JsonValue, type: NumberType, index: number): Uint8Array {
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
        const number = value instanceof JsonNumber ? Number(value.text) : value;
        if (typeof number !== "number") throw noNumbers(index);
        numbers[i] = number;
        if (type.kind !== "float" && numbers[i] !== number) throw noNumbers(index);
      }
    }
  });
  return bytes;
}

function integerOf(value: JsonValue): bigint | undefined {
  if (Number.isInteger(value)) return BigInt(value as number);
  return value instanceof JsonNumber && /^-?[0-9]+$/.test(value.text) ? BigInt(value.text) : undefined;
}

function noNumbers(index: number): ZarrflowError {
  return new ZarrflowError("codec-error", `item ${index} is no list of numbers that the type holds`);
}
