import { fromBase64, joinBytes } from "../util/bytes.ts";
import { JsonNumber, type JsonValue, pointerTo } from "../util/json-value.ts";
import { formatFloat } from "../util/json-write.ts";
import { NAT, parseInteger } from "../util/numbers.ts";
import { assertList, integerOf, invalidMetadata, tokenOf } from "./assert-json.ts";
import { type DataType, isFixed } from "./data-type.ts";
import { floatBytes, integerBytes, readFloat, readInteger } from "./number-kinds.ts";

/** Code shared by fill values of v2 and v3. Functions work on the little-endian bytes of one element. */

const NON_FINITE = ["NaN", "Infinity", "-Infinity"];
/** Reads a float: a number, or a word for NaN and infinities. */
export function parseFloatFill(json: JsonValue, size: number, pointer: string): Uint8Array {
  if (typeof json === "number") return floatBytes(json, size);
  const token = typeof json === "string" && NON_FINITE.includes(json) ? json : tokenOf(json);
  if (token === undefined) {
    throw invalidMetadata(pointer, 'must be a number, "NaN", "Infinity" or "-Infinity"', json);
  }
  return floatBytes(Number(token), size);
}

/** Reads a pair of floats, each with `parsePart`. */
export function parseComplexFill(
  json: JsonValue,
  size: number,
  pointer: string,
  parsePart: typeof parseFloatFill,
): Uint8Array {
  const parts = assertList(json, pointer);
  if (parts.length !== 2)
    throw invalidMetadata(pointer, "a complex number must be a list of two numbers", json);
  return joinBytes(parts.map((part, i) => parsePart(part, size / 2, pointerTo(pointer, i))));
}

/** Reads an integer in the range of its type; `lenient` also accepts `1.0`. */
export function parseIntegerFill(
  json: JsonValue,
  type: { readonly size: number; readonly signed: boolean },
  pointer: string,
  lenient: boolean,
): Uint8Array {
  const token = tokenOf(json);
  const value = lenient && token !== undefined ? parseInteger(token) : integerOf(json);
  const bytes = value === undefined ? undefined : integerBytes(value, type.size, type.signed);
  if (bytes === undefined) {
    const name = `${type.signed ? "" : "unsigned "}integer of ${type.size * 8} bits`;
    throw invalidMetadata(pointer, `must be an ${name}`, json);
  }
  return bytes;
}

/** Reads a count of time units, or "NaT". */
export function parseTimeFill(json: JsonValue, pointer: string, lenient: boolean): Uint8Array {
  if (json === "NaT") return integerBytes(NAT, 8, true) ?? new Uint8Array(8);
  return parseIntegerFill(json, { size: 8, signed: true }, pointer, lenient);
}

/** Types whose elements are numbers, or counts of time. */
export type NumericDataType = Extract<
  DataType,
  { readonly kind: "int" | "uint" | "float" | "complex" | "datetime" | "timedelta" }
>;

export interface NumberFillOptions {
  /** Accepts integers written as `1.0`. */
  readonly lenient: boolean;
  /** Reads a float, including each half of a complex number. */
  readonly parsePart?: typeof parseFloatFill;
}

/** Reads the fill value of a number, a complex number or a time. */
export function parseNumberFill(
  json: JsonValue,
  dataType: NumericDataType,
  pointer: string,
  { lenient, parsePart = parseFloatFill }: NumberFillOptions,
): Uint8Array {
  switch (dataType.kind) {
    case "int":
    case "uint":
      return parseIntegerFill(
        json,
        { size: dataType.size, signed: dataType.kind === "int" },
        pointer,
        lenient,
      );
    case "float":
      return parsePart(json, dataType.size, pointer);
    case "complex":
      return parseComplexFill(json, dataType.size, pointer, parsePart);
    case "datetime":
    case "timedelta":
      return parseTimeFill(json, pointer, lenient);
  }
}

/** Reads a boolean literal. */
export function parseBoolFill(json: JsonValue, pointer: string): Uint8Array {
  if (typeof json !== "boolean") throw invalidMetadata(pointer, "must be true or false", json);
  return Uint8Array.of(Number(json));
}

export function parseBase64(json: JsonValue, pointer: string): Uint8Array {
  const bytes = typeof json === "string" ? fromBase64(json) : undefined;
  if (bytes === undefined) throw invalidMetadata(pointer, "must be Base64 text", json);
  return bytes;
}

/** Pads with zero bytes up to `size`. @throws `invalid-metadata` if there are already more bytes. */
export function padBytes(bytes: Uint8Array, size: number, pointer: string): Uint8Array {
  if (bytes.length > size) {
    throw invalidMetadata(pointer, `has ${bytes.length} bytes, but the data type has ${size}`);
  }
  const padded = new Uint8Array(size);
  padded.set(bytes);
  return padded;
}

/** Converts text to zero-padded code points. */
export function parseTextFill(text: string, size: number, pointer: string): Uint8Array {
  const points = [...text].map((character) => character.codePointAt(0) ?? 0);
  if (points.length * 4 > size) {
    throw invalidMetadata(
      pointer,
      `has ${points.length} characters, but the data type has ${size / 4}`,
      text,
    );
  }
  const bytes = new Uint8Array(size);
  const view = new DataView(bytes.buffer);
  points.forEach((point, i) => {
    view.setUint32(4 * i, point, true);
  });
  return bytes;
}

/** Decodes zero-padded code points; undefined if one of them is invalid. */
export function decodeCodePoints(bytes: Uint8Array): string | undefined {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const points = Array.from({ length: bytes.length / 4 }, (_, i) => view.getUint32(4 * i, true));
  if (points.some((point) => point > 0x10ffff)) return undefined;
  const length = points.findLastIndex((point) => point !== 0) + 1;
  return points
    .slice(0, length)
    .map((point) => String.fromCodePoint(point))
    .join("");
}

/** Encodes a string in UTF-8. @throws `invalid-metadata` for a lone surrogate, which UTF-8 cannot represent. */
export function parseStringFill(json: JsonValue, pointer: string): Uint8Array {
  if (typeof json !== "string") throw invalidMetadata(pointer, "must be a string", json);
  if (/\p{Surrogate}/u.test(json)) throw invalidMetadata(pointer, "contains a lone surrogate", json);
  return new TextEncoder().encode(json);
}

/** Decodes UTF-8, keeping a byte order mark as part of the text. */
export function readString(bytes: Uint8Array): string {
  return new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes);
}

/** Removes trailing zero bytes, which are not part of the value. */
export function trimZeros(bytes: Uint8Array): Uint8Array {
  return bytes.subarray(0, bytes.findLastIndex((byte) => byte !== 0) + 1);
}

/** Writes a float as a number, or as a word for NaN and infinities. A whole number keeps a point, as in Python. */
export function writeFloatFill(bytes: Uint8Array): JsonValue {
  const value = readFloat(bytes);
  return Number.isFinite(value) ? new JsonNumber(formatFloat(value)) : String(value);
}

export function writeIntegerFill(bytes: Uint8Array, signed: boolean): JsonValue {
  const value = readInteger(bytes, signed);
  return Number.isSafeInteger(Number(value)) ? Number(value) : new JsonNumber(String(value));
}

/** The element that replaces an undefined fill value: zero bytes, the empty string, JSON's null. */
export function zeroElement(dataType: DataType): Uint8Array {
  if (isFixed(dataType)) return new Uint8Array(dataType.size);
  return dataType.kind === "object" ? new TextEncoder().encode("null") : new Uint8Array(0);
}

/**
 * Converts fill values in other writers' spellings to the format's own: `"0"` and `1.0` of integers, 0 and 1 of
 * booleans. Returns all others unchanged.
 *
 * @param onOther called with a description of each other spelling
 */
export function usualFill(
  json: JsonValue,
  dataType: DataType,
  onOther: (message: string) => void = () => {},
): JsonValue {
  const usual = usualForm(json, dataType);
  if (usual === undefined) return json;
  onOther(`the fill value is ${usual.instead}; it is read as ${usual.as}`);
  return usual.json;
}

/**
 * Like `usualFill`; also converts the number 0 of variable-length text, which zarr-python 2 wrote for arrays of
 * objects.
 */
export function usualFillV2(
  json: JsonValue,
  dataType: DataType,
  onOther: (message: string) => void = () => {},
): JsonValue {
  if (dataType.kind !== "string" || tokenOf(json) !== "0") return usualFill(json, dataType, onOther);
  onOther('the fill value is the number 0; it is read as the text "0"');
  return "0";
}

interface UsualForm {
  readonly json: JsonValue;
  readonly instead: string;
  readonly as: string;
}

function usualForm(json: JsonValue, { kind }: DataType): UsualForm | undefined {
  const token = tokenOf(json);
  switch (kind) {
    case "int":
    case "uint": {
      const digits = typeof json === "string" ? json : token;
      if (digits === undefined || !INTEGER_TEXT.test(digits)) return undefined;
      if (typeof json !== "string" && DIGITS.test(digits)) return undefined;
      const integer = parseInteger(digits);
      const instead = typeof json === "string" ? "text" : "written as a fraction";
      return integer === undefined
        ? undefined
        : { json: new JsonNumber(String(integer)), instead, as: String(integer) };
    }
    case "bool":
      if (token !== "0" && token !== "1") return undefined;
      return { json: token === "1", instead: "a number", as: String(token === "1") };
    default:
      return undefined;
  }
}

const DIGITS = /^-?[0-9]+$/;
/** An integer's text, or a number token that may be an integer. */
const INTEGER_TEXT = /^-?[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?$/;
