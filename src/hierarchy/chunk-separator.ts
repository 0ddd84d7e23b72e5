import { gridShape } from "../meta/array-metadata.ts";
import { isObject } from "../meta/assert-json.ts";
import type { DataTypeName } from "../meta/data-type-name.ts";
import type { Store } from "../stores/store.ts";
import { foundOnce } from "../util/found-once.ts";
import { parseJson } from "../util/json-parse.ts";
import { throughStore, type ZarrArray } from "./node.ts";

/** What was found for open arrays, each looked at once. */
const looked = new WeakMap<ZarrArray, Promise<ZarrArray>>();

/**
 * The array with the separator that the keys of its chunks have, where its document states none: old writers of nested
 * directories left it out. Where the store can list, keys with `/` are taken when there are no others; elsewhere when the
 * first chunk lies at such a key. It is looked for once an array, and not where `v2.separator` gives the separator.
 *
 * @returns the array itself where nothing differs; else one with a finding.
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
 * As `withChunkSeparator`, for chunks that are read from afar: each is asked for at its usual key, and the separator is looked
 * for when one is missing there. One that is there tells it, too.
 */
export async function withSeparatorOnUse(
  array: ZarrArray,
  options: { readonly signal?: AbortSignal | undefined } = {},
): Promise<ZarrArray> {
  const { store, layout, metadata } = array;
  const isNear = store.getSync !== undefined || store.neighbours !== undefined;
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

/** Whether the document leaves open how keys are joined, no option gives it, and it makes a difference. */
function mayBeNested({ layout, metadata, reading, documents, shards }: ZarrArray): boolean {
  const { shape, chunkGrid } = metadata;
  if (layout.zarrFormat !== "v2" || reading.v2?.separator !== undefined || shape.length < 2 || shards)
    return false;
  if (gridShape(shape, chunkGrid.chunkShape).includes(0)) return false;
  const key = layout.documentKeys.find((one) => one.endsWith(".zarray"));
  const bytes = key === undefined ? undefined : documents.get(key);
  const document = bytes && parseJson(bytes, { allowNonFinite: () => true });
  return isObject(document) && !Object.hasOwn(document, "dimension_separator");
}
