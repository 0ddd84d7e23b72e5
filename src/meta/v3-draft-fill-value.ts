import type { JsonValue } from "../util/json-value.ts";
import type { DataType } from "./data-type.ts";
import { invalid } from "./expect.ts";
import {
  parseComplexFill,
  parseFloatFill,
  parseIntegerFill,
  parseTimeFill,
  writeFloatFill,
  writeIntegerFill,
} from "./fill-values.ts";
import { isCanonical } from "./number-bytes.ts";

/**
 * The little-endian bytes of a fill value; null where the content of missing chunks is undefined.
 *
 * @throws `invalid-metadata`
 * @see D19-65
 */
export function parseDraftFill(json: JsonValue, dataType: DataType, pointer: string): Uint8Array | null {
  if (json === null) return null;
  switch (dataType.kind) {
    case "bool":
      if (typeof json !== "boolean") throw invalid(pointer, "must be true or false", json);
      return Uint8Array.of(Number(json));
    case "int":
    case "uint":
      return parseIntegerFill(json, { size: dataType.size, signed: dataType.kind === "int" }, pointer, false);
    case "float":
      return parseFloatFill(json, dataType.size, pointer);
    case "complex":
      return parseComplexFill(json, dataType.size, pointer, parseFloatFill);
    case "datetime":
    case "timedelta":
      return parseTimeFill(json, pointer, false);
    default:
      throw invalid(pointer, "the data type has no fill value but null", json);
  }
}

/** The form of a fill value; undefined where there is none: a NaN with a payload, a type beyond the core. */
export function writeDraftFill(bytes: Uint8Array | null, dataType: DataType): JsonValue | undefined {
  if (bytes === null) return null;
  switch (dataType.kind) {
    case "bool":
      return bytes[0] !== 0;
    case "int":
    case "datetime":
    case "timedelta":
      return writeIntegerFill(bytes, true);
    case "uint":
      return writeIntegerFill(bytes, false);
    case "float":
      return isCanonical(bytes) ? writeFloatFill(bytes) : undefined;
    case "complex": {
      const parts = [bytes.subarray(0, dataType.size / 2), bytes.subarray(dataType.size / 2)];
      return parts.every(isCanonical) ? parts.map(writeFloatFill) : undefined;
    }
    default:
      return undefined;
  }
}
