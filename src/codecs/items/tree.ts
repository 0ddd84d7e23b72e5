import { type FixedDataType, isFixed, swapItem } from "../../meta/data-type.ts";
import { writeNumpyType } from "../../meta/v2/numpy-type.ts";
import { isZarrflowError, ZarrflowError } from "../../util/errors.ts";
import { JSON_VALUES, parseJson } from "../../util/json-parse.ts";
import type { JsonValue } from "../../util/json-value.ts";
import { writeJson } from "../../util/json-write.ts";
import { product } from "../../util/shape.ts";
import type { ArrayToBytesCodec, BytesToBytesCodec, CodecContext, NestingCodecFactory } from "../codec.ts";
import { ConfigReader } from "../config-reader.ts";
import { corrupt, itemsToEncode, overrun } from "../limits.ts";
import { readMsgpack, writeMsgpack } from "./msgpack.ts";
import { jsonElements, objectText, parseObject } from "./object-values.ts";
import { mapItems, packTexts, valuesSize } from "./packed-items.ts";

/**
 * `json2` of numcodecs: a chunk as one JSON list. Writing honours the options `ensure_ascii`, `sort_keys` and
 * `allow_nan` and adds no white space. Reading accepts bare `NaN` and infinities.
 *
 * @throws `unsupported-codec` for an encoding other than UTF-8.
 */
export const createJson2: NestingCodecFactory = async (configuration, context) => {
  const settings = new ConfigReader(configuration);
  const encoding = settings.text("encoding", "utf-8");
  if (!/^(?:utf-?8|(?:us-)?ascii)$/i.test(encoding)) {
    throw new ZarrflowError("unsupported-codec", "JSON is read and written as UTF-8 only", {
      value: encoding,
    });
  }
  const options = {
    ascii: settings.flag("ensure_ascii", true) || /ascii/i.test(encoding),
    sortNames: settings.flag("sort_keys", true),
    nonFinite: settings.flag("allow_nan", true) ? "token" : "refuse",
  } as const;
  return treeCodec(
    {
      name: "json2",
      read: (bytes) => parseJson(bytes, JSON_VALUES),
      write: (tree) => new TextEncoder().encode(writeJson(tree, options)),
    },
    context,
  );
};

/**
 * `msgpack2` of numcodecs: a chunk as one MessagePack list. Bytes are read as `{"$binary": Base64}`. Data without a
 * JSON form are rejected: extensions, and names that are not text. `raw` is accepted, but texts are still read as
 * texts.
 */
export const createMsgpack2: NestingCodecFactory = async (configuration, context) => {
  const settings = new ConfigReader(configuration);
  settings.flag("raw", false);
  const options = {
    hasShortTexts: settings.flag("use_bin_type", true),
    hasSingleFloats: settings.flag("use_single_float", false),
  };
  return treeCodec(
    { name: "msgpack2", read: readMsgpack, write: (tree) => writeMsgpack(tree, options) },
    context,
  );
};

/** Encodes a tree of JSON values as bytes. */
export interface TreeFormat {
  readonly name: string;
  /** @throws `corrupt-chunk`, `codec-error`, `invalid-metadata` for bytes that are not in this format. */
  read(bytes: Uint8Array): JsonValue;
  write(tree: JsonValue): Uint8Array;
}

/**
 * Creates a codec that stores a chunk as one tree. The tree contains objects, which are JSON text between codecs; that
 * of a filter contains numbers or text.
 */
export async function treeCodec(
  format: TreeFormat,
  context: CodecContext,
): Promise<ArrayToBytesCodec | BytesToBytesCodec> {
  const { dataType } = context.spec;
  if (isFixed(dataType)) return fixedCodec(format, context, asNumbers(dataType));
  if (dataType.kind === "object") return objectCodec(format, context);
  throw new ZarrflowError(
    "invalid-metadata",
    `\`${format.name}\` cannot hold items of type ${dataType.kind} as objects`,
  );
}

function objectCodec(format: TreeFormat, { spec: { shape } }: CodecContext): ArrayToBytesCodec {
  return {
    kind: "array-to-bytes",
    name: format.name,
    encodedSize: undefined,
    scratchSize: valuesSize(shape),
    statedItems: (bytes) => readItems(format, bytes, undefined).items.length,
    decode(bytes, buffers) {
      const { items } = readItems(format, bytes, product(shape));
      const data = packTexts(texts(items), shape, bytes.length, buffers);
      buffers.give(bytes);
      return data;
    },
    encode(data, buffers) {
      const items = mapItems(format.name, data, parseObject);
      const tree = format.write(makeTree(items, "|O", shape));
      const encoded = buffers.take(tree.length);
      encoded.set(tree);
      buffers.give(data.bytes);
      return encoded;
    },
  };
}

function* texts(items: readonly JsonValue[]): Generator<string> {
  for (const item of items) yield objectText(item);
}

/** NumPy treats single bytes as numbers. */
function asNumbers(dataType: FixedDataType): FixedDataType {
  return dataType.kind === "raw" && dataType.size === 1 ? { kind: "uint", size: 1 } : dataType;
}

async function fixedCodec(
  format: TreeFormat,
  context: CodecContext,
  dataType: FixedDataType,
): Promise<BytesToBytesCodec> {
  const { parseNumpyType } = await import("../../meta/v2/data-type.ts");
  const { spec, endian } = context;
  const { name } = format;
  const elements = jsonElements(dataType);
  if (elements === undefined) {
    throw new ZarrflowError("unsupported-codec", `\`${name}\` cannot hold items of type ${dataType.kind}`);
  }
  const maxItem = elements.maxText + 1 + 3 * spec.shape.length;
  return {
    kind: "bytes-to-bytes",
    name,
    maxEncodedSize: (decodedSize) =>
      Math.ceil(decodedSize / dataType.size) * maxItem + 64 + 21 * spec.shape.length,
    // Each number is held as a JavaScript value, in lists.
    scratchSize: (decodedSize) => Math.ceil(decodedSize / dataType.size) * (maxItem + 64),
    encodeInto(source, target) {
      const items = Array.from({ length: itemsToEncode(source, dataType.size) }, (_, i) => {
        const element = source.subarray(i * dataType.size, (i + 1) * dataType.size);
        return elements.toJson(swapItem(element, dataType, endian));
      });
      const shape = items.length === product(spec.shape) ? spec.shape : [items.length];
      const encoded = format.write(makeTree(items, writeNumpyType(dataType, endian), shape));
      target.set(encoded);
      return encoded.length;
    },
    decodeInto(source, target) {
      const { items, dtype } = readItems(format, source, undefined);
      return asCorrupt(() => {
        const stored = parseNumpyType(dtype, "");
        const stated = isFixed(stored.dataType) ? jsonElements(stored.dataType) : undefined;
        if (!isFixed(stored.dataType) || stated === undefined) {
          throw corrupt("the chunk states a data type that it cannot contain", { found: String(dtype) });
        }
        const { size } = stored.dataType;
        if (items.length * size > target.length) throw overrun(target.length);
        for (const [i, item] of items.entries()) {
          target.set(swapItem(stated.toBytes(item), stored.dataType, stored.endian ?? "little"), i * size);
        }
        return items.length * size;
      });
    },
  };
}

function readItems(format: TreeFormat, bytes: Uint8Array, expected: number | undefined) {
  return asCorrupt(() => takeItems(format.read(bytes), expected));
}

/** Reports errors in the JSON of a chunk as `corrupt-chunk`. */
function asCorrupt<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (isZarrflowError(error, "invalid-metadata") || isZarrflowError(error, "unsupported-data-type")) {
      throw corrupt(error.reason, {}, { cause: error });
    }
    throw error;
  }
}

/**
 * The tree that `json2` and `msgpack2` of numcodecs store, each in its own encoding: one list of the items, nested by
 * shape, then the NumPy name of their type, then the shape.
 */

/** The items of a chunk in C order, and the type that the chunk states. */
export interface TreeItems {
  readonly items: readonly JsonValue[];
  readonly dtype: JsonValue;
}

/** @throws `corrupt-chunk` for another layout, or if the number of items differs from `expected`, if given. */
export function takeItems(tree: JsonValue, expected: number | undefined): TreeItems {
  const dtype = Array.isArray(tree) ? tree.at(-2) : undefined;
  const shape = Array.isArray(tree) ? tree.at(-1) : undefined;
  if (!Array.isArray(tree) || dtype === undefined || !isShape(shape)) {
    throw corrupt("the chunk is not a list that ends with a type and a shape");
  }
  if (expected !== undefined && product(shape) !== expected) {
    throw corrupt("the chunk has the wrong number of items", { expected, found: product(shape) });
  }
  const nested = tree.slice(0, -2);
  return { items: shape.length === 0 ? only(nested) : flatten(nested, shape), dtype };
}

/** Builds the tree from items in C order. */
export function makeTree(
  items: readonly JsonValue[],
  dtype: JsonValue,
  shape: readonly number[],
): JsonValue[] {
  let level: JsonValue[] = [...items];
  for (const n of shape.slice(1).reverse()) {
    level = Array.from({ length: n === 0 ? 0 : level.length / n }, (_, i) => level.slice(i * n, (i + 1) * n));
  }
  return [...level, dtype, [...shape]];
}

function isShape(value: JsonValue | undefined): value is number[] {
  return Array.isArray(value) && value.every((n) => Number.isInteger(n) && Number(n) >= 0);
}

function only(items: JsonValue[]): JsonValue[] {
  if (items.length === 1) return items;
  throw corrupt("the chunk has the wrong number of items", { expected: 1, found: items.length });
}

function flatten(nested: readonly JsonValue[], shape: readonly number[]): readonly JsonValue[] {
  let level = assertLength(nested, shape[0] ?? 0);
  for (const n of shape.slice(1)) level = level.flatMap((list) => assertLength(list, n));
  return level;
}

function assertLength(list: JsonValue | readonly JsonValue[], length: number): readonly JsonValue[] {
  if (Array.isArray(list) && list.length === length) return list;
  const found = Array.isArray(list) ? list.length : typeof list;
  throw corrupt("the nesting of the items does not match their shape", { expected: length, found });
}
