import type { JsonObject } from "../../util/json-value.ts";
import type { ZarrFormat } from "../array-metadata.ts";
import { member } from "../assert-json.ts";

/** The draft that wrote a `zarr.json`, from the form of its `zarr_format`; undefined for v3 itself. */
export function draftOf(document: JsonObject): ZarrFormat | undefined {
  const format = member(document, "zarr_format");
  if (typeof format !== "string" || !/^https?:/.test(format)) return undefined;
  return Object.hasOwn(document, SUFFIX) ? "v3-draft-2020" : "v3-draft-2019";
}

export const SUFFIX = "metadata_key_suffix";
