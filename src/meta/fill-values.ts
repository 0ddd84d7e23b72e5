import { fromBase64, joinBytes } from "../util/bytes.ts";
import { NON_FINITE } from "../util/json-parse.ts";
import { JsonNumber, type JsonValue, pointerTo } from "../util/json-value.ts";
import { formatFloat } from "../util/json-write.ts";
import { NAT, parseInteger } from "../util/numbers.ts";
import { assertList, integerOf, invalidMetadata, tokenOf } from "./assert-json.ts";
import { type DataType, isFixed } from "./data-type.ts";
import {
  integerBytes,
  isCanonical,
  type NumberDataType,
  type NumberKind,
  numberBytes,
  numberKindOf,
  partsOf,
  readNumber,
} from "./number-kinds.ts";

/** Code shared by fill values of all formats. Functions work on the little-endian bytes of one item. */

/** How a format spells numbers in its documents. */
export interface NumberForm {
  /** Reads integers written as `1.0`, and booleans as 0 and 1. */
  readonly isLenient?: boolean;
  /** Writes the smallest time as "NaT". */
  readonly writesNaT?: boolean;
  /** Reads a float, or one part of a complex number. */
  readonly parse?: typeof parseFloatFill;
  /** Writes a float, or one part; undefined if the format cannot represent it. */
  readonly write?: typeof writeFloatFill;
}

/** Reads a number, a boolean or a time as little-endian bytes. @throws `invalid-metadata` */
export function parseNumber(
  json: JsonValue,
  dataType: NumberDataType,
  pointer: string,
  { isLenient = false, parse = parseFloatFill }: NumberForm,
): Uint8Array {
  const kind = numberKindOf(dataType);
  switch (dataType.kind) {
    case "bool":
      return numberBytes(Number(parseBool(json, pointer, isLenient)), kind);
    case "float":
      return parse(json, kind, pointer);
    case "complex": {
      const parts = assertList(json, pointer);
      if (parts.length !== 2)
        throw invalidMetadata(pointer, "a complex number must be a list of two numbers", json);
      return joinBytes(parts.map((part, i) => parse(part, kind.part ?? kind, pointerTo(pointer, i))));
    }
    case "datetime":
    case "timedelta":
      return json === "NaT" ? numberBytes(NAT, kind) : parseWhole(json, kind, pointer, isLenient);
    default:
      return parseWhole(json, kind, pointer, isLenient);
  }
}

/** Writes a number, a boolean or a time; undefined if the format cannot represent it. */
export function writeNumber(
  bytes: Uint8Array,
  dataType: NumberDataType,
  { writesNaT = false, write = writeFloatFill }: NumberForm,
): JsonValue | undefined {
  const kind = numberKindOf(dataType);
  switch (dataType.kind) {
    case "bool":
      return bytes[0] !== 0;
    case "float":
      return write(bytes, kind);
    case "complex": {
      const [re, im] = partsOf(bytes).map((part) => write(part, kind.part ?? kind));
      return re === undefined || im === undefined ? undefined : [re, im];
    }
    default: {
      const value = readNumber(bytes, kind);
      if (writesNaT && "unit" in dataType && value === NAT) return "NaT";
      return Number.isSafeInteger(Number(value)) ? Number(value) : new JsonNumber(String(value));
    }
  }
}

function parseBool(json: JsonValue, pointer: string, isLenient: boolean): boolean {
  if (typeof json === "boolean") return json;
  if (isLenient && (json === 0 || json === 1)) return json === 1;
  throw invalidMetadata(pointer, "must be true or false", json);
}

function parseWhole(json: JsonValue, kind: NumberKind, pointer: string, isLenient: boolean): Uint8Array {
  const token = tokenOf(json);
  const value = isLenient && token !== undefined ? parseInteger(token) : integerOf(json);
  const bytes = value === undefined ? undefined : integerBytes(value, kind);
  if (bytes) return bytes;
  const name = `${kind.type.kind === "int" ? "" : "unsigned "}integer of ${kind.type.size * 8} bits`;
  throw invalidMetadata(pointer, `must be an ${name}`, json);
}

/** Reads a float: a number, or a word for NaN and infinities. */
export function parseFloatFill(json: JsonValue, kind: NumberKind, pointer: string): Uint8Array {
  if (typeof json === "number") return numberBytes(json, kind);
  const token = typeof json === "string" && NON_FINITE.includes(json) ? json : tokenOf(json);
  if (token !== undefined) return numberBytes(Number(token), kind);
  throw invalidMetadata(pointer, 'must be a number, "NaN", "Infinity" or "-Infinity"', json);
}

/**
 * Writes a float as a number, or as a word for NaN and infinities; undefined for a NaN with a payload. A whole number
 * keeps a point, as in Python.
 */
export function writeFloatFill(bytes: Uint8Array, kind: NumberKind): JsonValue | undefined {
  if (!isCanonical(bytes, kind)) return undefined;
  const value = Number(readNumber(bytes, kind));
  return Number.isFinite(value) ? new JsonNumber(formatFloat(value)) : String(value);
}

export function parseBase64(json: JsonValue, pointer: string): Uint8Array {
  const bytes = typeof json === "string" ? fromBase64(json) : undefined;
  if (bytes === undefined) throw invalidMetadata(pointer, "must be Base64", json);
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

/** The item that replaces an undefined fill value: zero bytes, the empty string, JSON's null. */
export function zeroItem(dataType: DataType): Uint8Array {
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
