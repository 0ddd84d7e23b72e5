import type { ChunkData } from "../codecs/chunk-data.ts";
import type { Slice } from "../hierarchy/slice.ts";
import type { DataType, Field } from "../meta/data-type.ts";
import { numbersPerItem } from "../meta/number-kinds.ts";
import { typedValues } from "../run/slabs/typed-values.ts";
import { toBase64 } from "../util/bytes.ts";
import { JSON_VALUES, parseJson } from "../util/json-parse.ts";
import { JsonNumber, type JsonValue } from "../util/json-value.ts";
import { product } from "../util/shape.ts";
import { cellText } from "./cell-text.ts";
import { sliceDecoder } from "./decoded-slice.ts";
import type { Decoder } from "./decoder.ts";
import type { FormatSliceOptions } from "./raw.ts";
import { jsonCell } from "./rows.ts";

/** Approximate number of characters of a piece. */
const PIECE_LENGTH = 2 ** 16;

/** Writes a slice's values in C order as UTF-8, in lists nested by dimension, or in one flat list. */
export async function* jsonPieces(
  slice: Slice,
  { flat = false, decode = false, flags }: FormatSliceOptions,
): AsyncGenerator<Uint8Array> {
  const encoder = new TextEncoder();
  const stored = await slice.dataType();
  const decoded = decode ? await sliceDecoder(slice, { decode, flags }) : undefined;
  const { decoder } = decoded ?? {};
  const shape = await slice.shape();
  const items = product(shape);
  const { opened, closed } = brackets(flat ? [items] : shape);
  let text = items === 0 ? "[]" : "";
  let at = 0;
  for await (const { data } of (decoded?.slice ?? slice).slabs()) {
    for (const item of decoder ? decodedItems(data, stored, decoder) : chunkItems(data, stored)) {
      text += `${at > 0 ? "," : ""}${"[".repeat(opened(at))}${item}${"]".repeat(closed(at))}`;
      at++;
      if (text.length < PIECE_LENGTH) continue;
      yield encoder.encode(text);
      text = "";
    }
  }
  yield encoder.encode(`${text}\n`);
}

/** Kinds whose JSON is a list, an object or Base64. */
const COMPOSED = ["complex", "struct", "object", "fixed-bytes", "raw", "binary"];

function* decodedItems(data: ChunkData, stored: DataType, decoder: Decoder): Generator<string> {
  if (COMPOSED.includes(decoder.dataType.kind)) return yield* chunkItems(data, stored);
  const values = typedValues(data, stored);
  const cell = cellText(decoder, true);
  for (const value of decoder.decode?.(values) ?? values) yield jsonCell(cell.textOf(value), cell);
}

/** Returns functions for the number of lists that begin before an item, and that end after it. */
function brackets(shape: readonly number[]) {
  const sizes = shape.map((_, d) => product(shape.slice(d))).toReversed();
  const count = (at: number) => {
    const inside = sizes.findIndex((size) => at % size !== 0);
    return inside < 0 ? sizes.length : inside;
  };
  return { opened: count, closed: (at: number) => count(at + 1) };
}

const NAT = -(2n ** 63n);

/**
 * Converts the items of a chunk to JSON texts, in stored order. Integers keep all digits, and non-finite numbers are
 * `"NaN"`, `"Infinity"` or `"-Infinity"`. Complex numbers are `[re, im]`, bytes Base64, times a number of units or
 * `"NaT"`, and structures objects.
 */
export function* chunkItems(data: ChunkData, dataType: DataType): Generator<string> {
  if (dataType.kind === "object" && data.kind === "variable") {
    for (let i = 0; i + 1 < data.offsets.length; i++) {
      const text = data.bytes.subarray(data.offsets[i], data.offsets[i + 1]);
      yield text.length === 0 ? "null" : objectText(parseJson(text, JSON_VALUES));
    }
    return;
  }
  const values = typedValues(data, dataType);
  const toText = textOf(dataType);
  if (numbersPerItem(dataType) === 1) {
    for (const value of values) yield toText(value);
    return;
  }
  for (let i = 0; i < values.length; i += 2) yield toText([values.at(i), values.at(i + 1)]);
}

/** Returns a function that writes values of a type, as `typedValues` and `itemValue` return them. */
function textOf(dataType: DataType): (value: unknown) => string {
  switch (dataType.kind) {
    case "bool":
      return (value) => String(Boolean(value));
    case "int":
    case "uint":
      return String;
    case "float":
      return (value) => numberText(value as number);
    case "complex":
      return (value) => `[${(value as readonly number[]).map(numberText).join(",")}]`;
    case "datetime":
    case "timedelta":
      return (value) => (value === NAT ? '"NaT"' : String(value));
    case "fixed-bytes":
    case "raw":
    case "binary":
      return (value) => `"${toBase64(value as Uint8Array)}"`;
    case "struct":
      return structText(dataType.fields);
    default:
      return (value) => JSON.stringify(value);
  }
}

function structText(fields: readonly Field[]): (value: unknown) => string {
  const members = fields
    .filter(({ name }) => name !== "")
    .map(({ name, dataType, shape }) => {
      const item = textOf(dataType);
      const member = shape ? (value: unknown) => `[${(value as readonly unknown[]).map(item)}]` : item;
      return { name, start: `${JSON.stringify(name)}:`, member };
    });
  return (value) => {
    const struct = value as Readonly<Record<string, unknown>>;
    return `{${members.map(({ name, start, member }) => start + member(struct[name])).join(",")}}`;
  };
}

function numberText(value: number): string {
  if (!Number.isFinite(value)) return `"${value}"`;
  return Object.is(value, -0) ? "-0" : String(value);
}

/** A stored object as JSON, with its numbers as written. */
function objectText(value: JsonValue): string {
  if (value instanceof JsonNumber) return value.text;
  if (typeof value === "number") return numberText(value);
  if (Array.isArray(value)) return `[${value.map(objectText).join(",")}]`;
  if (value === null || typeof value !== "object") return JSON.stringify(value);
  return `{${Object.entries(value)
    .map(([name, member]) => `${JSON.stringify(name)}:${objectText(member)}`)
    .join(",")}}`;
}
