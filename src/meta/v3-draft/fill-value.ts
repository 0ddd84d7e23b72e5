import type { JsonValue } from "../../util/json-value.ts";
import { invalid } from "../assert-json.ts";
import type { DataType } from "../data-type.ts";
import { parseBoolFill, parseNumberFill } from "../fill-values.ts";
import { writeFillV2 } from "../v2/fill-value.ts";

/**
 * Reads a fill value as little-endian bytes; null if the content of missing chunks is undefined.
 *
 * @throws `invalid-metadata`
 */
export function parseDraftFill(json: JsonValue, dataType: DataType, pointer: string): Uint8Array | null {
  if (json === null) return null;
  switch (dataType.kind) {
    case "bool":
      return parseBoolFill(json, pointer);
    case "int":
    case "uint":
    case "float":
    case "complex":
    case "datetime":
    case "timedelta":
      return parseNumberFill(json, dataType, pointer, { lenient: false });
    default:
      throw invalid(pointer, "the fill value of this data type must be null", json);
  }
}

/**
 * Writes a fill value in the same form as v2; undefined if it has no such form: a NaN with a payload, a type beyond
 * the core.
 */
export function writeDraftFill(bytes: Uint8Array | null, dataType: DataType): JsonValue | undefined {
  if (bytes === null) return null;
  switch (dataType.kind) {
    case "bool":
    case "int":
    case "uint":
    case "float":
    case "complex":
    case "datetime":
    case "timedelta":
      return writeFillV2(bytes, dataType, "little");
    default:
      return undefined;
  }
}
