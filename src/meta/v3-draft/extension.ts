import { pointerTo } from "../../util/json-pointer.ts";
import type { JsonObject, JsonValue } from "../../util/json-value.ts";
import {
  assertList,
  assertObject,
  assertString,
  invalid,
  memberOr,
  refusal,
  required,
} from "../assert-json.ts";
import type { Finding } from "../format.ts";

/** URIs of extensions that the application declares to understand. */
const understood = new Set<string>();

/**
 * Declares that the application understands an extension of the v3 drafts, so that hierarchies, groups and arrays
 * which require it can be opened. The application must implement the extension itself: zarrflow only stops rejecting
 * it.
 */
export function understandExtension(uri: string): void {
  understood.add(uri);
}

/**
 * Reads the `extensions` of a document; none if absent.
 *
 * @throws `unsupported-extension` for an unknown one that must be understood, `invalid-metadata`.
 */
export function parseDraftExtensions(document: JsonObject, findings: Finding[]): JsonValue[] {
  const list = assertList(memberOr(document, "extensions", []), "/extensions");
  list.forEach((json, i) => {
    const pointer = pointerTo("/extensions", i);
    const extension = assertObject(json, pointer);
    const uri = assertString(required(extension, "extension", pointer), pointerTo(pointer, "extension"));
    const mustUnderstand = required(extension, "must_understand", pointer);
    if (typeof mustUnderstand !== "boolean") {
      throw invalid(pointerTo(pointer, "must_understand"), "must be true or false", mustUnderstand);
    }
    if (understood.has(uri)) return;
    if (mustUnderstand) {
      throw refusal(
        "unsupported-extension",
        pointer,
        "an extension marked `must_understand` is not known",
        uri,
      );
    }
    findings.push({ message: `the extension \`${uri}\` is ignored`, pointer });
  });
  return list;
}

/** Returns the error for an extension object at a point where no extension is known. */
export function unknownExtension(object: JsonObject, pointer: string, what: string): Error {
  const uri = assertString(required(object, "extension", pointer), pointerTo(pointer, "extension"));
  required(object, "type", pointer);
  return refusal("unsupported-extension", pointer, `the extension of ${what} is not known`, uri);
}
