import type { JsonValue } from "../../util/json-value.ts";
import { assertInteger, invalidMetadata, refusal, repeatedName } from "../assert-json.ts";
import {
  assertItemSize,
  type DataType,
  type Endian,
  type Field,
  type FixedDataType,
  hasByteOrder,
  isFixed,
  MAX_TIME_SCALE,
  normalTimeUnit,
  structSize,
} from "../data-type.ts";
import { NUMBER_KINDS } from "../number-kinds.ts";
import { TYPE } from "./numpy-type.ts";

/** A data type with its stored byte order; undefined if order means nothing. */
export interface StoredType {
  readonly dataType: DataType;
  readonly endian: Endian | undefined;
}

/**
 * Reads a NumPy type: a string such as `<f8`, or a list of fields. A field's byte order is returned only if it differs
 * from that of the whole type. `|O` becomes kind `object`.
 *
 * @throws `unsupported-data-type`, `invalid-metadata`, `resource-limit`.
 */
export function parseNumpyType(json: JsonValue, pointer: string): StoredType {
  if (json === "|O") return { dataType: { kind: "object" }, endian: undefined };
  if (typeof json === "string") return parseTypeString(json, pointer);
  if (Array.isArray(json)) return parseStruct(json, pointer);
  throw invalidMetadata(pointer, "must be a type string or a list of fields", json);
}

function parseTypeString(text: string, pointer: string): StoredType {
  const [, mark, kind, digits, count, unit] = TYPE.exec(text) ?? [];
  const size = Number(digits);
  const dataType = makeType(kind, size, count, unit);
  if (dataType === undefined) {
    const hint = "A type is byte order, kind and size, such as `<f8`, `|b1`, `<M8[ns]`.";
    throw refusal("unsupported-data-type", pointer, "not a data type in this format", text, hint);
  }
  assertItemSize(dataType.size, pointer);
  if (!hasByteOrder(dataType)) return { dataType, endian: undefined };
  if (mark === "|") {
    throw refusal("unsupported-data-type", pointer, "the type needs a byte order, `<` or `>`", text);
  }
  return { dataType, endian: mark === ">" ? "big" : "little" };
}

function makeType(
  kind: string | undefined,
  size: number,
  count: string | undefined,
  unit: string | undefined,
): FixedDataType | undefined {
  if ((kind === "m" || kind === "M") !== (unit !== undefined)) return undefined;
  switch (kind) {
    case "m":
    case "M": {
      const name = normalTimeUnit(unit ?? "");
      const scale = Number(count || 1);
      if (size !== 8 || name === undefined || scale < 1 || scale > MAX_TIME_SCALE) return undefined;
      return { kind: kind === "M" ? "datetime" : "timedelta", size, unit: name, scale };
    }
    case "S":
      return size > 0 ? { kind: "fixed-bytes", size } : undefined;
    case "U":
      return size > 0 ? { kind: "fixed-text", size: size * 4 } : undefined;
    case "V":
      return size > 0 ? { kind: "raw", size } : undefined;
    default:
      return NUMBERS.get(`${kind}${size}`);
  }
}

const NUMBERS = new Map<string, FixedDataType>(
  NUMBER_KINDS.flatMap(({ numpy, type }) => (numpy === undefined ? [] : [[numpy, type]])),
);

function parseStruct(list: readonly JsonValue[], pointer: string): StoredType {
  if (list.length === 0) throw invalidMetadata(pointer, "a structured type needs fields", []);
  const parsed = list.map((entry) => parseField(entry, pointer));
  const names = parsed.map(({ name }) => name).filter((name) => name !== "");
  const twice = repeatedName(names);
  if (twice !== undefined) throw invalidMetadata(pointer, "a structured type names a field twice", twice);

  const orders = new Set(parsed.flatMap(({ endian }) => endian ?? []));
  const [only] = orders.size === 1 ? orders : [];
  const endian = orders.size === 0 ? undefined : (only ?? "little");
  const fields = parsed.map(
    ({ endian: own, ...field }): Field =>
      own === undefined || own === endian ? field : { ...field, endian: own },
  );
  return { dataType: { kind: "struct", size: structSize(fields, pointer), fields }, endian };
}

function parseField(entry: JsonValue, pointer: string): Field {
  if (!Array.isArray(entry) || entry.length < 2 || entry.length > 3) {
    throw invalidMetadata(pointer, "a field must have a name, a type and, optionally, a shape", entry);
  }
  const [name = null, type = null, shape] = entry;
  if (typeof name !== "string") throw invalidMetadata(pointer, "the name of a field must be a string", entry);
  const { dataType, endian } = parseNumpyType(type, pointer);
  if (!isFixed(dataType)) {
    throw refusal("unsupported-data-type", pointer, "a field needs a type of fixed size", entry);
  }
  const dims = shape === undefined ? [] : Array.isArray(shape) ? shape : [shape];
  const subarray = dims.map((n) => assertInteger(n, 1, pointer));
  return {
    name,
    dataType,
    ...(subarray.length > 0 && { shape: subarray }),
    ...(endian && { endian }),
  };
}
