import { type PlainCode, ZarrflowError } from "../util/errors.ts";
import { JsonNumber, type JsonObject, type JsonValue, pointerTo } from "../util/json-value.ts";
import { writeJson } from "../util/json-write.ts";
import { parseInteger } from "../util/numbers.ts";

/** Returns the error for a value that violates its format. */
export function invalidMetadata(pointer: string, reason: string, value?: JsonValue): ZarrflowError {
  return refusal("invalid-metadata", pointer, reason, value);
}

export function refusal(
  code: PlainCode,
  pointer: string,
  reason: string,
  value?: JsonValue,
  hint?: string,
): ZarrflowError {
  const shown = value === undefined ? undefined : writeJson(value, { nonFinite: "token" });
  return new ZarrflowError(code, reason, { pointer, value: shown, ...(hint && { hint }) });
}

/** Returns an own member of `object`, never an inherited one. */
export function member(object: JsonObject, name: string): JsonValue | undefined {
  return Object.hasOwn(object, name) ? object[name] : undefined;
}

/** Returns an own member, or `fallback` if it is absent; `null` counts as a value. */
export function memberOr(object: JsonObject, name: string, fallback: JsonValue): JsonValue {
  const value = member(object, name);
  return value === undefined ? fallback : value;
}

/** Returns the value, or the only item of a list: many writers put single values into lists. */
export function onlyItem(value: JsonValue): JsonValue;
export function onlyItem(value: unknown): unknown;
export function onlyItem(value: unknown): unknown {
  return Array.isArray(value) && value.length === 1 ? value[0] : value;
}

export function isJsonObject(value: JsonValue | undefined): value is JsonObject {
  return (
    typeof value === "object" && value !== null && !Array.isArray(value) && !(value instanceof JsonNumber)
  );
}

/** Returns the member. @throws `invalid-metadata` at its pointer if it is absent. */
export function required(object: JsonObject, name: string, pointer = ""): JsonValue {
  const value = member(object, name);
  if (value === undefined) throw invalidMetadata(pointerTo(pointer, name), `\`${name}\` is required`);
  return value;
}

export function assertObject(value: JsonValue, pointer: string): JsonObject {
  if (!isJsonObject(value)) throw invalidMetadata(pointer, "must be an object", value);
  return value;
}

export function assertList(value: JsonValue, pointer: string): JsonValue[] {
  if (!Array.isArray(value)) throw invalidMetadata(pointer, "must be a list", value);
  return value;
}

export function assertString(value: JsonValue, pointer: string): string {
  if (typeof value !== "string") throw invalidMetadata(pointer, "must be a string", value);
  return value;
}

/** Returns the value if it is one of `words`. */
export function assertWord<T extends string>(value: JsonValue, words: readonly T[], pointer: string): T {
  const word = words.find((candidate) => candidate === value);
  if (word === undefined) {
    throw invalidMetadata(pointer, `must be ${words.map((w) => JSON.stringify(w)).join(" or ")}`, value);
  }
  return word;
}

/** Returns an integer that is at least `least` and safe in JavaScript. */
export function assertInteger(value: JsonValue, least: number, pointer: string): number {
  const integer = integerOf(value);
  if (integer === undefined || integer < least || integer > Number.MAX_SAFE_INTEGER) {
    throw invalidMetadata(pointer, `must be an integer from ${least} to 2^53 - 1`, value);
  }
  return Number(integer);
}

/** The exact value of an integer token without fraction or exponent; undefined for anything else. */
export function integerOf(value: JsonValue): bigint | undefined {
  const token = tokenOf(value);
  return token !== undefined && /^-?[0-9]+$/.test(token) ? parseInteger(token) : undefined;
}

/** A number's token; undefined for anything but a finite number. */
export function tokenOf(value: JsonValue): string | undefined {
  if (value instanceof JsonNumber) return value.text;
  return typeof value === "number" && Number.isFinite(value) ? String(value) : undefined;
}

/** Most dimensions of an array; NumPy has the same limit. */
export const MAX_RANK = 64;
/** Most codecs in a list, so that work quadratic in their number takes less than a second. */
const MAX_CODECS = 10_000;

/**
 * Checks a list with one value per dimension. @throws `invalid-metadata`; `resource-limit` for too many dimensions.
 */
export function assertRank(value: JsonValue, pointer: string): JsonValue[] {
  return assertShort(assertList(value, pointer), MAX_RANK, "an array has too many dimensions", pointer);
}

/** Checks a list of codecs. @throws `invalid-metadata`; `resource-limit` for too many codecs. */
export function assertCodecList(value: JsonValue, pointer: string): JsonValue[] {
  return assertShort(assertList(value, pointer), MAX_CODECS, "an array has too many codecs", pointer);
}

function assertShort(list: JsonValue[], limit: number, reason: string, pointer: string): JsonValue[] {
  if (list.length <= limit) return list;
  throw new ZarrflowError("resource-limit", reason, {
    pointer,
    expected: `at most ${limit}`,
    found: list.length,
  });
}

/** @throws as `assertRank`. */
export function assertShape(value: JsonValue, pointer: string): number[] {
  return assertRank(value, pointer).map((n, d) => assertInteger(n, 0, pointerTo(pointer, d)));
}

/**
 * Reads a chunk shape with the rank of `shape` and lengths of at least 1. Accepts 0 along an empty dimension, where
 * no chunk exists, and reads it as 1.
 */
export function assertChunkShape(value: JsonValue, shape: readonly number[], pointer: string): number[] {
  const list = assertList(value, pointer);
  if (list.length !== shape.length) {
    throw invalidMetadata(pointer, `must have ${shape.length} numbers, one per dimension`, value);
  }
  return list.map((n, d) => Math.max(assertInteger(n, shape[d] === 0 ? 0 : 1, pointerTo(pointer, d)), 1));
}

/** True if a chunk length is 0. Along an empty dimension it is read and written as 1. */
export function hasZero(chunkShape: JsonValue | undefined): boolean {
  return Array.isArray(chunkShape) && chunkShape.some((length) => integerOf(length) === 0n);
}

/** The first name that occurs in a list a second time. */
export function repeatedName(names: readonly string[]): string | undefined {
  const seen = new Set<string>();
  return names.find((name) => {
    const isNew = !seen.has(name);
    seen.add(name);
    return !isNew;
  });
}
