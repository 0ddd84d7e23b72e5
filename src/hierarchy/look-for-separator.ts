import type { DataTypeName } from "../meta/data-type-name.ts";
import { isListable, type ListableStore, type Store } from "../stores/store.ts";
import { isZarrflowError, type ZarrflowError } from "../util/errors.ts";
import { ZarrArray } from "./node.ts";

/** Returns the array with nested chunk keys if its chunks have them; otherwise the array itself. */
export async function lookForSeparator<S extends Store>(
  array: ZarrArray<DataTypeName, S>,
): Promise<ZarrArray<DataTypeName, S>> {
  return (await isNested(array)) ? nested(array) : array;
}

/** True if the first chunk, or all listed chunks, have nested keys. */
async function isNested(array: ZarrArray): Promise<boolean> {
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

const POINTER = "/dimension_separator";

const NESTED = { name: "plain", separator: "/" } as const;

function nested<S extends Store>(array: ZarrArray<DataTypeName, S>): ZarrArray<DataTypeName, S> {
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
