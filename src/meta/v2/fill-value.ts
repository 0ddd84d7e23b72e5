import { toBase64 } from "../../util/bytes.ts";
import { parseJson } from "../../util/json-parse.ts";
import type { JsonValue } from "../../util/json-value.ts";
import { writeJson } from "../../util/json-write.ts";
import { assertString, invalidMetadata } from "../assert-json.ts";
import { type DataType, type Endian, swapItem } from "../data-type.ts";
import {
  decodeCodePoints,
  padBytes,
  parseBase64,
  parseNumber,
  parseStringFill,
  parseTextFill,
  readString,
  trimZeros,
  writeNumber,
  zeroItem,
} from "../fill-values.ts";
import { isNumber } from "../number-kinds.ts";

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
  if (isNumber(dataType)) return parseNumber(json, dataType, pointer, { isLenient: true });
  switch (dataType.kind) {
    case "fixed-text":
      return isZero(json)
        ? zeroItem(dataType)
        : parseTextFill(assertString(json, pointer), dataType.size, pointer);
    case "fixed-bytes":
      return isZero(json) ? zeroItem(dataType) : padBytes(parseBase64(json, pointer), dataType.size, pointer);
    case "raw":
    case "struct": {
      if (isZero(json)) return zeroItem(dataType);
      const bytes = parseBase64(json, pointer);
      if (bytes.length !== dataType.size) {
        throw invalidMetadata(
          pointer,
          `has ${bytes.length} bytes, but the data type has ${dataType.size}`,
          json,
        );
      }
      return swapItem(bytes, dataType, endian ?? "little");
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
  if (isNumber(dataType)) return writeNumber(bytes, dataType, {});
  switch (dataType.kind) {
    case "fixed-text":
      return decodeCodePoints(bytes);
    case "fixed-bytes":
      return toBase64(trimZeros(bytes));
    case "raw":
    case "struct":
      return toBase64(swapItem(bytes, dataType, endian ?? "little"));
    case "string":
      return readString(bytes);
    case "binary":
      return toBase64(bytes);
    case "object":
      return parseJson(bytes, { allowNonFinite: () => true });
  }
}
