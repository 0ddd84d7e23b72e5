import { gridShape } from "../meta/array-metadata.ts";
import { isJsonObject } from "../meta/assert-json.ts";
import type { DataTypeName } from "../meta/data-type-name.ts";
import type { Store } from "../stores/store.ts";
import { foundOnce } from "../util/awaitable.ts";
import { parseJson } from "../util/json-parse.ts";
import { throughStore, type ZarrArray } from "./node.ts";

/** Results by open array; each array is examined once. */
const looked = new WeakMap<ZarrArray, Promise<ZarrArray>>();

/**
 * Detects the separator in the chunk keys of an array whose document states none: old writers of nested directories
 * omitted it. If the store can list, `/` is chosen when all chunk keys are nested; otherwise when the first chunk has a
 * nested key. Each array is examined once, and not at all if `v2.separator` gives the separator.
 *
 * @returns the array itself if nothing differs; otherwise a copy with a finding.
 */
export async function withChunkSeparator<S extends Store>(
  array: ZarrArray<DataTypeName, S>,
  options: { readonly signal?: AbortSignal | undefined } = {},
): Promise<ZarrArray<DataTypeName, S>> {
  const find = async () =>
    mayBeNested(array) ? (await import("./look-for-separator.ts")).lookForSeparator(array) : array;
  return foundOnce(
    looked as WeakMap<ZarrArray, Promise<ZarrArray<DataTypeName, S>>>,
    array,
    find,
    options.signal,
  );
}

/**
 * As `withChunkSeparator`, for chunks in remote stores. Chunks are requested at their usual keys first, and the
 * separator is detected when one is missing there. A chunk that exists confirms the usual separator.
 */
export async function withSeparatorOnUse(
  array: ZarrArray,
  options: { readonly signal?: AbortSignal | undefined } = {},
): Promise<ZarrArray> {
  const { store, layout, metadata } = array;
  const isNear = store.getSync !== undefined || store.adjacentReads !== undefined;
  if (isNear || looked.has(array) || !mayBeNested(array)) return withChunkSeparator(array, options);
  let found = array;
  const get: Store["get"] = async (key, how) => {
    const bytes = found === array ? await store.get(key, how) : undefined;
    if (bytes && !looked.has(array)) looked.set(array, Promise.resolve(array));
    if (bytes) return bytes;
    found = await withChunkSeparator(array, { signal: how?.signal });
    const coords = layout.parseChunkKey(key, metadata.shape.length, metadata.chunkKeyEncoding);
    return found === array || coords === undefined ? undefined : store.get(found.chunkKey(coords), how);
  };
  const { description } = store;
  return throughStore(array, { description, get, size: (key, how) => store.size(key, how) });
}

/** True if the document does not state the separator, no option gives it, and it makes a difference. */
function mayBeNested({ layout, metadata, reading, documents, shards }: ZarrArray): boolean {
  const { shape, chunkGrid } = metadata;
  if (layout.zarrFormat !== "v2" || reading.v2?.separator !== undefined || shape.length < 2 || shards)
    return false;
  if (gridShape(shape, chunkGrid.chunkShape).includes(0)) return false;
  const key = layout.documentKeys.find((one) => one.endsWith(".zarray"));
  const bytes = key === undefined ? undefined : documents.get(key);
  const document = bytes && parseJson(bytes, { allowNonFinite: () => true });
  return isJsonObject(document) && !Object.hasOwn(document, "dimension_separator");
}
