import { JSON_VALUES, parseJson } from "../../util/json-parse.ts";
import type { JsonValue } from "../../util/json-value.ts";
import { writeJson } from "../../util/json-write.ts";

/** The object of its JSON text, with bare tokens for what is not finite; no text is `null`. */
export function parseObject(text: Uint8Array): JsonValue {
  return text.length === 0 ? null : parseJson(text, JSON_VALUES);
}

/** The JSON text that an object is held as between codecs. */
export function objectText(object: JsonValue): string {
  return writeJson(object, { nonFinite: "token" });
}
