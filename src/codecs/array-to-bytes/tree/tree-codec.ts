import { type FixedDataType, isFixed } from "../../../meta/data-type.ts";
import { swapElement } from "../../../meta/element-order.ts";
import { writeNumpyType } from "../../../meta/v2/numpy-type.ts";
import { isZarrflowError, ZarrflowError } from "../../../util/errors.ts";
import type { JsonValue } from "../../../util/json-value.ts";
import { product } from "../../../util/shape.ts";
import type { ArrayToBytesCodec, BytesToBytesCodec, CodecContext } from "../../codec.ts";
import { corrupt, overrun } from "../../failures.ts";
import { itemsToEncode } from "../../item-count.ts";
import { objectText, parseObject } from "../../object-values.ts";
import { mapItems, packTexts, valuesSize } from "../packed-items.ts";
import { makeTree, takeItems } from "./item-tree.ts";
import { jsonElements } from "./json-elements.ts";

/** Encodes a tree of JSON values as bytes. */
export interface TreeFormat {
  readonly name: string;
  /** @throws `corrupt-chunk`, `codec-error`, `invalid-metadata` for bytes that are not in this format. */
  read(bytes: Uint8Array): JsonValue;
  write(tree: JsonValue): Uint8Array;
}

/**
 * Creates a codec that stores a chunk as one tree: a tree of objects, held as JSON text between codecs, or, as a
 * filter, of numbers or texts.
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
  const { parseNumpyType } = await import("../../../meta/v2/data-type.ts");
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
        return elements.toJson(swapElement(element, dataType, endian));
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
          target.set(swapElement(stated.toBytes(item), stored.dataType, stored.endian ?? "little"), i * size);
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
