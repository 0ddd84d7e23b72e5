import type { ChunkData, FixedData, VariableData } from "../../codecs/chunk-data.ts";
import type { ZarrArray, ZarrNode } from "../../hierarchy/node.ts";
import {
  FILL_VALUE_ATTRIBUTE,
  hasMissingForm,
  isVariable,
  isVariableIn,
  missingValueOf,
  parseMissing,
  readDouble,
  statedMissing,
} from "../../meta/conventions/missing-values.ts";
import type { DataType } from "../../meta/data-type.ts";
import { zeroElement } from "../../meta/fill-values.ts";
import { bytesEqual } from "../../meta/number-kinds.ts";
import { bytesText } from "../../run/compare-values.ts";
import type { DecodedChunk, Region } from "../../streams/chunk.ts";
import { pointerTo } from "../../util/json-value.ts";
import { coordsOf, cStrides, product } from "../../util/shape.ts";
import type { ValidateFinding } from "./finding.ts";

const POINTER = pointerTo("/attributes", FILL_VALUE_ATTRIBUTE);

/** Reports problems of a node's missing value for readers of CF conventions, such as xarray. */
export function missingFindings(node: ZarrNode): ValidateFinding[] {
  if (node.kind !== "array") return [];
  return [unreadable(node), contradicted(node), zeroIsMissing(node)].filter(
    (finding) => finding !== undefined,
  );
}

/**
 * Reports a v3 attribute `_FillValue` in a form that xarray cannot read, which keeps it from opening the whole group.
 */
function unreadable({ metadata, layout, path }: ZarrArray): ValidateFinding | undefined {
  const { attributes, dataType } = metadata;
  const stated = statedMissing(attributes);
  if (layout.zarrFormat !== "v3" || stated === undefined || !isVariableIn(metadata, "v3")) return undefined;
  const isFloat = dataType.kind === "float" || dataType.kind === "complex";
  const isList = Array.isArray(stated);
  const isDoubles = [stated].flat().every((part) => readDouble(part) !== undefined);
  const isOfForm = isFloat ? isDoubles : hasMissingForm(dataType) && parseMissing(stated, dataType);
  if (isOfForm && isList === (dataType.kind === "complex")) return undefined;
  const form = isFloat ? ": it must be the Base64 of a little-endian double" : "";
  const message = `xarray cannot read the missing value of this data type, and opens nothing of the group${form}`;
  return { level: "warning", what: "missing-value", path, message, pointer: POINTER };
}

/**
 * Reports a v2 array whose fill value and attribute state different missing values, which readers treat differently.
 */
function contradicted({ metadata, layout, path }: ZarrArray): ValidateFinding | undefined {
  const { attributes, dataType, fillValue } = metadata;
  const stated = statedMissing(attributes);
  if (layout.zarrFormat !== "v2" || !isVariable(metadata) || !fillValue.bytes || stated === undefined)
    return undefined;
  const bytes = parseMissing(stated, dataType);
  if (bytes && bytesEqual(bytes, fillValue.bytes)) return undefined;
  const message = `xarray treats the fill value ${bytesText(fillValue.bytes, dataType)} as missing, and ignores this value`;
  return { level: "warning", what: "missing-value", path, message, pointer: POINTER };
}

/** Reports a v2 array whose fill value is 0, false or an empty text, a common default: xarray masks every such item. */
function zeroIsMissing(array: ZarrArray): ValidateFinding | undefined {
  if (!takesZeroForMissing(array)) return undefined;
  const { attributes, dataType } = array.metadata;
  const isPacked = Object.hasOwn(attributes, "scale_factor") || Object.hasOwn(attributes, "add_offset");
  return {
    level: isPacked ? "warning" : "info",
    what: "missing-value",
    path: array.path,
    message: `readers of the CF conventions treat every stored ${zeroText(dataType)} as missing${isPacked ? ", a common value of packed data" : ""}: it is the fill value`,
    pointer: "/fill_value",
  };
}

function zeroText(dataType: DataType): string {
  return dataType.kind === "complex" ? "0" : bytesText(zeroElement(dataType), dataType);
}

/** True if CF readers treat every 0 of an array as missing, although no attribute states so. */
function takesZeroForMissing({ metadata, layout }: ZarrArray): boolean {
  const { attributes } = metadata;
  if (layout.zarrFormat !== "v2") return false;
  const isStated = ["missing_value", FILL_VALUE_ATTRIBUTE].some((name) => Object.hasOwn(attributes, name));
  const missing = missingValueOf(metadata, "v2");
  return !isStated && missing !== undefined && missing.every((byte) => byte === 0);
}

/** Finds zeros in decoded chunks that CF readers treat as missing; reports one finding per array. */
export class StoredZeros {
  readonly #found = new Set<string>();

  /** The finding for a chunk of `array` with this key, if any. */
  look(array: ZarrArray, key: string, { data, region }: DecodedChunk): ValidateFinding | undefined {
    if (data === undefined || this.#found.has(array.path) || !takesZeroForMissing(array)) return undefined;
    // Unsigned bytes are skipped: masks consist of 0 and 1.
    const { dataType } = array.metadata;
    if (dataType.kind === "uint" && dataType.size === 1) return undefined;
    if (!holdsZero(data, region)) return undefined;
    this.#found.add(array.path);
    const message = `holds ${zeroText(dataType)}, which readers of the CF conventions treat as missing: it is the fill value`;
    return { level: "warning", what: "missing-value", path: array.path, message, key };
  }
}

/** True if any item of the array in a chunk is all zero bytes, or empty. */
function holdsZero(data: ChunkData, region: Region): boolean {
  const { shape } = data;
  const isZero = data.kind === "fixed" ? zeroBytesOf(data) : emptyItemOf(data);
  if (region.shape.every((n, d) => n === shape[d])) {
    const items = product(shape);
    for (let item = 0; item < items; item++) if (isZero(item)) return true;
    return false;
  }
  const strides = data.kind === "fixed" ? data.strides : cStrides(shape);
  for (const coords of coordsOf(region.shape)) {
    if (isZero(coords.reduce((sum, at, d) => sum + at * (strides[d] ?? 0), 0))) return true;
  }
  return false;
}

function zeroBytesOf({ bytes, itemSize }: FixedData): (item: number) => boolean {
  return (item) => {
    const end = (item + 1) * itemSize;
    for (let at = item * itemSize; at < end; at++) if (bytes[at] !== 0) return false;
    return true;
  };
}

function emptyItemOf({ offsets }: VariableData): (item: number) => boolean {
  return (item) => offsets[item] === offsets[item + 1];
}
