import { fromBase64, toBase64 } from "../../util/bytes.ts";
import { isZarrflowError } from "../../util/errors.ts";
import type { JsonObject, JsonValue } from "../../util/json-value.ts";
import { writeJson } from "../../util/json-write.ts";
import type { ArrayMetadata, ZarrFormat } from "../array-metadata.ts";
import { member, onlyItem } from "../assert-json.ts";
import type { DataType } from "../data-type.ts";
import {
  type NumberForm,
  padBytes,
  parseFloatFill,
  parseNumber,
  parseStringFill,
  parseTextFill,
  writeNumber,
  zeroItem,
} from "../fill-values.ts";
import {
  FLOAT64,
  isNumber,
  type NumberDataType,
  type NumberKind,
  numberBytes,
  readNumber,
} from "../number-kinds.ts";
import { keepBefore, restoreBefore } from "../round-trip.ts";
import { writeFillV3 } from "../v3/fill-value.ts";
import type { Convention, ConventionNode } from "./convention.ts";

/** Reports metadata of one array that cannot be converted. */
type Warn = (message: string, hint?: string) => void;
const nobody: Warn = () => {};

/**
 * The missing value of variables: the fill value in v2, the attribute `_FillValue` in v3. In v3 the fill value is
 * only the content of missing chunks. Arrays without dimension names are not variables and stay unchanged. Scalars
 * among variables are the exception: they need empty dimension names in v2, but not in v3.
 */
export const missingValues: Convention = {
  name: "missing values",
  convert(nodes, { from, to, note }) {
    if (!(from === "v2" && to === "v3") && !(from === "v3" && to === "v2")) return nodes;
    const areVariables = nodes.some(({ metadata }) => metadata.kind === "array" && isVariable(metadata));
    return nodes.map((node): ConventionNode => {
      const { metadata, path } = node;
      if (metadata.kind !== "array") return node;
      const named = from === "v3" && areVariables ? namedScalar(metadata) : metadata;
      if (!isVariable(named)) return node;
      const warn: Warn = (message, hint) => note({ path, message, ...(hint && { hint }) });
      return { path, metadata: converted(metadata, named, { from, to, warn }) };
    });
  },
};

interface Change {
  readonly from: ZarrFormat;
  readonly to: ZarrFormat;
  readonly warn: Warn;
}

/** Converts an array, and records its former parts for the way back. */
function converted(before: ArrayMetadata, named: ArrayMetadata, { from, to, warn }: Change): ArrayMetadata {
  const names = [FILL_VALUE_ATTRIBUTE];
  const forth = to === "v3" ? toV3(named, warn) : toV2(named, warn);
  const back = to === "v3" ? toV2(forth, nobody) : toV3(forth, nobody);
  const restored = restoreBefore(forth, before.beforeConversion, { format: to, names });
  const way =
    restored === forth ? back : to === "v3" ? toV2(namedScalar(restored), nobody) : toV3(restored, nobody);
  return keepBefore(before, restored, way, { from, names });
}

/** Adds the empty dimension names that a scalar needs in v2. */
function namedScalar(metadata: ArrayMetadata): ArrayMetadata {
  const isScalar = metadata.shape.length === 0 && metadata.dimensionNames === undefined;
  return isScalar ? { ...metadata, dimensionNames: [] } : metadata;
}

function toV3(metadata: ArrayMetadata, warn: Warn): ArrayMetadata {
  const { attributes, dataType, fillValue } = metadata;
  const stated = statedMissing(attributes);
  const missing = missingValueOf(metadata, "v2");
  const attribute = missing && writeMissing(missing, dataType);
  if (attribute === undefined && (missing ?? stated) !== undefined) {
    const value = missing ? (writeFillV3(missing, dataType) ?? "") : (stated ?? "");
    warn(
      `the missing value ${text(value)} is dropped: Zarr v3 cannot store it for this data type in a form that xarray can read`,
      "Items equal to it will be read as ordinary values.",
    );
  }
  return {
    ...metadata,
    attributes: withMissing(attributes, attribute),
    fillValue: fillValue.bytes ? fillValue : { bytes: zeroItem(dataType) },
  };
}

function toV2(metadata: ArrayMetadata, warn: Warn): ArrayMetadata {
  const { attributes, dataType, fillValue } = metadata;
  const stated = statedMissing(attributes);
  if (stated === undefined) {
    if (!hasNodata(attributes)) return { ...metadata, fillValue: { bytes: null } };
    const value = fillValue.bytes && writeFillV3(fillValue.bytes, dataType);
    if (value !== null) {
      warn(
        `the fill value ${text(value ?? "")} is kept; GDAL treats it as nodata, and xarray treats it as missing in v2`,
      );
    }
    return metadata;
  }
  const bytes = parseMissing(stated, dataType);
  if (bytes === undefined) return { ...metadata, fillValue: { bytes: null } };
  return { ...metadata, attributes: withMissing(attributes, undefined), fillValue: { bytes } };
}

/** True if GDAL wrote the array: its readers use the fill value as nodata in all formats. */
function hasNodata(attributes: JsonObject): boolean {
  return Object.hasOwn(attributes, "_CRS");
}

/** Sets or removes the missing value; returns the same object if nothing changes. */
function withMissing(attributes: JsonObject, attribute: JsonValue | undefined): JsonObject {
  if (attribute === undefined && statedMissing(attributes) === undefined) return attributes;
  const { [FILL_VALUE_ATTRIBUTE]: _, ...others } = attributes;
  return attribute === undefined ? others : { ...others, [FILL_VALUE_ATTRIBUTE]: attribute };
}

function text(value: JsonValue): string {
  return writeJson(value, { nonFinite: "token" });
}

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
export function hasMissingForm(dataType: DataType): dataType is NumberDataType {
  return isNumber(dataType) && !("unit" in dataType);
}

const FORM: NumberForm = { isLenient: true, parse: parseDoubleOr, write: writeDouble };

/**
 * Writes `_FillValue` as xarray does in v3: integers and booleans as they are, floats as Base64 of a little-endian
 * double, complex numbers as two of these. Undefined for types whose `_FillValue` xarray cannot read.
 */
export function writeMissing(bytes: Uint8Array, dataType: DataType): JsonValue | undefined {
  return hasMissingForm(dataType) ? writeNumber(bytes, dataType, FORM) : undefined;
}

function writeDouble(bytes: Uint8Array, kind: NumberKind): string {
  return toBase64(kind === FLOAT64 ? bytes : numberBytes(readNumber(bytes, kind), FLOAT64));
}

/**
 * Reads the missing value in an attribute, also from a list of one, as bytes. Accepts xarray's encoding and those of
 * other writers, such as floats as numbers or words. Undefined if it is not a value of the type.
 */
export function parseMissing(stated: JsonValue, dataType: DataType): Uint8Array | undefined {
  const json = onlyItem(stated);
  try {
    if (hasMissingForm(dataType)) return parseNumber(json, dataType, "", FORM);
    switch (dataType.kind) {
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
function parseDoubleOr(json: JsonValue, kind: NumberKind, pointer: string): Uint8Array {
  const double = typeof json === "string" ? doubleBytes(json) : undefined;
  if (double === undefined) return parseFloatFill(json, kind, pointer);
  return kind === FLOAT64 ? double : numberBytes(readNumber(double, FLOAT64), kind);
}

/** The bytes of a double in Base64, which always ends in `=`. */
function doubleBytes(text: string): Uint8Array | undefined {
  const bytes = text.endsWith("=") ? fromBase64(text) : undefined;
  return bytes?.length === 8 ? bytes : undefined;
}

/** Decodes xarray's Base64 of a double; undefined for anything else. */
export function readDouble(value: unknown): number | undefined {
  const bytes = typeof value === "string" ? doubleBytes(value) : undefined;
  return bytes && Number(readNumber(bytes, FLOAT64));
}
