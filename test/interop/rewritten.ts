import { openArray, type Range, type ZarrArray, type ZarrNode } from "../../src/index.ts";
import type { NodeMetadata } from "../../src/meta/array-metadata.ts";
import type { WriteOptions } from "../../src/meta/format.ts";
import { formatNamed } from "../../src/meta/formats.ts";
import type { WritableStore } from "../../src/stores/store.ts";
import { chunkRefs } from "../../src/streams/chunk-refs.ts";
import { decodeChunks, encodeChunks, readChunks, writeChunks } from "../../src/streams/index.ts";
import { parseJson } from "../../src/util/json-parse.ts";
import { type JsonObject, type JsonValue, jsonEqual } from "../../src/util/json-value.ts";
import type { Outcome } from "./compare.ts";
import { CORPUS, corpusCases, LEGACY_CORPUS, legacyCases } from "./corpora.ts";
import { compareArray, openArrayCase } from "./corpus-case.ts";
import { EXCEPTIONS } from "./exceptions.ts";
import { compareLegacyArray, openLegacyCase } from "./legacy-case.ts";
import type { FeaturedCase } from "./tally.ts";

/** An array of a corpus that is as it should be. */
export interface GoodArray extends FeaturedCase {
  /** Its id as the name of a node. */
  readonly name: string;
  /** Folder of its store, and its path in there. */
  readonly folder: string;
  readonly path: string;
  readonly isZip: boolean;
  readonly sha256?: string;
  readonly values?: readonly unknown[];
  readonly also_accept_values?: readonly (readonly unknown[])[];
  /** Whether what missing chunks hold is left to the reader. */
  readonly undefined_fill?: boolean;
  /** What is read of it; all by default. */
  readonly selection?: readonly Range[];
  open(): Promise<ZarrNode>;
  /** Compares an array with the case. */
  compare(array: ZarrNode): Promise<Outcome>;
}

/** Every array of both corpora that is read whole. */
export const goodArrays: readonly GoodArray[] = [
  ...corpusCases
    .filter((one) => one.error === undefined && one.array !== null && (one.sha256 ?? one.values))
    .map((one) => ({
      ...one,
      name: nameOf(one.id),
      folder: `${CORPUS}${one.path}`,
      path: one.array ?? "",
      isZip: one.store === "zip",
      open: () => openArrayCase(one, CORPUS),
      compare: (array: ZarrNode) => compareArray(one, array),
    })),
  ...legacyCases
    .filter((one) => one.error === undefined && one.kind === "array")
    .map((one) => ({
      ...one,
      name: nameOf(one.id),
      folder: `${LEGACY_CORPUS}${one.path}`,
      path: one.array_path.replace(/^\//, ""),
      isZip: one.store === "zip",
      open: () => openLegacyCase(one, LEGACY_CORPUS),
      compare: async (array: ZarrNode): Promise<Outcome> => {
        const wrong = array.kind === "array" ? await compareLegacyArray(one, array) : "a group was opened";
        return wrong ? { wrong } : "right";
      },
    })),
].filter(({ id }) => !EXCEPTIONS.some((one) => one.id.test(id)));

function nameOf(id: string): string {
  return id.replaceAll(/[^\w.-]/gu, (letter) => (letter === "/" ? "_" : `u${letter.codePointAt(0)}`));
}

/**
 * Makes an array anew at `path` of another store: its documents from what was understood of them, each stored chunk
 * decoded and encoded again.
 */
export async function rewriteArray(
  source: ZarrArray,
  store: WritableStore,
  path: string,
  options: WriteOptions = {},
): Promise<ZarrArray> {
  const zarrFormat = formatNamed(source.layout.zarrFormat);
  const documents = [
    ...(zarrFormat.writeShared?.() ?? []),
    ...zarrFormat.write(source.metadata, zarrFormat.layout(path), options),
  ];
  for (const [key, bytes] of documents) await store.set(key, bytes);
  const target = await openArray({ store, path });
  const [from, to] = [source.innerChunks(1), target.innerChunks(1)];
  await readChunks(from, chunkRefs(from))
    .pipeThrough(decodeChunks(from))
    .pipeThrough(encodeChunks(to, { writeEmptyChunks: true }))
    .pipeTo(writeChunks({ store, path, chunkKey: (coords) => to.chunkKey(coords), shards: to.shards }));
  return openArray({ store, path });
}

/** Keys of documents that say other than those that they were made from. */
export function changedDocuments(before: ZarrArray, after: ZarrArray): string[] {
  const ownKeys = ({ layout }: ZarrArray) =>
    layout.documentKeys.filter((key) => !layout.hierarchy.sharedKeys.includes(key));
  const keys = ownKeys(after);
  return ownKeys(before).filter((key, i) => {
    const [old, now] = [before.documents.get(key), after.documents.get(keys[i] ?? "")];
    if (now === undefined) return old !== undefined && !jsonEqual(objectOf(old), {});
    const wanted = old ? rewritten(nameOfKey(key), objectOf(old), before.metadata) : {};
    return !jsonEqual(wanted, objectOf(now));
  });
}

function nameOfKey(key: string): string {
  return key.slice(key.lastIndexOf("/") + 1);
}

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
