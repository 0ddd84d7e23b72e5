import type { ZarrFormat } from "../../meta/array-metadata.ts";
import {
  axesByArray,
  type Level,
  type Multiscale,
  multiscalesOf,
} from "../../meta/conventions/ome/attributes.ts";
import { detectFormat, detectionKeys, HIERARCHY_KEY, hierarchyFormat } from "../../meta/detect.ts";
import type { Documents } from "../../meta/format.ts";
import { formatNamed } from "../../meta/formats.ts";
import { isListable, type ListableStore, type Store, type StoreSpec } from "../../stores/store.ts";
import { childSpec } from "../../stores/store-spec.ts";
import { openStore } from "../../stores/url.ts";
import { withFolder } from "../../stores/with/folder.ts";
import { throwIfAborted } from "../../util/abort.ts";
import { foundOnce } from "../../util/awaitable.ts";
import { isZarrflowError, ZarrflowError } from "../../util/errors.ts";
import { nearestName } from "../../util/names.ts";
import { joinKey } from "../../util/node-path.ts";
import { carriesConsolidated, consolidatedOf, consolidatedV2, consolidatedV3 } from "../consolidated.ts";
import type { ZarrArray, ZarrGroup, ZarrNode } from "../node.ts";
import { readDocument, type StoredDocument, type StoredDocuments } from "../stored-documents.ts";
import { nodeIn } from "./in-any-format.ts";
import { childNames } from "./members.ts";
import {
  type Ancestor,
  ancestorsOf,
  isUnreadableAbove,
  type OpenNodeOptions,
  openNode,
} from "./open-node.ts";

/**
 * Opens the node at `path`, which has no documents of its own, from documents above it: the consolidated metadata of a
 * group, or the document of a whole hierarchy that stores its nodes elsewhere. Undefined if neither exists.
 *
 * A folder above the root of the store that cannot be read ends the search.
 *
 * @throws `not-found` if such a hierarchy lacks the node; `invalid-metadata` for a broken document above.
 */
export async function openViaAncestor(
  store: Store,
  spec: StoreSpec,
  path: string,
  options: Omit<OpenNodeOptions, "spec"> = {},
): Promise<ZarrNode | undefined> {
  const { zarrFormat } = options;
  for await (const ancestor of ancestorsOf(store, spec, path)) {
    try {
      const node = await openFrom(ancestor, options);
      if (node && (zarrFormat === undefined || node.layout.zarrFormat === zarrFormat)) return node;
    } catch (error) {
      if (ancestor.isOutside && isZarrflowError(error, "access-denied")) return undefined;
      throw error;
    }
  }
  return undefined;
}

async function openFrom(
  ancestor: Ancestor,
  { zarrFormat: asked, signal, ...reading }: Omit<OpenNodeOptions, "spec">,
): Promise<ZarrNode | undefined> {
  const { store, spec, path, nodePath } = ancestor;
  const key = joinKey(path, HIERARCHY_KEY);
  const reads = { maxMetadata: reading.maxMetadata, signal };
  const found = await readDocument(store, key, reads);
  const document = found?.bytes;
  const zarrFormat = document && hierarchyFormat(document);
  if (zarrFormat)
    return asked && asked !== zarrFormat ? undefined : openInHierarchy(ancestor, zarrFormat, signal);
  const ofV3 = document && consolidatedV3(document, path, reads);
  const stored = new Map(found && ofV3 ? [[key, found]] : []);
  const consolidated = ofV3 ?? (await consolidatedV2(store, path, { stored, ...reads }));
  if (consolidated === undefined || detectFormat(consolidated, nodePath) === undefined) return undefined;
  return nodeIn(consolidated, store, nodePath, { ...reading, spec, areConsolidated: true, stored });
}

/** Opens a node of the hierarchy whose root is a folder. @throws `not-found` with the keys that were tried. */
async function openInHierarchy(
  ancestor: Ancestor,
  zarrFormat: ZarrFormat,
  signal: AbortSignal | undefined,
): Promise<ZarrNode> {
  const { store, spec } = await rootStore(ancestor);
  const path = ancestor.nodePath.slice(ancestor.path.length).replace(/^\//, "");
  const node = await openNode(store, path, { spec, zarrFormat, signal });
  if (node) return node;
  const { documentKeys, membersPrefix } = formatNamed(zarrFormat).layout(path);
  throw new ZarrflowError("not-found", "no array or group found in the hierarchy", {
    format: zarrFormat,
    store: store.description,
    path,
    found: `none of ${[...documentKeys, membersPrefix].join(", ")}`,
    hint: isListable(store)
      ? await suggestName(store, spec, path, { zarrFormat, signal })
      : "This store cannot list its keys, so groups without a document cannot be found.",
  });
}

/** Opens a folder as the root of a store. */
async function rootStore({ store, spec, path }: Ancestor): Promise<Pick<Ancestor, "store" | "spec">> {
  if (path === "") return { store, spec };
  const inner = childSpec(spec, path);
  if (inner) return { store: await openStore(inner), spec: inner };
  const folder = withFolder(store, path);
  return { store: folder, spec: { kind: "object", description: folder.description } };
}

/** Maximum number of names of a folder that are read. */
const MAX_NAMES = 10_000;

/** Maximum number of members to list if no name is similar. */
const MAX_LISTED = 8;

/**
 * Suggests an alternative to a path without a node: the member with the most similar name in the nearest existing
 * folder, or all members of that group if there are few. Undefined if nothing fits.
 */
export async function suggestName(
  store: Store,
  spec: StoreSpec,
  path: string,
  {
    zarrFormat,
    signal,
  }: { readonly zarrFormat?: ZarrFormat; readonly signal?: AbortSignal | undefined } = {},
): Promise<string | undefined> {
  try {
    for await (const { folder, at, name } of listableFoldersAbove(store, spec, path)) {
      const names = zarrFormat
        ? await childNames(folder, formatNamed(zarrFormat).layout(at), { signal })
        : await namesIn(folder, at, signal);
      if (names.length > 0) return await hintOf({ folder, at, name }, names, { zarrFormat, signal });
    }
    return undefined;
  } catch (error) {
    throwIfAborted(signal);
    if (isZarrflowError(error)) return undefined; // no hint if the folder cannot be listed
    throw error;
  }
}

/** Suggests an alternative to a zip that does not exist. */
export async function nearestStoreHint(spec: StoreSpec): Promise<string | undefined> {
  if (spec.kind !== "zip") return undefined;
  const asFolder: StoreSpec = { kind: "directory", path: spec.path };
  return suggestName(await openStore(asFolder), asFolder, "");
}

interface Folder {
  readonly folder: ListableStore;
  readonly at: string;
  /** The name that the folder lacks. */
  readonly name: string;
}

/**
 * Iterates over the folders that contain a path, from the nearest up to the root of the store; for a directory also
 * above it.
 */
async function* listableFoldersAbove(store: Store, spec: StoreSpec, path: string): AsyncGenerator<Folder> {
  const names = path === "" ? [] : path.split("/");
  if (isListable(store)) {
    for (let length = names.length - 1; length >= 0; length--) {
      yield { folder: store, at: names.slice(0, length).join("/"), name: names[length] ?? "" };
    }
  }
  if (spec.kind !== "directory") return;
  const folders = spec.path.split("/");
  for (let length = folders.length - 1; length > 0; length--) {
    const above = await openStore({ ...spec, path: folders.slice(0, length).join("/") || "/" });
    if (isListable(above)) yield { folder: above, at: "", name: folders[length] ?? "" };
  }
}

/** Returns names of folders and zips in a folder. */
async function namesIn(
  store: ListableStore,
  path: string,
  signal: AbortSignal | undefined,
): Promise<string[]> {
  const prefix = joinKey(path, "");
  const names: string[] = [];
  for await (const entry of store.listDirectory(prefix, { signal })) {
    const name = "prefix" in entry ? entry.prefix.slice(prefix.length, -1) : entry.key.slice(prefix.length);
    if ("prefix" in entry || /\.(?:zip|ozx)$/i.test(name)) names.push(name);
    if (names.length === MAX_NAMES) break;
  }
  return names;
}

async function hintOf(
  { folder, at, name }: Folder,
  names: readonly string[],
  options: OpenNodeOptions,
): Promise<string | undefined> {
  const near = nearestName(
    name,
    names.filter((other) => other !== name),
  );
  if (near && (/\.(?:zip|ozx)$/i.test(near) || (await isNode(folder, joinKey(at, near), options)))) {
    return `Did you mean \`${near}\`?`;
  }
  const isGroup = names.length <= MAX_LISTED && (await isNode(folder, at, options));
  return isGroup ? `Its members are ${names.join(", ")}.` : undefined;
}

async function isNode(store: Store, path: string, { zarrFormat, signal }: OpenNodeOptions): Promise<boolean> {
  if (zarrFormat) return (await openNode(store, path, { zarrFormat, isInside: true, signal })) !== undefined;
  const sizes = await Promise.all(detectionKeys(path).map((key) => store.size(key, { signal })));
  return sizes.some((size) => size !== undefined);
}

/** The documents below a group that its consolidated metadata list, with the stored documents that list them. */
interface ListedDocuments {
  readonly documents: Documents;
  readonly stored: StoredDocuments;
}

/** Listed documents of open groups, each read once. */
const listed = new WeakMap<ZarrGroup, Promise<ListedDocuments | undefined>>();

/**
 * Opens the node at a path below a group, in the format of the group. Uses the group's consolidated metadata if they
 * are in its own document or the store cannot list, otherwise the node's own documents. Undefined if there is no such
 * node.
 *
 * @throws as `openNode`
 */
export async function openMember(
  group: ZarrGroup,
  path: string,
  signal: AbortSignal | undefined,
): Promise<ZarrNode | undefined> {
  if (path === group.path) return group;
  const { store, spec, layout, reading } = group;
  const options = { ...reading, spec, zarrFormat: layout.zarrFormat };
  const known = await foundOnce(listed, group, () => readListed(group), signal);
  const node =
    known &&
    nodeIn(known.documents, store, path, { ...options, stored: known.stored, areConsolidated: true });
  return node ?? openNode(store, path, { ...options, isInside: true, isSparing: true, signal });
}

async function readListed(group: ZarrGroup): Promise<ListedDocuments | undefined> {
  if (group.consolidated) return { documents: group.consolidated, stored: group.stored };
  if (!carriesConsolidated(group.layout) && isListable(group.store)) return undefined;
  const stored = new Map<string, StoredDocument>();
  const documents = await consolidatedOf(group, { stored });
  return documents && { documents, stored };
}

/** Maximum number of groups above an array that are read: the depth of a level's path in an image. */
const MAX_LEVELS = 3;

/** Returns the axis names of the image that an array is a level of; undefined if no group above states any. */
export async function axesOfImageAbove(array: ZarrArray): Promise<readonly string[] | undefined> {
  for await (const { group, path } of groupsAbove(array)) {
    const axes = axesByArray([group]).get(path);
    if (axes) return axes;
  }
  return undefined;
}

/** An image, with the array that is one of its levels. */
export interface LevelOfImage {
  readonly group: ZarrGroup;
  readonly image: Multiscale;
  readonly level: Level;
}

/**
 * Returns the image that an array is a level of, possibly above the root of the store; undefined if no group above
 * names it.
 */
export async function imageAbove(array: ZarrArray, signal?: AbortSignal): Promise<LevelOfImage | undefined> {
  for await (const { group, path } of groupsAbove(array, signal)) {
    for (const image of multiscalesOf(group.metadata.attributes)) {
      const level = image.levels.find((one) => joinKey(group.path, one.path) === path);
      if (level) return { group, image, level };
    }
  }
  return undefined;
}

/**
 * Iterates over the groups above an array, nearest first, with the array's path in their store. Stops at unreadable
 * ones.
 */
async function* groupsAbove(
  { store, spec, path, layout: { zarrFormat, hierarchy } }: ZarrArray,
  signal?: AbortSignal,
): AsyncGenerator<{ readonly group: ZarrGroup; readonly path: string }> {
  const isApart = hierarchy.sharedKeys.length > 0;
  if (isApart) return;
  const groups: { readonly above: Ancestor; readonly opened: ReturnType<typeof openNode> }[] = [];
  try {
    for await (const above of ancestorsOf(store, spec, path)) {
      if (above.path === above.nodePath) continue;
      if (groups.length === MAX_LEVELS) break;
      const opened = openNode(above.store, above.path, { spec: above.spec, zarrFormat, signal });
      opened.catch(() => {}); // it matters only if the groups below it say nothing
      groups.push({ above, opened });
    }
    for (const { above, opened } of groups) {
      const group = await opened;
      if (group?.kind === "group") yield { group, path: above.nodePath };
    }
  } catch (error) {
    if (!isUnreadableAbove(error)) throw error;
  } finally {
    await Promise.allSettled(groups.map(({ opened }) => opened));
  }
}
