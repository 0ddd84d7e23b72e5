import { fromHex, joinBytes, toBase64, toHex } from "../../util/bytes.ts";
import { type JsonValue, pointerTo } from "../../util/json-value.ts";
import {
  assertInteger,
  assertObject,
  assertString,
  invalidMetadata,
  member,
  required,
} from "../assert-json.ts";
import { type DataType, type Endian, type Field, isFixed, swapItem } from "../data-type.ts";
import {
  decodeCodePoints,
  type NumberForm,
  padBytes,
  parseBase64,
  parseFloatFill,
  parseNumber,
  parseStringFill,
  parseTextFill,
  readString,
  trimZeros,
  writeFloatFill,
  writeNumber,
} from "../fill-values.ts";
import { isNumber, type NumberKind } from "../number-kinds.ts";

const FORM: NumberForm = { writesNaT: true, parse: parseFloatOrHex, write: writeFloatOrHex };

/**
 * Reads a v3 fill value as little-endian bytes. `endian` is the byte order of structured values in their old form.
 *
 * @throws `invalid-metadata`
 */
export function parseFillV3(
  json: JsonValue,
  dataType: DataType,
  endian: Endian,
  pointer: string,
): Uint8Array {
  if (isNumber(dataType)) return parseNumber(json, dataType, pointer, FORM);
  switch (dataType.kind) {
    case "fixed-text":
      return parseTextFill(assertString(json, pointer), dataType.size, pointer);
    case "fixed-bytes":
      return padBytes(parseBase64(json, pointer), dataType.size, pointer);
    case "raw":
      return assertLength(parseBytes(json, pointer), dataType.size, pointer);
    case "struct":
      if (typeof json !== "string") return parseStructFill(json, dataType.fields, endian, pointer);
      return swapItem(assertLength(parseBase64(json, pointer), dataType.size, pointer), dataType, endian);
    case "string":
      return parseStringFill(json, pointer);
    case "binary":
      return parseBytes(json, pointer);
    case "object":
      throw invalidMetadata(pointer, "objects have no fill value", json);
  }
}

/** Reads a float from a number, a word, or the hexadecimal form of its bits. */
function parseFloatOrHex(json: JsonValue, kind: NumberKind, pointer: string): Uint8Array {
  if (typeof json !== "string" || !json.startsWith("0x")) return parseFloatFill(json, kind, pointer);
  const { size } = kind.type;
  const digits = json.slice(2);
  if (digits.length !== 2 * size || !/^[0-9a-fA-F]*$/.test(digits)) {
    throw invalidMetadata(pointer, `must have ${2 * size} hexadecimal digits`, json);
  }
  return fromHex(digits).reverse();
}

/** Reads bytes from a list of numbers, or from Base64. */
function parseBytes(json: JsonValue, pointer: string): Uint8Array {
  if (!Array.isArray(json)) return parseBase64(json, pointer);
  return Uint8Array.from(json, (item, i) => {
    const byte = assertInteger(item, 0, pointerTo(pointer, i));
    if (byte > 255) throw invalidMetadata(pointerTo(pointer, i), "must be at most 255", item);
    return byte;
  });
}

function assertLength(bytes: Uint8Array, size: number, pointer: string): Uint8Array {
  if (bytes.length === size) return bytes;
  throw invalidMetadata(pointer, `has ${bytes.length} bytes, but the data type has ${size}`);
}

function parseStructFill(
  json: JsonValue,
  fields: readonly Field[],
  endian: Endian,
  pointer: string,
): Uint8Array {
  const object = assertObject(json, pointer);
  const unknown = Object.keys(object).find((name) => fields.every((field) => field.name !== name));
  if (unknown !== undefined) {
    throw invalidMetadata(pointerTo(pointer, unknown), "the type has no such field", member(object, unknown));
  }
  return joinBytes(
    fields.map(({ name, dataType }) =>
      parseFillV3(required(object, name, pointer), dataType, endian, pointerTo(pointer, name)),
    ),
  );
}

/** Writes the v3 form of a fill value; undefined for text that is not Unicode. */
export function writeFillV3(bytes: Uint8Array, dataType: DataType): JsonValue | undefined {
  if (isNumber(dataType)) return writeNumber(bytes, dataType, FORM);
  switch (dataType.kind) {
    case "fixed-text":
      return decodeCodePoints(bytes);
    case "fixed-bytes":
      return toBase64(trimZeros(bytes));
    case "raw":
    case "binary":
      return toBase64(bytes);
    case "struct":
      return writeStructFill(bytes, dataType.fields);
    case "string":
      return readString(bytes);
    case "object":
      return undefined;
  }
}

function writeFloatOrHex(bytes: Uint8Array, kind: NumberKind): JsonValue {
  return writeFloatFill(bytes, kind) ?? `0x${toHex(bytes.slice().reverse())}`;
}

function writeStructFill(bytes: Uint8Array, fields: readonly Field[]): JsonValue | undefined {
  const members: [string, JsonValue][] = [];
  let at = 0;
  for (const { name, dataType } of fields) {
    const size = isFixed(dataType) ? dataType.size : 0;
    const json = writeFillV3(bytes.subarray(at, at + size), dataType);
    if (json === undefined) return undefined;
    members.push([name, json]);
    at += size;
  }
  return Object.fromEntries(members);
}
