import type { JsonValue } from "../../util/json-value.ts";
import type { DataType, Endian } from "../data-type.ts";
import { parseFillV2, writeFillV2 } from "../v2/fill-value.ts";

/**
 * Reads a v1 fill value as little-endian bytes. The form is v2's, but complex numbers may be only a real part, as the
 * v1 writer stores them.
 *
 * @throws `invalid-metadata`
 */
export function parseFillV1(
  json: JsonValue,
  dataType: DataType,
  endian: Endian | undefined,
  pointer: string,
): Uint8Array | null {
  const isReal = dataType.kind === "complex" && json !== null && !Array.isArray(json);
  return parseFillV2(isReal ? [json, 0] : json, dataType, endian, pointer);
}

/**
 * Writes a v1 fill value: a number (including NaN and infinities), a boolean, text or null. Undefined for values
 * without such a form. These include bytes, because the original reader would use their Base64 text as the value.
 */
export function writeFillV1(bytes: Uint8Array | null, dataType: DataType): JsonValue | undefined {
  if (bytes === null) return null;
  switch (dataType.kind) {
    case "float":
      return bareNumber(writeFillV2(bytes, dataType, "little"));
    case "complex": {
      const parts = writeFillV2(bytes, dataType, "little");
      if (!Array.isArray(parts)) return undefined;
      const [re, im] = parts.map(bareNumber);
      const isReal = bytes.subarray(dataType.size / 2).every((byte) => byte === 0);
      return re === undefined || im === undefined ? undefined : isReal ? re : [re, im];
    }
    case "fixed-bytes":
    case "raw":
    case "struct":
      return bytes.every((byte) => byte === 0) ? zeroOf(dataType) : undefined;
    default:
      return writeFillV2(bytes, dataType, "little");
  }
}

/** Converts v2's words for NaN and infinities to bare numbers. */
function bareNumber(json: JsonValue | undefined): JsonValue | undefined {
  return typeof json === "string" ? Number(json) : json;
}

/** The form of zero bytes that no reader takes for the digit 0 of text. */
function zeroOf(dataType: DataType): 0 | "" {
  if (dataType.kind === "fixed-bytes" || dataType.kind === "fixed-text") return "";
  const isText = dataType.kind === "struct" && dataType.fields.some((field) => zeroOf(field.dataType) === "");
  return isText ? "" : 0;
}
