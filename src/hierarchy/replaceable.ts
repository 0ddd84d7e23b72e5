import { isJsonObject } from "../meta/assert-json.ts";
import { DOCUMENT_NAMES } from "../stores/key.ts";
import { isListable, isWritable, type ListableStore, type Store, type StoreSpec } from "../stores/store.ts";
import { isZip } from "../stores/store-traits.ts";
import { openStoreIfThere } from "../stores/url.ts";
import { isOfRun, readLock } from "../targets/store-lock.ts";
import { ValueJournal } from "../targets/value-journal.ts";
import { isZarrflowError, ZarrflowError } from "../util/errors.ts";
import { parseJson } from "../util/json-parse.ts";
import type { JsonValue } from "../util/json-value.ts";
import { ancestorPaths, joinKey } from "../util/node-path.ts";
import { openNode } from "./open/open-node.ts";
import { type ReadDocumentOptions, readDocument } from "./stored-documents.ts";

/** Maximum number of names listed in an error. */
const NAMES_TOLD = 5;
/** JSON members that identify documents of nodes and hierarchies: each has one of them. */
const STATED_FORMAT = ["zarr_format", "zarr_consolidated_format"];

/** A path in a store. */
interface Target {
  readonly store: StoreSpec;
  readonly path: string;
}

/**
 * Checks that the target is empty or contains a Zarr: nothing else is ever removed. A zip is replaced as a whole, so it
 * must not contain anything beside the path.
 *
 * @throws `target-not-empty`; `resource-limit` if a document is too large to identify.
 */
export async function assertReplaceable(
  { store, path }: Target,
  { maxMetadata, signal }: ReadDocumentOptions = {},
): Promise<void> {
  for (const spec of specsAt(store)) await assertZarr(spec, path, { maxMetadata, signal });
}

/** All stores that may exist at a place, since a folder also replaces a file and a file a folder. */
function specsAt(spec: StoreSpec): readonly StoreSpec[] {
  if (spec.kind !== "directory" && spec.kind !== "zip") return [spec];
  const { path } = spec;
  return [
    { kind: "directory", path },
    { kind: "zip", path },
  ];
}

async function assertZarr(spec: StoreSpec, path: string, reading: ReadDocumentOptions): Promise<void> {
  const store = await openedIfThere(spec);
  if (!store) return;
  try {
    const found = await foreignContents(store, path, reading);
    if (found !== undefined) {
      throw notRemoved(store, "the target contains something other than Zarr, which would be lost", found);
    }
    const beside = isZip(spec) && path !== "" ? await contentsBeside(store, path, reading) : undefined;
    if (beside !== undefined) {
      throw notRemoved(
        store,
        `a zip is replaced as a whole, but this one contains more than ${path}`,
        beside,
      );
    }
  } finally {
    await store.close?.();
  }
}

function notRemoved(store: Store, reason: string, found: string): ZarrflowError {
  const hint = "Choose another target, or delete it yourself.";
  return new ZarrflowError("target-not-empty", reason, { store: store.description, found, hint });
}

async function openedIfThere(spec: StoreSpec): Promise<Store | undefined> {
  try {
    return await openStoreIfThere(spec);
  } catch (error) {
    if (!isZarrflowError(error, "corrupt-store")) throw error;
    const reason = "the target is a file, but not a zip with Zarr, and would be lost";
    const hint = "Choose another target, or delete it yourself.";
    throw new ZarrflowError("target-not-empty", reason, { ...error.details, hint }, { cause: error });
  }
}

/** Undefined for a Zarr, an empty place, or the remains of a run; otherwise the names found there. */
async function foreignContents(
  store: Store,
  path: string,
  reading: ReadDocumentOptions,
): Promise<string | undefined> {
  for (const place of new Set(["", path])) if (await hasZarrDocument(store, place, reading)) return undefined;
  if (!isListable(store) || (await hasRunsLock(store, reading)) || (await hasLedger(store, reading)))
    return undefined;
  return firstNames(namesIn(store, ""));
}

/**
 * Lists names other than the path, nodes below it and documents of groups above it, or a group above with attributes;
 * undefined without any.
 */
async function contentsBeside(
  store: Store,
  path: string,
  reading: ReadDocumentOptions,
): Promise<string | undefined> {
  if (!isListable(store)) return undefined;
  const above = ancestorPaths(path);
  for (const group of above) {
    const node = await openNode(store, group, reading);
    if (node && Object.keys(node.attributes).length > 0) return `attributes of ${group || "the root"}`;
  }
  return firstNames(namesBeside(store, path, above));
}

async function* namesBeside(
  store: ListableStore,
  path: string,
  above: readonly string[],
): AsyncGenerator<string> {
  const own = [...above.slice(1), path].map((group) => joinKey(group, ""));
  for (const group of above) {
    const documents: readonly string[] = DOCUMENT_NAMES.map((name) => joinKey(group, name));
    for await (const name of namesIn(store, joinKey(group, ""))) {
      if (!own.includes(name) && !documents.includes(name)) yield name;
    }
  }
}

async function* namesIn(store: ListableStore, folder: string): AsyncGenerator<string> {
  for await (const entry of store.listDirectory(folder)) {
    yield "prefix" in entry ? entry.prefix : entry.key;
  }
}

/** The first names as text; undefined without any. */
async function firstNames(names: AsyncIterable<string>): Promise<string | undefined> {
  const first: string[] = [];
  for await (const name of names) {
    first.push(name);
    if (first.length > NAMES_TOLD) return `${first.slice(0, NAMES_TOLD).join(", ")} and more`;
  }
  return first.length === 0 ? undefined : first.join(", ");
}

async function hasRunsLock(store: Store, { signal }: ReadDocumentOptions): Promise<boolean> {
  const lock = await readLock(store, { signal });
  return lock !== undefined && isOfRun(lock);
}

/** Returns true if an unfinished run can be resumed there, even if its lock is gone. */
async function hasLedger(store: Store, { signal }: ReadDocumentOptions): Promise<boolean> {
  return isWritable(store) && (await ValueJournal.find(store, { signal })) !== undefined;
}

/**
 * Returns true if a document at a place is one of a node, in any format. A text file that only has such a name does not
 * count; a document that is not fully understood does.
 */
async function hasZarrDocument(store: Store, path: string, reading: ReadDocumentOptions): Promise<boolean> {
  for (const name of DOCUMENT_NAMES) {
    const bytes = (await readDocument(store, joinKey(path, name), reading))?.bytes;
    if (bytes !== undefined && isZarrDocument(name, bytes)) return true;
  }
  try {
    return (await openNode(store, path, reading)) !== undefined;
  } catch (error) {
    if (isZarrflowError(error) && error.code !== "resource-limit") return false;
    throw error;
  }
}

/** True if a document states a Zarr format, or is an array document of v1, named `meta`. */
function isZarrDocument(name: string, bytes: Uint8Array): boolean {
  let json: JsonValue;
  try {
    json = parseJson(bytes, { allowNonFinite: () => true });
  } catch (error) {
    if (isZarrflowError(error)) return false;
    throw error;
  }
  if (!isJsonObject(json)) return false;
  return STATED_FORMAT.some((member) => member in json) && name !== ".zattrs" && name !== "attrs";
}
