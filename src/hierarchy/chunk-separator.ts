import { gridShape } from "../meta/array-metadata.ts";
import { isObject } from "../meta/assert-json.ts";
import { isListable, type ListableStore, type Store } from "../stores/store.ts";
import { isZarrflowError, type ZarrflowError } from "../util/errors.ts";
import { parseJson } from "../util/json-parse.ts";
import { ZarrArray } from "./node.ts";

const POINTER = "/dimension_separator";
const NESTED = { name: "plain", separator: "/" } as const;

const looked = new WeakMap<ZarrArray, Promise<ZarrArray>>();

/**
 * The array with the separator that the keys of its chunks have, where its document states none: old writers of nested
 * directories left it out. Where the store can list, keys with `/` are taken when there are no others; elsewhere when the
 * first chunk lies at such a key. It is looked for once an array, and not where `v2.separator` gives the separator.
 *
 * @returns the array itself where nothing differs; else one with a finding.
 */
export async function withChunkSeparator<S extends Store>(
  array: ZarrArray<S>,
  options: { readonly signal?: AbortSignal | undefined } = {},
): Promise<ZarrArray<S>> {
  if (!mayBeNested(array)) return array;
  const known = looked.get(array) as Promise<ZarrArray<S>> | undefined;
  if (known) return known;
  const found = lookFor(array, options.signal);
  looked.set(array, found);
  found.catch(() => looked.delete(array));
  return found;
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

async function lookFor<S extends Store>(
  array: ZarrArray<S>,
  signal: AbortSignal | undefined,
): Promise<ZarrArray<S>> {
  return (await isNested(array, signal)) ? nested(array) : array;
}

async function isNested(array: ZarrArray, signal: AbortSignal | undefined): Promise<boolean> {
  const { store, layout, metadata } = array;
  const first = metadata.shape.map(() => 0);
  const has = async (key: string) => {
    try {
      return (await store.size(key, { signal })) !== undefined;
    } catch (error) {
      if (isZarrflowError(error, "corrupt-store") || isZarrflowError(error, "path-not-allowed")) return true;
      throw error;
    }
  };
  if (isListable(store)) return !(await has(array.chunkKey(first))) && hasNestedAlone(array, store, signal);
  return (await has(layout.chunkKey(first, NESTED))) && !(await has(array.chunkKey(first)));
}

/**
 * Whether chunks lie at nested keys, and none at flat ones. The key of what cannot be read counts too.
 *
 * @throws what the listings throw, where that does not decide it.
 */
async function hasNestedAlone(
  { layout, metadata }: ZarrArray,
  store: ListableStore,
  signal: AbortSignal | undefined,
): Promise<boolean> {
  const { shape, chunkKeyEncoding } = metadata;
  const folders: string[] = [];
  const unreadable = new Map<string, ZarrflowError>();
  const options = { onUnreadable: unreadable.set.bind(unreadable), signal };
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

function nested<S extends Store>(array: ZarrArray<S>): ZarrArray<S> {
  const { store, spec, layout, metadata, documents, stored, consolidated, findings, reading } = array;
  const message =
    'the metadata omit `dimension_separator`, but the chunks have nested keys and are read with "/": other readers do not find them';
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
