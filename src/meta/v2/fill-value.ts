import { toBase64 } from "../../util/bytes.ts";
import { parseJson } from "../../util/json-parse.ts";
import type { JsonValue } from "../../util/json-value.ts";
import { writeJson } from "../../util/json-write.ts";
import { assertString, invalidMetadata } from "../assert-json.ts";
import type { DataType, Endian } from "../data-type.ts";
import { swapElement } from "../element-order.ts";
import {
  decodeCodePoints,
  padBytes,
  parseBase64,
  parseNumberFill,
  parseStringFill,
  parseTextFill,
  readString,
  trimZeros,
  writeFloatFill,
  writeIntegerFill,
  zeroElement,
} from "../fill-values.ts";
import { isCanonical } from "../number-kinds.ts";

/**
 * Reads a v2 fill value as little-endian bytes; `null` if it is undefined. Structured values are in the type's byte
 * order: `endian`, except for fields with their own.
 *
 * @throws `invalid-metadata`
 */
export function parseFillV2(
  json: JsonValue,
  dataType: DataType,
  endian: Endian | undefined,
  pointer: string,
): Uint8Array | null {
  if (json === null) return null;
  switch (dataType.kind) {
    case "bool":
      return Uint8Array.of(Number(parseBool(json, pointer)));
    case "int":
    case "uint":
    case "float":
    case "complex":
    case "datetime":
    case "timedelta":
      return parseNumberFill(json, dataType, pointer, { lenient: true });
    case "fixed-text":
      return isZero(json)
        ? zeroElement(dataType)
        : parseTextFill(assertString(json, pointer), dataType.size, pointer);
    case "fixed-bytes":
      return isZero(json)
        ? zeroElement(dataType)
        : padBytes(parseBase64(json, pointer), dataType.size, pointer);
    case "raw":
    case "struct": {
      if (isZero(json)) return zeroElement(dataType);
      const bytes = parseBase64(json, pointer);
      if (bytes.length !== dataType.size) {
        throw invalidMetadata(
          pointer,
          `has ${bytes.length} bytes, but the data type has ${dataType.size}`,
          json,
        );
      }
      return swapElement(bytes, dataType, endian ?? "little");
    }
    case "string":
      return parseStringFill(json, pointer);
    case "binary":
      // zarr-python 2 reads it as the number 0, which equals no bytes, so no chunk is omitted for it
      return json === 0 ? null : parseBase64(json, pointer);
    case "object":
      return new TextEncoder().encode(writeJson(json, { nonFinite: "token" }));
  }
}

function parseBool(json: JsonValue, pointer: string): boolean {
  if (json === true || json === 1) return true;
  if (json === false || json === 0) return false;
  throw invalidMetadata(pointer, "must be true or false", json);
}

/** True for forms in which older files store zero bytes. */
function isZero(json: JsonValue): boolean {
  return json === 0 || json === "";
}

/**
 * Writes the v2 form of a fill value; undefined if v2 has none: a NaN other than the canonical one, text that is not
 * Unicode.
 */
export function writeFillV2(
  bytes: Uint8Array | null,
  dataType: DataType,
  endian: Endian | undefined,
): JsonValue | undefined {
  if (bytes === null) return null;
  switch (dataType.kind) {
    case "bool":
      return bytes[0] !== 0;
    case "int":
    case "uint":
      return writeIntegerFill(bytes, dataType.kind === "int");
    case "float":
      return isCanonical(bytes) ? writeFloatFill(bytes) : undefined;
    case "complex": {
      const half = dataType.size / 2;
      const parts = [bytes.subarray(0, half), bytes.subarray(half)];
      return parts.every(isCanonical) ? parts.map(writeFloatFill) : undefined;
    }
    case "datetime":
    case "timedelta":
      return writeIntegerFill(bytes, true);
    case "fixed-text":
      return decodeCodePoints(bytes);
    case "fixed-bytes":
      return toBase64(trimZeros(bytes));
    case "raw":
    case "struct":
      return toBase64(swapElement(bytes, dataType, endian ?? "little"));
    case "string":
      return readString(bytes);
    case "binary":
      return toBase64(bytes);
    case "object":
      return parseJson(bytes, { allowNonFinite: () => true });
  }
}
