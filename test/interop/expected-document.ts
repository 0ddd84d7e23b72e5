import type { NodeMetadata } from "../../src/meta/array-metadata.ts";
import { formatNamed } from "../../src/meta/formats.ts";
import { parseJson } from "../../src/util/json-parse.ts";
import type { JsonObject, JsonValue } from "../../src/util/json-value.ts";

const v3 = formatNamed("v3");

/** A document as an object; bare NaN and Infinity are numbers. */
export function objectOf(bytes: Uint8Array): JsonObject {
  return parseJson(bytes, { allowNonFinite: () => true }) as JsonObject;
}

/** What a document reads like once written by the rules that leave no choice. */
export function rewritten(key: string, document: JsonObject, metadata: NodeMetadata): JsonObject {
  const { consolidated_metadata: _, ...rest } = document;
  if (key === "meta") return { ...rest, order: rest.compression === "blosc" ? (rest.order ?? "C") : "C" };
  if (key === ".zarray") {
    const { filters = null, fill_value = null } = rest;
    return { ...rest, ...separatorOf(metadata), filters, fill_value: finite(fill_value) };
  }
  if (key.endsWith(".array")) return { extensions: [], attributes: {}, ...namesOfDraft(rest) };
  const isOld = JSON.stringify(rest.data_type ?? "").includes("structured");
  if (!isOld || metadata.kind !== "array") return rest;
  // Structures have one form to be written in: V3-26.
  const written = v3.write(metadata, v3.layout("")).get("zarr.json") ?? new Uint8Array();
  const { data_type, fill_value, codecs } = objectOf(written);
  return { ...rest, ...(data_type && fill_value && codecs && { data_type, fill_value, codecs }) };
}

/** The separator that reading was told. */
function separatorOf(metadata: NodeMetadata): JsonObject {
  const isNested = metadata.kind === "array" && metadata.chunkKeyEncoding.separator === "/";
  return isNested ? { dimension_separator: "/" } : {};
}

/** Names that the draft of 2019 knows; others are never written: D19-31. */
function namesOfDraft(document: JsonObject): JsonObject {
  const names = ["shape", "data_type", "chunk_grid", "chunk_memory_layout", "compressor", "fill_value"];
  const known = [...names, "extensions", "attributes"];
  return Object.fromEntries(Object.entries(document).filter(([name]) => known.includes(name)));
}

function finite(value: JsonValue): JsonValue {
  return typeof value === "number" && !Number.isFinite(value) ? String(value) : value;
}
