import { bytesEqual, fromBase64, toBase64 } from "../util/bytes.ts";
import { isZarrflowError } from "../util/errors.ts";
import { type JsonObject, type JsonValue, jsonEqual } from "../util/json-value.ts";
import type { ArrayMetadata, FillValue, OriginalSpelling, ZarrFormat } from "./array-metadata.ts";
import { isJsonObject, member } from "./assert-json.ts";

/**
 * A member that only zarrflow reads. It stores the parts of the metadata that conventions changed during a format
 * conversion, if converting back would not restore them. A round trip then loses nothing.
 */
export const BEFORE_CONVERSION = "zarrflow.before_conversion";

/** Returns the member for a document of `format`; none if the metadata came from `format` itself. */
export function writeBeforeConversion(
  { beforeConversion: before }: Pick<ArrayMetadata, "beforeConversion">,
  format: ZarrFormat,
): JsonObject {
  if (before === undefined || before.zarrFormat === format) return {};
  const { zarrFormat, stated, usual } = before;
  const mayBeIgnored = format === "v3" && { must_understand: false };
  return { [BEFORE_CONVERSION]: { zarr_format: zarrFormat, stated, usual, ...mayBeIgnored } };
}

/** Reads the member from a document; ignores invalid ones. */
export function parseBeforeConversion(document: JsonObject): Pick<ArrayMetadata, "beforeConversion"> {
  const json = member(document, BEFORE_CONVERSION);
  if (!isJsonObject(json)) return {};
  const { zarr_format: format, stated, usual } = json;
  if ((format !== "v2" && format !== "v3") || !isJsonObject(stated) || !isJsonObject(usual)) return {};
  return { beforeConversion: { zarrFormat: format, stated, usual } };
}

/**
 * Records in `after` the conventional parts of `before` if they differ from `back`. `after` was converted from
 * `before`, and `back` from `after`.
 */
export function keepBefore(
  before: ArrayMetadata,
  after: ArrayMetadata,
  back: ArrayMetadata,
  { from, names }: { readonly from: ZarrFormat; readonly names: readonly string[] },
): ArrayMetadata {
  const [stated, usual] = [conventionalParts(before, names), conventionalParts(back, names)];
  const { beforeConversion: _, ...rest } = after;
  if (jsonEqual(stated, usual)) return rest;
  return { ...rest, beforeConversion: { zarrFormat: from, stated, usual } };
}

/** Restores the metadata's former parts in `format`, if converting back gave the recorded result. */
export function restoreBefore(
  metadata: ArrayMetadata,
  before: OriginalSpelling | undefined,
  { format, names }: { readonly format: ZarrFormat; readonly names: readonly string[] },
): ArrayMetadata {
  if (before?.zarrFormat !== format || !jsonEqual(conventionalParts(metadata, names), before.usual))
    return metadata;
  const { fill_value: fill, dimension_names: dimensions } = before.stated;
  const { dimensionNames, attributes, ...rest } = metadata;
  const kept = Object.entries(attributes).filter(([name]) => !names.includes(name));
  const stated = isJsonObject(before.stated.attributes) ? before.stated.attributes : {};
  return {
    ...rest,
    fillValue: typeof fill === "string" ? { bytes: fromBase64(fill) ?? null } : { bytes: null },
    attributes: { ...Object.fromEntries(kept), ...stated },
    ...(dimensions !== null && dimensionNames && { dimensionNames }),
  };
}

/**
 * The parts that conventions change: the fill value in Base64, attributes of the given names, and the dimension
 * names.
 */
function conventionalParts(
  { fillValue, attributes, dimensionNames }: ArrayMetadata,
  names: readonly string[],
): JsonObject {
  const chosen = names.flatMap((name): [string, JsonValue][] => {
    const value = member(attributes, name);
    return value === undefined ? [] : [[name, value]];
  });
  return {
    fill_value: fillValue.bytes && toBase64(fillValue.bytes),
    attributes: Object.fromEntries(chosen),
    dimension_names: dimensionNames ? [...dimensionNames] : null,
  };
}

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
    return !jsonEqual(stated, member(usual, name)) && (stated !== undefined || optional.includes(name));
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
  const kept = [...names].filter((name) => jsonEqual(member(document, name), member(wording.usual, name)));
  const without = Object.entries(document).filter(
    ([name]) => !kept.includes(name) || Object.hasOwn(wording.stated, name),
  );
  return { ...Object.fromEntries(without), ...pick(wording.stated, kept) };
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
