import { fromBase64, toBase64 } from "../../util/base64.ts";
import { isZarrflowError } from "../../util/errors.ts";
import type { JsonObject, JsonValue } from "../../util/json-value.ts";
import type { ArrayMetadata, ZarrFormat } from "../array-metadata.ts";
import { member, onlyItem } from "../assert-json.ts";
import type { DataType } from "../data-type.ts";
import { padBytes, parseFloatFill, parseNumberFill, parseStringFill, parseTextFill } from "../fill-values.ts";
import { floatBytes, readFloat } from "../number-bytes.ts";
import { writeFillV3 } from "../v3/fill-value.ts";

/** The attribute with the missing value of a v3 array, per the CF conventions. */
export const FILL_VALUE_ATTRIBUTE = "_FillValue";

/** True if every dimension has a name, so that CF readers treat the array as a variable. */
export function isVariable({ dimensionNames }: ArrayMetadata): boolean {
  return dimensionNames?.every((name) => name !== null) ?? false;
}

/** True if readers of a format treat an array as a variable. In v3 a scalar needs no dimension names for that. */
export function isVariableIn(metadata: ArrayMetadata, format: ZarrFormat): boolean {
  const isScalar = format === "v3" && metadata.shape.length === 0;
  return isVariable(metadata) || (isScalar && metadata.dimensionNames === undefined);
}

/** True if CF readers compare items with a missing value: never for times, which have their own NaT. */
function isMasked({ kind }: DataType): boolean {
  return !["datetime", "timedelta", "struct", "raw", "object"].includes(kind);
}

/**
 * The missing value for CF readers, as the bytes of one item; undefined if the array has no such value. In v2 it is
 * the fill value, or without one the attribute `_FillValue`; in v3 only the attribute.
 */
export function missingValueOf(metadata: ArrayMetadata, format: ZarrFormat): Uint8Array | undefined {
  const { fillValue, dataType } = metadata;
  if (!isVariableIn(metadata, format) || !isMasked(dataType)) return undefined;
  if (format !== "v3" && fillValue.bytes) return fillValue.bytes;
  const attribute = statedMissing(metadata.attributes);
  return attribute === undefined ? undefined : parseMissing(attribute, dataType);
}

/** The attribute's value, even if it is invalid. */
export function statedMissing(attributes: JsonObject): JsonValue | undefined {
  return member(attributes, FILL_VALUE_ATTRIBUTE);
}

/** True if xarray can read a missing value of this type in v3: not for text, bytes and times. */
export function hasMissingForm({ kind }: DataType): boolean {
  return ["bool", "int", "uint", "float", "complex"].includes(kind);
}

/**
 * Writes `_FillValue` as xarray does in v3: integers and booleans as they are, floats as Base64 of a little-endian
 * double, complex numbers as two of these. Undefined for types whose `_FillValue` xarray cannot read.
 */
export function writeMissing(bytes: Uint8Array, dataType: DataType): JsonValue | undefined {
  switch (dataType.kind) {
    case "bool":
    case "int":
    case "uint":
      return writeFillV3(bytes, dataType);
    case "float":
      return writeDouble(bytes);
    case "complex": {
      const half = dataType.size / 2;
      return [writeDouble(bytes.subarray(0, half)), writeDouble(bytes.subarray(half))];
    }
    default:
      return undefined;
  }
}

function writeDouble(bytes: Uint8Array): string {
  return toBase64(bytes.length === 8 ? bytes : floatBytes(readFloat(bytes), 8));
}

/**
 * Reads the missing value in an attribute, also from a list of one, as bytes. Accepts xarray's encoding and those of
 * other writers, such as floats as numbers or words. Undefined if it is not a value of the type.
 */
export function parseMissing(stated: JsonValue, dataType: DataType): Uint8Array | undefined {
  const json = onlyItem(stated);
  try {
    switch (dataType.kind) {
      case "bool":
        return typeof json === "boolean" || json === 0 || json === 1
          ? Uint8Array.of(Number(json))
          : undefined;
      case "int":
      case "uint":
      case "float":
      case "complex":
        return parseNumberFill(json, dataType, "", { lenient: true, parsePart: parseDoubleOr });
      case "fixed-text":
        return typeof json === "string" ? parseTextFill(json, dataType.size, "") : undefined;
      case "fixed-bytes":
      case "binary": {
        const bytes = typeof json === "string" ? fromBase64(json) : undefined;
        return bytes && (dataType.kind === "binary" ? bytes : padBytes(bytes, dataType.size, ""));
      }
      case "string":
        return parseStringFill(json, "");
      default:
        return undefined;
    }
  } catch (error) {
    if (isZarrflowError(error, "invalid-metadata")) return undefined;
    throw error;
  }
}

/** Reads a float from the Base64 of a double, or in the form of fill values. */
function parseDoubleOr(json: JsonValue, size: number, pointer: string): Uint8Array {
  const double = typeof json === "string" ? doubleBytes(json) : undefined;
  if (double === undefined) return parseFloatFill(json, size, pointer);
  return size === 8 ? double : floatBytes(readFloat(double), size);
}

/** The bytes of a double in Base64, which always ends in `=`. */
function doubleBytes(text: string): Uint8Array | undefined {
  const bytes = text.endsWith("=") ? fromBase64(text) : undefined;
  return bytes?.length === 8 ? bytes : undefined;
}

/** Decodes xarray's Base64 of a double; undefined for anything else. */
export function readDouble(value: unknown): number | undefined {
  const bytes = typeof value === "string" ? doubleBytes(value) : undefined;
  return bytes && readFloat(bytes);
}
