import { fromBase64, toBase64 } from "../util/base64.ts";
import { jsonEqual } from "../util/json-equal.ts";
import type { JsonObject, JsonValue } from "../util/json-value.ts";
import type { ArrayMetadata, OriginalSpelling, ZarrFormat } from "./array-metadata.ts";
import { isObject, member } from "./assert-json.ts";

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
  if (!isObject(json)) return {};
  const { zarr_format: format, stated, usual } = json;
  if ((format !== "v2" && format !== "v3") || !isObject(stated) || !isObject(usual)) return {};
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
  const stated = isObject(before.stated.attributes) ? before.stated.attributes : {};
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
