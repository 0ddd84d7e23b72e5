import { fromBase64, toBase64 } from "../../../../util/base64.ts";
import type { JsonObject, JsonValue } from "../../../../util/json-value.ts";

/** The only member of the object that represents bytes in JSON. */
export const BINARY = "$binary";

/** Represents bytes in JSON: an object whose only member, `$binary`, holds them in Base64. */
export function binaryJson(bytes: Uint8Array): JsonObject {
  return { [BINARY]: toBase64(bytes) };
}

/** The bytes of an object made by `binaryJson`; undefined for any other value. */
export function binaryBytes(value: JsonValue): Uint8Array | undefined {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return undefined;
  const [member, ...others] = Object.entries(value);
  const [name, text] = member ?? [];
  return name === BINARY && others.length === 0 && typeof text === "string" ? fromBase64(text) : undefined;
}
