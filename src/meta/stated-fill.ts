import { isZarrflowError } from "../util/errors.ts";
import type { JsonValue } from "../util/json-value.ts";
import type { FillValue, ZarrFormat } from "./array-metadata.ts";
import { bytesEqual } from "./number-bytes.ts";

/** The fill value as `format` once stated it, where `parse` still reads the same bytes from it. */
export function statedFill(
  { bytes, stated }: FillValue,
  zarrFormat: ZarrFormat,
  parse: (json: JsonValue) => Uint8Array | null,
): JsonValue | undefined {
  if (stated?.zarrFormat !== zarrFormat) return undefined;
  try {
    const read = parse(stated.json);
    return read === bytes || (read && bytes && bytesEqual(read, bytes)) ? stated.json : undefined;
  } catch (error) {
    if (isZarrflowError(error, "invalid-metadata")) return undefined;
    throw error;
  }
}
