import { isZarrflowError } from "../util/errors.ts";
import { jsonEqual } from "../util/json-equal.ts";
import type { JsonObject, JsonValue } from "../util/json-value.ts";
import type { FillValue, OriginalSpelling, ZarrFormat } from "./array-metadata.ts";
import { member } from "./assert-json.ts";
import { bytesEqual } from "./number-bytes.ts";

/**
 * Compares a document with `usual`, the document that we would write. Returns the members of `names` that differ,
 * including those that the document omits if they are in `optional`.
 */
export function wordingOf(
  zarrFormat: ZarrFormat,
  document: JsonObject,
  usual: JsonObject,
  names: readonly string[],
  optional: readonly string[] = [],
): OriginalSpelling | undefined {
  const differing = names.filter((name) => {
    const stated = member(document, name);
    return !same(stated, member(usual, name)) && (stated !== undefined || optional.includes(name));
  });
  if (differing.length === 0) return undefined;
  return { zarrFormat, stated: pick(document, differing), usual: pick(usual, differing) };
}

/** Restores the original spelling of members of `document` whose meaning has not changed. */
export function restoreSpelling(
  document: JsonObject,
  zarrFormat: ZarrFormat,
  wording: OriginalSpelling | undefined,
): JsonObject {
  if (wording?.zarrFormat !== zarrFormat) return document;
  const names = new Set([...Object.keys(wording.stated), ...Object.keys(wording.usual)]);
  const kept = [...names].filter((name) => same(member(document, name), member(wording.usual, name)));
  const without = Object.entries(document).filter(
    ([name]) => !kept.includes(name) || Object.hasOwn(wording.stated, name),
  );
  return { ...Object.fromEntries(without), ...pick(wording.stated, kept) };
}

function same(a: JsonValue | undefined, b: JsonValue | undefined): boolean {
  return a === undefined || b === undefined ? a === b : jsonEqual(a, b);
}

function pick(object: JsonObject, names: readonly string[]): JsonObject {
  return Object.fromEntries(Object.entries(object).filter(([name]) => names.includes(name)));
}

/** The fill value as originally written in `format`, if it still means the same bytes. */
export function statedFill(
  { bytes, stated }: FillValue,
  zarrFormat: ZarrFormat,
  parse: (json: JsonValue) => Uint8Array | null,
): JsonValue | undefined {
  if (stated?.zarrFormat !== zarrFormat) return undefined;
  try {
    const read = parse(stated.json);
    return read === bytes || (read && bytes && bytesEqual(read, bytes)) ? stated.json : undefined;
  } catch (error) {
    if (isZarrflowError(error, "invalid-metadata")) return undefined;
    throw error;
  }
}
