import { type FixedDataType, isFixed, swapItem } from "../../meta/data-type.ts";
import { parseTextFill } from "../../meta/fill-values.ts";
import { integerRange, numberKindOf } from "../../meta/number-kinds.ts";
import { ZarrflowError } from "../../util/errors.ts";
import { product } from "../../util/shape.ts";
import type { ArrayToBytesCodec, BytesToBytesCodec, CodecContext, CodecFactory } from "../codec.ts";
import { ConfigReader } from "../config-reader.ts";
import { mapItems, packItems } from "../items/packed-items.ts";
import { corrupt, itemsToDecode, itemsToEncode, overrun } from "../limits.ts";
import { dataTypeOf, type NumberType, numberType, readNumbers, writeNumbers } from "./number-array.ts";

/** Represents texts as numbers: 1 for the first label, and so on; 0 for any other text, which reads as "". */
interface Categories {
  readonly labels: readonly string[];
  /** Type of the numbers. */
  readonly codes: NumberType;
}

/**
 * `categorize` of numcodecs: stores each text as the number of its label in `labels`, of type `astype`. It converts
 * strings to bytes. For texts of fixed size it is a filter and cuts labels to their size.
 */
export const createCategorize: CodecFactory = (configuration, context) => {
  const settings = new ConfigReader(configuration);
  const labels = settings.value("labels");
  if (!Array.isArray(labels) || !labels.every((label) => typeof label === "string")) {
    throw new ZarrflowError("invalid-metadata", "`labels` must be a list of strings", { setting: "labels" });
  }
  const codes = numberType(settings, "astype", { kind: "uint", size: 1, endian: "little" });
  const { dataType } = context.spec;
  if (dataType.kind === "string") return ofStrings({ labels, codes }, context);
  if (isFixed(dataType) && (dataType.kind === "fixed-text" || dataType.kind === "raw")) {
    return ofFixedText({ labels, codes }, textType(settings, dataType.size), settings.text("dtype"));
  }
  throw new ZarrflowError("invalid-metadata", `\`categorize\` cannot hold items of type ${dataType.kind}`);
};

/** The type of the texts; the configuration decides if the item type is not known. */
function textType(settings: ConfigReader, itemSize: number): FixedDataType {
  const dtype = settings.text("dtype");
  const [, characters] = /^[<>=]U([1-9][0-9]*)$/.exec(dtype) ?? [];
  const size = 4 * Number(characters);
  if (characters !== undefined && (itemSize === 1 || itemSize === size)) return { kind: "fixed-text", size };
  throw new ZarrflowError("invalid-metadata", "`dtype` does not match the data type of the items", {
    setting: "dtype",
    value: dtype,
  });
}

function ofStrings({ labels, codes }: Categories, { spec: { shape } }: CodecContext): ArrayToBytesCodec {
  const items = product(shape);
  const encoder = new TextEncoder();
  const texts = labels.map((label) => encoder.encode(label));
  const none = new Uint8Array(0);
  const codeOf = codesByText(texts, codes);
  return {
    kind: "array-to-bytes",
    name: "categorize",
    encodedSize: items * codes.size,
    encodedDataType: dataTypeOf(codes),
    statedItems: (bytes) => Math.floor(bytes.length / codes.size),
    decode(bytes, buffers) {
      if (bytes.length !== items * codes.size) {
        throw corrupt("the chunk has the wrong number of items", {
          expected: items,
          found: bytes.length / codes.size,
        });
      }
      const numbers = readNumbers(bytes, codes);
      const found = Array.from({ length: items }, (_, i) => texts[Number(numbers[i]) - 1] ?? none);
      const data = packItems(found, shape, buffers);
      buffers.give(bytes);
      return data;
    },
    encode(data, buffers) {
      const found = mapItems("categorize", data, codeOf);
      const encoded = buffers.take(found.length * codes.size);
      writeCodes(encoded, codes, found);
      buffers.give(data.bytes);
      return encoded;
    },
  };
}

function ofFixedText(
  { labels, codes }: Categories,
  { size }: FixedDataType,
  dtype: string,
): BytesToBytesCodec {
  const endian = dtype.startsWith(">") ? "big" : "little";
  const texts = labels.map((label) =>
    swapItem(codePoints(label, size), { kind: "fixed-text", size }, endian),
  );
  // A label longer than the texts matches none of them.
  const codeOf = codesByText(
    texts.map((text, i) => ([...(labels[i] ?? "")].length * 4 > size ? undefined : text)),
    codes,
  );
  const encodedSize = (decodedSize: number) => Math.floor(decodedSize / size) * codes.size;
  return {
    kind: "bytes-to-bytes",
    name: "categorize",
    encodedDataType: dataTypeOf(codes),
    maxEncodedSize: encodedSize,
    fixedEncodedSize: encodedSize,
    statedDecodedSize: (source) => Math.floor(source.length / codes.size) * size,
    scratchSize: (decodedSize) => 8 * Math.ceil(decodedSize / size),
    encodeInto(source, target) {
      const items = itemsToEncode(source, size);
      const found = Array.from({ length: items }, (_, i) =>
        codeOf(source.subarray(i * size, (i + 1) * size)),
      );
      writeCodes(target.subarray(0, items * codes.size), codes, found);
      return items * codes.size;
    },
    decodeInto(source, target) {
      const items = itemsToDecode(source, codes.size);
      if (items * size > target.length) throw overrun(target.length);
      const numbers = readNumbers(source, codes);
      target.fill(0, 0, items * size);
      for (let i = 0; i < items; i++) {
        const text = texts[Number(numbers[i]) - 1];
        if (text) target.set(text, i * size);
      }
      return items * size;
    },
  };
}

/** Finds the code of a text by its bytes; of equal labels the last wins, as in numcodecs. */
function codesByText(
  texts: readonly (Uint8Array | undefined)[],
  codes: NumberType,
): (text: Uint8Array) => number {
  const known = new Map(texts.map((text, i) => [text && keyOf(text), i + 1]));
  const most = largestCode(codes);
  return (text) => {
    const code = known.get(keyOf(text)) ?? 0;
    if (code <= most) return code;
    throw new ZarrflowError("codec-error", "there are more labels than the type can represent", {
      expected: `at most ${most}`,
      found: texts.length,
    });
  };
}

/** The largest number up to which the type represents all integers; for large integer types this is approximate. */
function largestCode(codes: NumberType): number {
  const kind = numberKindOf(codes);
  return kind.significand === undefined ? Number(integerRange(kind).most) : 2 ** (kind.significand + 1);
}

function keyOf(text: Uint8Array): string {
  let key = "";
  for (const byte of text) key += String.fromCharCode(byte);
  return key;
}

function writeCodes(target: Uint8Array, codes: NumberType, values: readonly number[]): void {
  writeNumbers(target, codes, values.length, (numbers) => {
    if (numbers instanceof BigInt64Array || numbers instanceof BigUint64Array) {
      numbers.set(values.map(BigInt));
    } else numbers.set(values);
  });
}

/** The code points of a text, cut to `size` bytes and padded with zeros. */
function codePoints(text: string, size: number): Uint8Array {
  const kept = [...text].slice(0, size / 4).join("");
  return parseTextFill(kept, size, "");
}
