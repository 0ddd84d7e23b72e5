import type { JsonValue } from "../../util/json-value.ts";
import type { DataType, Endian } from "../data-type.ts";
import { parseFillV2, writeFillV2 } from "../v2/fill-value.ts";

/**
 * The little-endian bytes of a v1 fill value: as v2 has it, and of complex numbers also the real part alone, as the
 * reference writes it.
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
 * The v1 form of a fill value: a number, NaN and infinities too, a boolean, text or null; undefined where that cannot
 * say it. Bytes are none of these: the reference would take their Base64 for the value itself.
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

/** A number that is not finite as such, where v2 has a word for it. */
function bareNumber(json: JsonValue | undefined): JsonValue | undefined {
  return typeof json === "string" ? Number(json) : json;
}

/** What stands for zero bytes, and is never taken for the digit 0 of text. */
function zeroOf(dataType: DataType): 0 | "" {
  if (dataType.kind === "fixed-bytes" || dataType.kind === "fixed-text") return "";
  const isText = dataType.kind === "struct" && dataType.fields.some((field) => zeroOf(field.dataType) === "");
  return isText ? "" : 0;
}
