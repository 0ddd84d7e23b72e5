import { ZarrflowError } from "../util/errors.ts";
import { type JsonCut, parseJsonCut } from "../util/json-cut.ts";
import { maxMemoryOf } from "../util/json-memory.ts";
import { parseJson } from "../util/json-parse.ts";
import { type JsonObject, type JsonPath, jsonEqual } from "../util/json-value.ts";
import { writeJson } from "../util/json-write.ts";
import { joinKey } from "../util/node-path.ts";
import type { ZarrFormat } from "./array-metadata.ts";
import { assertObject, integerOf, invalidMetadata, isJsonObject, refusal, required } from "./assert-json.ts";
import type { DocumentLimits, Documents } from "./format.ts";
import { isInside } from "./v3/consolidated.ts";

/** Consolidated metadata: the documents of a group and of all nodes below it, gathered in one. */

const V2_DOCUMENTS = [".zarray", ".zgroup", ".zattrs"];

/**
 * Reads the documents in the `.zmetadata` of the group at `path`, by key. Ignores keys that are not documents, and
 * keys outside of the group.
 *
 * @throws `invalid-metadata`, `unsupported-format`.
 */
export function readConsolidatedV2(
  bytes: Uint8Array,
  path: string,
  { maxMetadata }: DocumentLimits = {},
): Documents {
  const allowNonFinite = ([, key, name]: JsonPath) =>
    isNamed(String(key), ".zattrs") || (isNamed(String(key), ".zarray") && name === "fill_value");
  const { json, texts } = parseJsonCut(bytes, CUT_V2, {
    allowNonFinite,
    maxMemory: maxMemoryOf(maxMetadata),
  });
  const root = assertObject(json, "");
  if ("record_size" in root && !("zarr_consolidated_format" in root)) throw parquetReferences();
  const format = required(root, "zarr_consolidated_format");
  if (integerOf(format) !== 1n) {
    throw refusal("unsupported-format", "/zarr_consolidated_format", "not the number 1", format);
  }
  assertObject(required(root, "metadata"), "/metadata");
  return texts.renamed((key) => {
    const isDocument = isInside(key) && V2_DOCUMENTS.some((name) => isNamed(key, name));
    return isDocument ? joinKey(path, key) : undefined;
  });
}

/** Sets of references have a root document named like consolidated metadata. */
function parquetReferences(): ZarrflowError {
  return new ZarrflowError("unsupported-format", "this is a kerchunk reference set in Parquet, not Zarr", {
    hint: 'Convert it to Zarr first: xarray.open_dataset("REFERENCES", engine="kerchunk", chunks={}).to_zarr("out.zarr").',
  });
}

/** Position of the nodes' documents in a `.zmetadata`. */
const CUT_V2: JsonCut = {
  levels: 2,
  isCut: ([name, key]) => name === "metadata" && key !== undefined,
  withNames: true,
};

/**
 * Adds the consolidated metadata of the group at `path` to `documents`: the documents of the group and of all nodes
 * below, by key, in publishing order. Returns them unchanged if there is no group, or if the format has no
 * consolidated metadata. Copies the content of the documents exactly, including bare NaN tokens.
 */
export function consolidate(
  zarrFormat: ZarrFormat,
  path: string,
  documents: Documents,
): Map<string, Uint8Array> {
  const groupKey = joinKey(path, ".zgroup");
  if (zarrFormat === "v2" && documents.has(groupKey)) {
    // before the document that creates the group, so that nobody finds the group without it
    const consolidated = [joinKey(path, ".zmetadata"), writeConsolidatedV2(documents, path)] as const;
    return new Map(
      [...documents].flatMap((entry) => (entry[0] === groupKey ? [consolidated, entry] : [entry])),
    );
  }
  const rootKey = joinKey(path, "zarr.json");
  const root = documents.get(rootKey);
  if (zarrFormat !== "v3" || root === undefined) return new Map(documents);
  const consolidated = writeConsolidatedV3(root, documents, path);
  return new Map([...documents].map(([key, bytes]) => [key, key === rootKey ? consolidated : bytes]));
}

/** Returns a `.zmetadata` formatted like zarr-python's. */
export function writeConsolidatedV2(documents: Documents, path: string): Uint8Array {
  const metadata = below(documents, path).filter(([key]) => V2_DOCUMENTS.some((name) => isNamed(key, name)));
  const root = { metadata: Object.fromEntries(metadata), zarr_consolidated_format: 1 };
  return encode(writeJson(root, { indent: 4, sortNames: true, ascii: true, nonFinite: "token" }));
}

/** Returns a group's `zarr.json` without consolidated metadata. */
export function withoutConsolidatedV3(root: Uint8Array): Uint8Array {
  return encode(writeJson(withoutConsolidated(parse(root)), { indent: 2, ascii: true, nonFinite: "token" }));
}

/**
 * Returns the group document `root` with the documents below `path` inline; an array's document is returned
 * unchanged. Members of one group are adjacent, and groups precede their content: zarr-python finds no others.
 */
function writeConsolidatedV3(root: Uint8Array, documents: Documents, path: string): Uint8Array {
  const { node_type: type, consolidated_metadata: _, ...members } = parse(root);
  if (type !== "group") return root;
  const nodes = below(documents, path)
    .filter(([key]) => key.endsWith("/zarr.json"))
    .map(([key, document]) => {
      const name = key.slice(0, -"/zarr.json".length);
      return { name, level: name.split("/").length, document: withoutConsolidated(document) };
    })
    .sort((a, b) => a.level - b.level || (a.name < b.name ? -1 : 1))
    .map(({ name, document }): [string, JsonObject] => [name, document]);
  const consolidated = { kind: "inline", must_understand: false, metadata: Object.fromEntries(nodes) };
  const document = { ...members, consolidated_metadata: consolidated, node_type: type };
  return encode(writeJson(document, { indent: 2, ascii: true, nonFinite: "token" }));
}

/** True if two documents are equal, ignoring consolidated metadata. */
export function sameDocument(a: Uint8Array, b: Uint8Array): boolean {
  return jsonEqual(withoutConsolidated(parse(a)), withoutConsolidated(parse(b)));
}

/** The parsed documents below `path`, by their keys relative to it. */
function below(documents: Documents, path: string): [string, JsonObject][] {
  const prefix = joinKey(path, "");
  return [...documents]
    .filter(([key]) => key.startsWith(prefix))
    .map(([key, bytes]) => [key.slice(prefix.length), parse(bytes)]);
}

function withoutConsolidated({ consolidated_metadata: _, ...document }: JsonObject): JsonObject {
  return document;
}

function parse(bytes: Uint8Array): JsonObject {
  const json = parseJson(bytes, { allowNonFinite: () => true });
  if (!isJsonObject(json)) throw invalidMetadata("", "must be an object", json);
  return json;
}

function isNamed(key: string, name: string): boolean {
  return key === name || key.endsWith(`/${name}`);
}

function encode(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}
