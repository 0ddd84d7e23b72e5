import { detectionKeys, HIERARCHY_KEY, hierarchyFormat } from "../../meta/detect.ts";
import { joinKey } from "../../meta/join-key.ts";
import { assertPlace, assertWritable, textOfUrl } from "../../stores/assertions.ts";
import { childSpec, parentSpec } from "../../stores/folder-spec.ts";
import { objectPlace } from "../../stores/object-spec.ts";
import type { Store, StoreOptions, StoreSpec, WritableStore } from "../../stores/store.ts";
import { openStore } from "../../stores/url.ts";
import { invalid } from "../../util/check-options.ts";
import { isZarrflowError } from "../../util/errors.ts";
import type { ZarrNode } from "../node.ts";
import { open } from "../open/open.ts";
import { readDocument } from "../stored-documents.ts";

/** A node to be edited: one that is open, or its URL. */
export type EditSource = ZarrNode | string | URL;

/** The node that a source is or names. @throws as `open`; `unsupported-operation` for a store that cannot be written. */
export async function nodeToEdit(from: EditSource, signal: AbortSignal | undefined): Promise<ZarrNode> {
  assertPlace(from, "source");
  const source = textOfUrl(from);
  if (typeof source !== "string") {
    if ("layout" in source) return source;
    throw invalid("only an open node, or its URL, can be edited", "a node or a URL", source);
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

/** A node's place in the whole hierarchy that it is part of. */
export interface ParentHierarchy {
  readonly store: WritableStore;
  readonly spec: StoreSpec;
  readonly path: string;
}

/** A folder whose name says that it is the root of a hierarchy. */
const ROOT_NAME = /\.zarr$/i;

/**
 * Where a node is in its hierarchy. A folder, of a disk or a bucket, that was opened at the node itself is opened above
 * it again, as far as the hierarchy reaches.
 *
 * @throws `unsupported-operation` for a store that cannot be written.
 */
export async function homeOf({
  store,
  spec,
  path,
  layout,
}: Pick<ZarrNode, "store" | "spec" | "path" | "layout">): Promise<ParentHierarchy> {
  const home = { store: assertWritable(store), spec, path };
  const isWhole = layout.hierarchy.sharedKeys.length > 0;
  if (isWhole || parentSpec(spec) === undefined) return home;
  return parentHierarchyOf(childSpec(spec, path) ?? spec);
}

/**
 * Where a folder, which need not exist, is in the hierarchy around it. That reaches up to the outermost folder above
 * it that is a node; folders between need not be nodes, but none beyond one called `*.zarr`, which is a root by its
 * name if by nothing else. A hierarchy whose nodes are no folders is a root in any case. What may not be read above
 * the folder ends it.
 *
 * @throws `unsupported-operation` for a store that cannot be written.
 */
export async function parentHierarchyOf(
  spec: StoreSpec,
  options: StoreOptions = {},
): Promise<ParentHierarchy> {
  const own = await openStore(spec, options);
  let home = { store: own, spec, path: "" };
  const above = foldersLookedAt(spec, options);
  const [isWhole, first] = await Promise.all([isWholeHierarchy(own, options), above.next()]);
  if (isWhole) return { ...home, store: assertWritable(own) };
  let mayHaveGaps = !isRootName(spec);
  try {
    for (let next = first; !next.done; next = await above.next()) {
      const { folder, found } = next.value;
      const isRoot = isRootName(folder.spec);
      const { isWhole, isNode } = await found;
      if (isNode || (mayHaveGaps && isRoot)) home = folder;
      else if (!mayHaveGaps) break;
      if (isWhole) break;
      mayHaveGaps &&= !isRoot;
    }
  } catch (error) {
    if (!isZarrflowError(error, "access-denied")) throw error;
  }
  return { ...home, store: assertWritable(home.store) };
}

/**
 * Where something is in what is around it, whether that can be read or is just being made; undefined for a root. A store
 * of the caller's is the root of its hierarchy; a folder is where what is above it says.
 */
export async function placeAround(
  spec: StoreSpec,
  options: StoreOptions = {},
): Promise<ParentHierarchy | undefined> {
  const place = objectPlace(spec);
  if (place?.path === "") return undefined;
  if (place) return { store: assertWritable(place.root), spec, path: place.path };
  if (spec.kind !== "directory" && spec.kind !== "s3") return undefined;
  const home = await parentHierarchyOf(spec, options);
  return home.path === "" ? undefined : home;
}

type Folder = Omit<ParentHierarchy, "store"> & { readonly store: Store };

interface FolderLookedAt {
  readonly folder: Folder;
  readonly found: Promise<{ readonly isNode: boolean; readonly isWhole: boolean }>;
}

/** As `foldersAbove`; those that are looked at in any case are looked at together. */
async function* foldersLookedAt(
  spec: StoreSpec,
  options: StoreOptions,
): AsyncGenerator<FolderLookedAt, undefined> {
  let together: FolderLookedAt[] = [];
  let mayHaveGaps = !isRootName(spec);
  for await (const folder of foldersAbove(spec)) {
    const found = lookAt(folder.store, options);
    found.catch(() => {}); // whoever comes to this folder learns of it
    together.push({ folder, found });
    mayHaveGaps &&= !isRootName(folder.spec);
    if (mayHaveGaps) continue;
    yield* together;
    together = [];
  }
  yield* together;
}

/** The folders that a store lies in, the nearest first, with the path from each to the store. */
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
 * Whether a folder is the root of a hierarchy whose nodes do not lie in folders of their own. The document that says so has
 * a few members: one above the limit is a group's.
 */
export async function isWholeHierarchy(store: Store, options: StoreOptions = {}): Promise<boolean> {
  return (await lookAt(store, options, [])).isWhole;
}

/** Whether a folder is a node, and whether it is the root of such a hierarchy. */
async function lookAt(
  store: Store,
  options: StoreOptions,
  otherKeys: readonly string[] = detectionKeys("").filter((key) => key !== HIERARCHY_KEY),
): Promise<{ readonly isNode: boolean; readonly isWhole: boolean }> {
  // of S3 the answer to a HEAD would not tell a missing key from a missing bucket, which would be asked for then
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
