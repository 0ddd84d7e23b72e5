import type { ArrayMetadata, ZarrFormat } from "../../../meta/array-metadata.ts";
import {
  isVariableIn,
  missingValueOf,
  parseMissing,
  statedMissing,
} from "../../../meta/conventions/missing-value.ts";
import type { DataType } from "../../../meta/data-type.ts";
import { readFloat, readInteger } from "../../../meta/number-bytes.ts";
import type { JsonValue } from "../../../util/json-value.ts";

type Reread = (value: number | bigint) => number | bigint;

/**
 * Returns the numbers that mark missing items, as in typed arrays: the missing value of the format, and those of the
 * attribute `missing_value`, without NaN.
 */
export function missingOf(metadata: ArrayMetadata, format: ZarrFormat, reread: Reread): (number | bigint)[] {
  const { dataType, attributes } = metadata;
  const own = missingValueOf(metadata, format);
  // xarray treats each number of a list as missing
  const listed = own === undefined && isVariableIn(metadata, format) ? statedMissing(attributes) : undefined;
  const stated: JsonValue[] = [listed ?? [], attributes.missing_value ?? []].flat();
  const found = [own, ...stated.map((json) => parseMissing(wholeIn(json, dataType), dataType))];
  const values = found.flatMap((bytes) => (bytes ? [reread(numberOf(bytes, dataType))] : []));
  return [...new Set(values)].filter((value) => !Number.isNaN(value));
}

/** Converts a number that other writers give as a float, though items are integers: `-999.0`. */
function wholeIn(json: JsonValue, { kind }: DataType): JsonValue {
  const number = typeof json === "object" && json !== null ? Number(json) : Number.NaN;
  return kind !== "float" && Number.isSafeInteger(number) ? number : json;
}

/** Decodes the bytes of one item as a number. */
export function numberOf(bytes: Uint8Array, { kind }: DataType): number | bigint {
  if (kind === "float") return readFloat(bytes);
  const value = readInteger(bytes, kind === "int");
  return bytes.length === 8 ? value : Number(value);
}
