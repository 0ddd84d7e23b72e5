import { gridShape } from "../meta/array-metadata.ts";
import { isJsonObject } from "../meta/assert-json.ts";
import type { DataTypeName } from "../meta/data-type-name.ts";
import { isListable, type ListableStore, type Store } from "../stores/store.ts";
import { foundOnce } from "../util/awaitable.ts";
import { isZarrflowError, type ZarrflowError } from "../util/errors.ts";
import { parseJson } from "../util/json-parse.ts";
import { throughStore, ZarrArray } from "./node.ts";

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
  const find = async () => (mayBeNested(array) && (await isNested(array)) ? nested(array) : array);
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

const POINTER = "/dimension_separator";
const NESTED = { name: "plain", separator: "/" } as const;

/** True if the first chunk, or all listed chunks, have nested keys. */
export async function isNested(array: ZarrArray): Promise<boolean> {
  const { store, layout, metadata } = array;
  const first = metadata.shape.map(() => 0);
  const has = async (key: string) => {
    try {
      return (await store.size(key)) !== undefined;
    } catch (error) {
      if (isZarrflowError(error, "corrupt-store") || isZarrflowError(error, "path-not-allowed")) return true;
      throw error;
    }
  };
  if (isListable(store)) return !(await has(array.chunkKey(first))) && hasNestedAlone(array, store);
  return (await has(layout.chunkKey(first, NESTED))) && !(await has(array.chunkKey(first)));
}

/**
 * Returns true if there are chunks at nested keys and none at flat ones. Keys that cannot be read count too.
 *
 * @throws errors of the listings, unless other keys decide the question.
 */
async function hasNestedAlone({ layout, metadata }: ZarrArray, store: ListableStore): Promise<boolean> {
  const { shape, chunkKeyEncoding } = metadata;
  const folders: string[] = [];
  const unreadable = new Map<string, ZarrflowError>();
  const options = { onUnreadable: unreadable.set.bind(unreadable) };
  const isFlat = (key: string) => layout.parseChunkKey(key, shape.length, chunkKeyEncoding) !== undefined;
  const isNestedKey = (key: string) => layout.parseChunkKey(key, shape.length, NESTED) !== undefined;
  for await (const entry of store.listDirectory(layout.chunksPrefix, options)) {
    if ("prefix" in entry) folders.push(entry.prefix);
    else if (isFlat(entry.key)) return false;
  }
  if ([...unreadable.keys()].some(isFlat)) return false;
  for (const folder of folders) {
    for await (const { key } of store.list(folder, options)) if (isNestedKey(key)) return true;
  }
  if ([...unreadable.keys()].some(isNestedKey)) return true;
  const [error] = unreadable.values();
  if (error) throw error;
  return false;
}

export function nested<S extends Store>(array: ZarrArray<DataTypeName, S>): ZarrArray<DataTypeName, S> {
  const { store, spec, layout, metadata, documents, stored, consolidated, findings, reading } = array;
  const message =
    'the metadata omits `dimension_separator`, but the chunk keys are nested, so "/" is assumed; other readers may not find these chunks';
  return new ZarrArray<S>({
    store,
    spec,
    layout,
    metadata: { ...metadata, chunkKeyEncoding: NESTED },
    documents,
    stored,
    ...(consolidated && { consolidated }),
    findings: [...findings, { message, pointer: POINTER }],
    reading: { ...reading, v2: { separator: "/" } },
  });
}
