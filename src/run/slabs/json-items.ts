import type { ChunkData } from "../../codecs/chunk-data.ts";
import type { DataType, Field } from "../../meta/data-type.ts";
import { numbersPerItem } from "../../meta/number-kinds.ts";
import { toBase64 } from "../../util/bytes.ts";
import { JSON_VALUES, parseJson } from "../../util/json-parse.ts";
import { JsonNumber, type JsonValue } from "../../util/json-value.ts";
import { NAT } from "../../util/numbers.ts";
import { typedValues } from "./typed-values.ts";

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
  const toText = jsonTextOf(dataType);
  if (numbersPerItem(dataType) === 1) {
    for (const value of values) yield toText(value);
    return;
  }
  for (let i = 0; i < values.length; i += 2) yield toText([values.at(i), values.at(i + 1)]);
}

/** Returns a function that writes values of a type, as `typedValues` and `itemReader` return them. */
export function jsonTextOf(dataType: DataType): (value: unknown) => string {
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
      const item = jsonTextOf(dataType);
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
