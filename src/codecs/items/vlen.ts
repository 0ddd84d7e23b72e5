import type { DataType } from "../../meta/data-type.ts";
import type { Buffers } from "../../util/bytes.ts";
import { ZarrflowError } from "../../util/errors.ts";
import { JsonNumber, type JsonValue } from "../../util/json-value.ts";
import { formatFloat } from "../../util/json-write.ts";
import { product } from "../../util/shape.ts";
import type { ChunkData, VariableData } from "../chunk-data.ts";
import type { ArrayToBytesCodec, CodecContext, CodecFactory } from "../codec.ts";
import { ConfigReader } from "../config-reader.ts";
import { isBig, type NumberType, numberType, readNumbers, writeNumbers } from "../filters/number-array.ts";
import { wordView } from "../kernels/swap-bytes.ts";
import { corrupt } from "../limits.ts";
import { parseObject } from "./object-values.ts";
import { assertStrings, assertVariable, mapItems, packItems, packTexts, valuesSize } from "./packed-items.ts";

const COUNT_SIZE = 4;
const LENGTH_SIZE = 4;

export interface VlenCodec extends ArrayToBytesCodec {
  decode(bytes: Uint8Array, buffers: Buffers): VariableData;
  encode(data: ChunkData, buffers: Buffers): Uint8Array;
}

/**
 * Items of varying length: their count as u32le, then each item after its length as u32le. Decoding packs the items in
 * place.
 *
 * @param check called with the packed items before they are returned.
 */
export function vlenCodec(
  name: string,
  { spec: { dataType, shape } }: CodecContext,
  kind: DataType["kind"],
  check: (data: VariableData) => void,
): VlenCodec {
  if (dataType.kind !== kind) {
    throw new ZarrflowError("invalid-metadata", `\`${name}\` cannot hold items of type ${dataType.kind}`);
  }
  const items = product(shape);
  return {
    kind: "array-to-bytes",
    name,
    encodedSize: undefined,
    statedItems: countOf,
    decode(bytes) {
      const data: VariableData = { kind: "variable", ...pack(bytes, items), shape };
      check(data);
      return data;
    },
    encode: (data, buffers) => unpack(name, data, buffers),
  };
}

/** Moves the items together, over their lengths. Checks all lengths before it moves a byte. */
function pack(bytes: Uint8Array, items: number): { bytes: Uint8Array; offsets: Uint32Array } {
  const count = countOf(bytes);
  if (count !== items) {
    throw corrupt("the chunk has the wrong number of items", { expected: items, found: count });
  }
  const words = wordView(bytes);
  const offsets = new Uint32Array(items + 1);
  let s = COUNT_SIZE;
  for (let i = 0; i < items; i++) {
    const length = s + LENGTH_SIZE <= bytes.length ? words.getUint32(s, true) : Number.POSITIVE_INFINITY;
    s += LENGTH_SIZE + length;
    if (s > bytes.length) throw corrupt(`item ${i} extends beyond the chunk`, { found: bytes.length });
    offsets[i + 1] = (offsets[i] as number) + length;
  }
  if (s < bytes.length) {
    throw corrupt("extra bytes follow the last item", { expected: s, found: bytes.length });
  }
  for (let i = 0; i < items; i++) {
    const start = offsets[i] as number;
    const from = COUNT_SIZE + LENGTH_SIZE * (i + 1) + start;
    bytes.copyWithin(start, from, from + (offsets[i + 1] as number) - start);
  }
  return { bytes: bytes.subarray(0, offsets[items]), offsets };
}

/** Reads the count at the start and checks it against the available bytes: each item has at least a length. */
function countOf(bytes: Uint8Array): number {
  if (bytes.length < COUNT_SIZE) {
    throw corrupt("the item count is truncated", { expected: COUNT_SIZE, found: bytes.length });
  }
  const count = wordView(bytes).getUint32(0, true);
  const least = COUNT_SIZE + LENGTH_SIZE * count;
  if (bytes.length >= least) return count;
  throw corrupt("the items are truncated", { expected: `at least ${least} bytes`, found: bytes.length });
}

function unpack(name: string, data: ChunkData, buffers: Buffers): Uint8Array {
  const { offsets } = assertVariable(name, data);
  const items = offsets.length - 1;
  const first = offsets[0] ?? 0;
  const encoded = buffers.take(COUNT_SIZE + LENGTH_SIZE * items + (offsets[items] ?? 0) - first);
  const words = wordView(encoded);
  words.setUint32(0, items, true);
  let t = COUNT_SIZE;
  for (let i = 0; i < items; i++) {
    const start = offsets[i] as number;
    const end = offsets[i + 1] as number;
    words.setUint32(t, end - start, true);
    encoded.set(data.bytes.subarray(start, end), t + LENGTH_SIZE);
    t += LENGTH_SIZE + end - start;
  }
  buffers.give(data.bytes);
  return encoded;
}

/** `vlen-bytes`: any bytes. */
export const createVlenBytes: CodecFactory = (_, context) =>
  vlenCodec("vlen-bytes", context, "binary", () => {});

/** `vlen-utf8`: strings as UTF-8, each checked on its own. */
export const createVlenUtf8: CodecFactory = (_, context) =>
  vlenCodec("vlen-utf8", context, "string", assertStrings);

/** Type of the numbers in the lists; booleans are stored as one-byte numbers. */
type ListType = NumberType & { readonly isBool?: boolean };

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
