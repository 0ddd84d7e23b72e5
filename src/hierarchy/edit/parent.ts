import { detectionKeys, HIERARCHY_KEY, hierarchyFormat } from "../../meta/detect.ts";
import { assertPlace, assertWritable, textOfUrl } from "../../stores/assertions.ts";
import type { Store, StoreOptions, StoreSpec, WritableStore } from "../../stores/store.ts";
import { childSpec, objectPlace, parentSpec } from "../../stores/store-spec.ts";
import { openStore } from "../../stores/url.ts";
import { isZarrflowError } from "../../util/errors.ts";
import { joinKey } from "../../util/node-path.ts";
import { invalidOption } from "../../util/options.ts";
import type { ZarrNode } from "../node.ts";
import { open } from "../open/open.ts";
import { readDocument } from "../stored-documents.ts";

/** A node to be edited: open, or given by its URL. */
export type EditSource = ZarrNode | string | URL;

/** Opens the node to be edited. @throws as `open`; `unsupported-operation` if the store is not writable. */
export async function nodeToEdit(from: EditSource, signal: AbortSignal | undefined): Promise<ZarrNode> {
  assertPlace(from, "source");
  const source = textOfUrl(from);
  if (typeof source !== "string") {
    if ("layout" in source) return source;
    throw invalidOption("only an open node or a URL can be edited", "a node or a URL", source);
  }
  const node = await open(source, { signal });
  try {
    assertWritable(node.store);
    return node;
  } catch (error) {
    await node.store.close?.();
    throw error;
  }
}

/** The place of a node in the whole hierarchy that contains it. */
export interface ParentHierarchy {
  readonly store: WritableStore;
  readonly spec: StoreSpec;
  readonly path: string;
}

/** Name of a folder that is the root of a hierarchy. */
const ROOT_NAME = /\.zarr$/i;

/**
 * Finds the place of a node in its hierarchy. If the store was opened at the node itself, on a disk or in a bucket, it
 * is opened again at the root of the hierarchy.
 *
 * @throws `unsupported-operation` if the store is not writable.
 */
export async function parentHierarchyOfNode({
  store,
  spec,
  path,
  layout,
}: Pick<ZarrNode, "store" | "spec" | "path" | "layout">): Promise<ParentHierarchy> {
  const hierarchyAround = { store: assertWritable(store), spec, path };
  const isWhole = layout.hierarchy.sharedKeys.length > 0;
  if (isWhole || parentSpec(spec) === undefined) return hierarchyAround;
  return parentHierarchyOf(childSpec(spec, path) ?? spec);
}

/**
 * Finds the place of a folder, which need not exist, in the hierarchy around it. The hierarchy reaches up to the
 * outermost folder that is a node. Folders in between need not be nodes, except above a folder called `*.zarr`, which
 * counts as a root by its name alone. The search ends at the root of a hierarchy that does not store nodes in folders,
 * and at a folder without read access.
 *
 * @throws `unsupported-operation` if the store is not writable.
 */
export async function parentHierarchyOf(
  spec: StoreSpec,
  options: StoreOptions = {},
): Promise<ParentHierarchy> {
  const own = await openStore(spec, options);
  let hierarchyAround = { store: own, spec, path: "" };
  const above = foldersLookedAt(spec, options);
  const [isWhole, first] = await Promise.all([isWholeHierarchy(own, options), above.next()]);
  if (isWhole) return { ...hierarchyAround, store: assertWritable(own) };
  let mayHaveGaps = !isRootName(spec);
  try {
    for (let next = first; !next.done; next = await above.next()) {
      const { folder, found } = next.value;
      const isRoot = isRootName(folder.spec);
      const { isWhole, isNode } = await found;
      if (isNode || (mayHaveGaps && isRoot)) hierarchyAround = folder;
      else if (!mayHaveGaps) break;
      if (isWhole) break;
      mayHaveGaps &&= !isRoot;
    }
  } catch (error) {
    if (!isZarrflowError(error, "access-denied")) throw error;
  }
  return { ...hierarchyAround, store: assertWritable(hierarchyAround.store) };
}

/**
 * Finds the place of a store in the hierarchy around it, which need not be readable or complete yet; undefined for a
 * root. A store object of the caller is the root of its hierarchy; the folders above a folder determine its place.
 */
export async function placeAround(
  spec: StoreSpec,
  options: StoreOptions = {},
): Promise<ParentHierarchy | undefined> {
  const place = objectPlace(spec);
  if (place?.path === "") return undefined;
  if (place) return { store: assertWritable(place.root), spec, path: place.path };
  if (spec.kind !== "directory" && spec.kind !== "s3") return undefined;
  const hierarchyAround = await parentHierarchyOf(spec, options);
  return hierarchyAround.path === "" ? undefined : hierarchyAround;
}

type Folder = Omit<ParentHierarchy, "store"> & { readonly store: Store };

interface FolderLookedAt {
  readonly folder: Folder;
  readonly found: Promise<{ readonly isNode: boolean; readonly isWhole: boolean }>;
}

/** As `foldersAbove`, with the documents of each folder. Folders that are needed in any case are read concurrently. */
async function* foldersLookedAt(
  spec: StoreSpec,
  options: StoreOptions,
): AsyncGenerator<FolderLookedAt, undefined> {
  let together: FolderLookedAt[] = [];
  let mayHaveGaps = !isRootName(spec);
  for await (const folder of foldersAbove(spec)) {
    const found = lookAt(folder.store, options);
    found.catch(() => {}); // reported when the caller awaits this folder
    together.push({ folder, found });
    mayHaveGaps &&= !isRootName(folder.spec);
    if (mayHaveGaps) continue;
    yield* together;
    together = [];
  }
  yield* together;
}

/** Iterates over the folders that contain a store, the nearest first, each with the path from it to the store. */
async function* foldersAbove(spec: StoreSpec): AsyncGenerator<Folder> {
  let path = "";
  for (let around = parentSpec(spec); around; around = parentSpec(around.spec)) {
    path = path === "" ? around.name : joinKey(around.name, path);
    yield { store: await openStore(around.spec), spec: around.spec, path };
  }
}

function isRootName(spec: StoreSpec): boolean {
  return ROOT_NAME.test(parentSpec(spec)?.name ?? "");
}

/**
 * Returns true if a folder is the root of a hierarchy whose nodes are not in folders of their own. The document that
 * shows this is small, so one above the size limit belongs to a group.
 */
export async function isWholeHierarchy(store: Store, options: StoreOptions = {}): Promise<boolean> {
  return (await lookAt(store, options, [])).isWhole;
}

/** Determines if a folder is a node, and if it is the root of such a hierarchy. */
async function lookAt(
  store: Store,
  options: StoreOptions,
  otherKeys: readonly string[] = detectionKeys("").filter((key) => key !== HIERARCHY_KEY),
): Promise<{ readonly isNode: boolean; readonly isWhole: boolean }> {
  // A HEAD of S3 cannot distinguish a missing key from a missing bucket, which would take another request.
  const first = { ...options, range: { offset: 0, length: 1 } };
  const [shared, ...others] = await Promise.all([
    hierarchyDocument(store, options),
    ...otherKeys.map(async (key) => (await store.get(key, first)) !== undefined),
  ]);
  const { isThere, isWhole } = shared;
  return { isNode: isThere || others.includes(true), isWhole };
}

async function hierarchyDocument(
  store: Store,
  { signal }: StoreOptions,
): Promise<{ readonly isThere: boolean; readonly isWhole: boolean }> {
  try {
    const document = (await readDocument(store, HIERARCHY_KEY, { signal }))?.bytes;
    const isThere = document !== undefined;
    return { isThere, isWhole: isThere && hierarchyFormat(document) !== undefined };
  } catch (error) {
    if (isZarrflowError(error, "resource-limit")) return { isThere: true, isWhole: false };
    throw error;
  }
}
