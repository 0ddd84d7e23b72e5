import { fromBase64 } from "../util/base64.ts";
import { joinBytes } from "../util/buffers.ts";
import { parseInteger } from "../util/decimal.ts";
import { pointerTo } from "../util/json-pointer.ts";
import { JsonNumber, type JsonValue } from "../util/json-value.ts";
import { formatFloat } from "../util/json-write.ts";
import { assertList, integerOf, invalid, tokenOf } from "./assert-json.ts";
import { type DataType, isFixed } from "./data-type.ts";
import { floatBytes, integerBytes, readFloat, readInteger } from "./number-bytes.ts";

/** What v2 and v3 write alike. Everything here is the bytes of one element, little-endian. */

const NON_FINITE = ["NaN", "Infinity", "-Infinity"];
const NAT = -(2n ** 63n);

/** A float: a number, or a word for one that is not finite. */
export function parseFloatFill(json: JsonValue, size: number, pointer: string): Uint8Array {
  if (typeof json === "number") return floatBytes(json, size);
  const token = typeof json === "string" && NON_FINITE.includes(json) ? json : tokenOf(json);
  if (token === undefined) {
    throw invalid(pointer, 'must be a number, "NaN", "Infinity" or "-Infinity"', json);
  }
  return floatBytes(Number(token), size);
}

/** A pair of floats, each read by `parsePart`. */
export function parseComplexFill(
  json: JsonValue,
  size: number,
  pointer: string,
  parsePart: typeof parseFloatFill,
): Uint8Array {
  const parts = assertList(json, pointer);
  if (parts.length !== 2) throw invalid(pointer, "a complex number must be a list of two numbers", json);
  return joinBytes(parts.map((part, i) => parsePart(part, size / 2, pointerTo(pointer, i))));
}

/** An integer in the range of its type; `lenient` takes `1.0` too. */
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
    throw invalid(pointer, `must be an ${name}`, json);
  }
  return bytes;
}

/** A count of time units, or "NaT". */
export function parseTimeFill(json: JsonValue, pointer: string, lenient: boolean): Uint8Array {
  if (json === "NaT") return integerBytes(NAT, 8, true) ?? new Uint8Array(8);
  return parseIntegerFill(json, { size: 8, signed: true }, pointer, lenient);
}

/** Types whose elements are numbers, or counts of time. */
export type NumberType = Extract<
  DataType,
  { readonly kind: "int" | "uint" | "float" | "complex" | "datetime" | "timedelta" }
>;

export interface NumberFillOptions {
  /** Whether integers may be written as `1.0`. */
  readonly lenient: boolean;
  /** Reads a float, also each half of a complex number. */
  readonly parsePart?: typeof parseFloatFill;
}

/** The fill value of a number, a complex number or a time. */
export function parseNumberFill(
  json: JsonValue,
  dataType: NumberType,
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

/** A truth value, by its literal alone. */
export function parseBoolFill(json: JsonValue, pointer: string): Uint8Array {
  if (typeof json !== "boolean") throw invalid(pointer, "must be true or false", json);
  return Uint8Array.of(Number(json));
}

export function parseBase64(json: JsonValue, pointer: string): Uint8Array {
  const bytes = typeof json === "string" ? fromBase64(json) : undefined;
  if (bytes === undefined) throw invalid(pointer, "must be Base64 text", json);
  return bytes;
}

/** Pads with zero bytes up to `size`. @throws `invalid-metadata` when there are more already. */
export function padBytes(bytes: Uint8Array, size: number, pointer: string): Uint8Array {
  if (bytes.length > size) {
    throw invalid(pointer, `has ${bytes.length} bytes, but the data type has ${size}`);
  }
  const padded = new Uint8Array(size);
  padded.set(bytes);
  return padded;
}

/** Text as zero-padded code points. */
export function parseTextFill(text: string, size: number, pointer: string): Uint8Array {
  const points = [...text].map((character) => character.codePointAt(0) ?? 0);
  if (points.length * 4 > size) {
    throw invalid(pointer, `has ${points.length} characters, but the data type has ${size / 4}`, text);
  }
  const bytes = new Uint8Array(size);
  const view = new DataView(bytes.buffer);
  points.forEach((point, i) => {
    view.setUint32(4 * i, point, true);
  });
  return bytes;
}

/** The text of zero-padded code points; undefined when one of them is no code point. */
export function readText(bytes: Uint8Array): string | undefined {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const points = Array.from({ length: bytes.length / 4 }, (_, i) => view.getUint32(4 * i, true));
  if (points.some((point) => point > 0x10ffff)) return undefined;
  const length = points.findLastIndex((point) => point !== 0) + 1;
  return points
    .slice(0, length)
    .map((point) => String.fromCodePoint(point))
    .join("");
}

/** The UTF-8 form of a string. @throws `invalid-metadata` for a lone surrogate, which has none. */
export function parseStringFill(json: JsonValue, pointer: string): Uint8Array {
  if (typeof json !== "string") throw invalid(pointer, "must be a string", json);
  if (/\p{Surrogate}/u.test(json)) throw invalid(pointer, "contains a lone surrogate", json);
  return new TextEncoder().encode(json);
}

/** The string of its UTF-8 bytes; a byte order mark is part of it. */
export function readString(bytes: Uint8Array): string {
  return new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes);
}

/** Without the zero bytes at the end, which are not part of the value. */
export function trimZeros(bytes: Uint8Array): Uint8Array {
  return bytes.subarray(0, bytes.findLastIndex((byte) => byte !== 0) + 1);
}

/** A float's number, or the word for one that is not finite. A whole number keeps a point, as Python prints it. */
export function writeFloatFill(bytes: Uint8Array): JsonValue {
  const value = readFloat(bytes);
  return Number.isFinite(value) ? new JsonNumber(formatFloat(value)) : String(value);
}

export function writeIntegerFill(bytes: Uint8Array, signed: boolean): JsonValue {
  const value = readInteger(bytes, signed);
  return Number.isSafeInteger(Number(value)) ? Number(value) : new JsonNumber(String(value));
}

/** The element that stands where a fill value is undefined: zero bytes, the empty string, JSON's null. */
export function zeroElement(dataType: DataType): Uint8Array {
  if (isFixed(dataType)) return new Uint8Array(dataType.size);
  return dataType.kind === "object" ? new TextEncoder().encode("null") : new Uint8Array(0);
}
