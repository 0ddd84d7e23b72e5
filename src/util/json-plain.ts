import { ZarrflowError } from "./errors.ts";
import { pointerTo } from "./json-pointer.ts";
import { JsonNumber, type JsonObject, type JsonValue } from "./json-value.ts";

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
