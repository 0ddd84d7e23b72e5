import { parseDecimal } from "./decimal.ts";
import { JsonNumber, type JsonValue } from "./json-value.ts";

/**
 * True if two JSON values are equal. Names may be in any order. Numbers compare by exact decimal value: `1.0` equals
 * `1`, and neighbours beyond 2^53 differ. `-0` is not `0`, and NaN equals NaN.
 */
export function jsonEqual(a: JsonValue, b: JsonValue): boolean {
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

function isNumber(value: JsonValue): value is number | JsonNumber {
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
