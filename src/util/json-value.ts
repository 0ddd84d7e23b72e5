import { ZarrflowError } from "./errors.ts";
import { parseDecimal } from "./numbers.ts";

/** A number token that a JavaScript number would not reproduce, such as `1.0` or `18446744073709551615`. */
export class JsonNumber {
  /** The token as written in the document. */
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }

  /** The nearest JavaScript number. */
  valueOf(): number {
    return Number(this.text);
  }
}

export type JsonValue = null | boolean | number | string | JsonNumber | JsonValue[] | JsonObject;
export interface JsonObject {
  [name: string]: JsonValue;
}

/** The number that JSON states, if it is finite. */
export function finiteNumber(value: JsonValue | undefined): number | undefined {
  const number = value instanceof JsonNumber ? value.valueOf() : value;
  return typeof number === "number" && Number.isFinite(number) ? number : undefined;
}

/** Sets an own property, whatever its name. */
export function setMember(object: JsonObject, name: string, value: JsonValue): void {
  if (name === "__proto__") {
    Object.defineProperty(object, name, { value, writable: true, enumerable: true, configurable: true });
  } else {
    object[name] = value;
  }
}

/**
 * True if two JSON values are equal, or both undefined. Names may be in any order. Numbers compare by exact decimal value: `1.0` equals
 * `1`, and neighbors beyond 2^53 differ. `-0` is not `0`, and NaN equals NaN.
 */
export function jsonEqual(a: JsonValue | undefined, b: JsonValue | undefined): boolean {
  if (isNumber(a) && isNumber(b)) return numbersEqual(a, b);
  if (a === null || b === null || typeof a !== "object" || typeof b !== "object") return a === b;
  if (a instanceof JsonNumber || b instanceof JsonNumber) return false;
  if (Array.isArray(a) || Array.isArray(b)) {
    return (
      Array.isArray(a) &&
      Array.isArray(b) &&
      a.length === b.length &&
      a.every((item, i) => jsonEqual(item, b[i] ?? null))
    );
  }
  const members = Object.entries(a);
  return (
    members.length === Object.keys(b).length &&
    members.every(([name, value]) => Object.hasOwn(b, name) && jsonEqual(value, b[name] ?? null))
  );
}

function isNumber(value: JsonValue | undefined): value is number | JsonNumber {
  return typeof value === "number" || value instanceof JsonNumber;
}

function numbersEqual(a: number | JsonNumber, b: number | JsonNumber): boolean {
  if (typeof a === "number" && typeof b === "number") return Object.is(a, b);
  const [x, y] = [tokenOf(a), tokenOf(b)].map(parseDecimal);
  return x?.digits === y?.digits && x?.exponent === y?.exponent && x?.negative === y?.negative;
}

function tokenOf(value: number | JsonNumber): string {
  if (value instanceof JsonNumber) return value.text;
  return Object.is(value, -0) ? "-0" : String(value);
}

/** JSON as plain JavaScript values; integers beyond 2^53 are bigints. */
export type PlainValue =
  | null
  | boolean
  | number
  | bigint
  | string
  | PlainValue[]
  | { [name: string]: PlainValue };

/** Digits of the longest integer that becomes a bigint, because parsing time grows faster than the digits. */
const MAX_DIGITS = 4096;

/**
 * Turns every `JsonNumber` into the nearest number, or into a bigint if it is an integer beyond 2^53 whose token has
 * at most 4096 characters.
 */
export function toPlain(value: JsonObject): { [name: string]: PlainValue };
export function toPlain(value: JsonValue): PlainValue;
export function toPlain(value: JsonValue): PlainValue {
  if (value instanceof JsonNumber) {
    const { text } = value;
    const number = Number(text);
    const isBig = text.length <= MAX_DIGITS && /^-?[0-9]+$/.test(text) && !Number.isSafeInteger(number);
    return isBig ? BigInt(text) : number;
  }
  if (Array.isArray(value)) return value.map((item) => toPlain(item));
  if (value === null || typeof value !== "object") return value;
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, toPlain(item)]));
}

/**
 * Converts plain JavaScript values to JSON, omitting `undefined` members as `JSON.stringify` does.
 *
 * @throws `invalid-option` with the pointer of a value that JSON cannot represent; `resource-limit` for nesting
 * deeper than 1000, including cycles.
 */
export function fromPlain(value: unknown): JsonValue {
  return convert(value, "", 0);
}

function convert(value: unknown, pointer: string, depth: number): JsonValue {
  if (depth > 1000) throw new ZarrflowError("resource-limit", "the value is nested more than 1000 deep");
  switch (typeof value) {
    case "boolean":
    case "number":
    case "string":
      return value;
    case "bigint":
      return Number.isSafeInteger(Number(value)) ? Number(value) : new JsonNumber(String(value));
    case "object":
      if (value === null || value instanceof JsonNumber) return value;
      if (Array.isArray(value))
        return value.map((item, i) => convert(item, pointerTo(pointer, i), depth + 1));
      if (isPlainObject(value)) {
        const members = Object.entries(value).filter(([, item]) => item !== undefined);
        return Object.fromEntries(
          members.map(([name, item]) => [name, convert(item, pointerTo(pointer, name), depth + 1)]),
        );
      }
  }
  throw new ZarrflowError("invalid-option", "JSON cannot hold this value", { pointer, value: String(value) });
}

function isPlainObject(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}

/** Names and indices from the document's root down to one value. */
export type JsonPath = readonly (string | number)[];

/** Appends `token` to `pointer` (RFC 6901). */
export function pointerTo(pointer: string, token: string | number): string {
  return `${pointer}/${String(token).replaceAll("~", "~0").replaceAll("/", "~1")}`;
}

export function pointerOf(path: JsonPath): string {
  return path.reduce<string>(pointerTo, "");
}
