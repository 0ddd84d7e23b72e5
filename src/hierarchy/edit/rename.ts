import type { NodeLayout } from "../../meta/format.ts";
import { movedKey } from "../../meta/node-layout.ts";
import type { WritableStore } from "../../stores/store.ts";
import { ZarrflowError } from "../../util/errors.ts";
import { ancestorPaths, normalizePath } from "../../util/node-path.ts";
import { checkedOptions, invalidOption, type OptionNames } from "../../util/options.ts";
import {
  agreed,
  assertDistinctNames,
  assertEmpty,
  createAncestors,
  formatAbove,
  isTaken,
  layoutOfNewNode,
} from "../create/assertions.ts";
import type { ZarrNode } from "../node.ts";
import { assertPath } from "../open/in-any-format.ts";
import { openNode } from "../open/open-node.ts";
import { allDocumentsBelow } from "../open/walk.ts";
import { lockPlace } from "../parent-hierarchy.ts";
import type { ReadDocumentOptions } from "../stored-documents.ts";
import { type ConsolidatedMetadata, type DocumentChanges, refreshConsolidated } from "./consolidated.ts";
import { followMember } from "./followers.ts";
import { type EditSource, nodeToEdit, parentHierarchyOfNode } from "./parent.ts";

export interface RenameOptions {
  /** Allows names beyond ASCII in v2 too. */
  readonly allowUnicode?: boolean | undefined;
  readonly signal?: AbortSignal | undefined;
}

const RENAME_OPTIONS: OptionNames<RenameOptions> = {
  allowUnicode: true,
  signal: true,
};

/**
 * Moves a node, given open or by its URL, with everything below it to another path in its hierarchy. Only documents are
 * read or written: the store moves the rest in one step, so no reader sees part of it at either path. The drafts of v3
 * keep documents and chunks in two trees, so documents are hidden while chunks move; an interruption leaves them at the
 * old place with a `~` at the end of their names. Missing groups above the new path are created, and consolidated
 * metadata above both paths are updated.
 *
 * @param path in the hierarchy, from its root: `forecast/t2m`.
 * @returns the node at its new path.
 * @throws `unsupported-operation` if the store cannot rename (a zip, a bucket); `target-exists` and `target-not-empty`
 *   if the new path is in use; `path-not-allowed` for the root, below the node itself, and below an array;
 *   `invalid-node-name`; `not-found` if the node has no document of its own.
 * @example
 * ```ts
 * import { renameNode } from "zarrflow";
 *
 * const renamed = await renameNode("era5.zarr/t2m", "surface/air_temperature");
 * console.log(renamed.path); // surface/air_temperature
 * ```
 */
export async function renameNode(
  source: EditSource,
  path: string,
  given: RenameOptions = {},
): Promise<ZarrNode> {
  const { allowUnicode, signal } = checkedOptions(given, RENAME_OPTIONS);
  if (typeof path !== "string") throw invalidOption("the new path is not a path", "a string", path);
  const node = await nodeToEdit(source, signal);
  const { zarrFormat } = node.layout;
  const hierarchyAround = await parentHierarchyOfNode(node);
  const { store, spec, path: old } = hierarchyAround;
  assertCanRename(store, old);
  // a lock would move with the node, so it is released
  await (await lockPlace(hierarchyAround, { signal })).release();
  const limits = { maxMetadata: node.reading.maxMetadata, signal };
  const reading = { ...node.reading, spec, zarrFormat, signal };
  const found = await openNode(store, old, reading);
  if (!found) throw notFound(store, old);
  const from = found.layout;
  const to = layoutOfNewNode(normalizePath(path), zarrFormat, { allowUnicode });
  assertPath(to, path);
  await assertMovable(store, from, to, limits);
  const change = async ({ areAny }: ConsolidatedMetadata): Promise<DocumentChanges> => {
    const documents = areAny ? await allDocumentsBelow(found) : [];
    await moveAll(store, movesOf(from, to), signal);
    const moved = [...documents].map(([key, bytes]) => [movedKey(key, from, to), bytes] as const);
    const ancestors = await createAncestors(store, to.path, zarrFormat, {});
    return { removed: from.path, written: new Map([...moved, ...ancestors]) };
  };
  const groups = [...new Set([...ancestorPaths(from.path), ...ancestorPaths(to.path)])];
  await followMember(hierarchyAround, found, { gone: from.path }, limits);
  try {
    await refreshConsolidated(store, { groups, nodes: [from.path, to.path] }, change, limits);
  } catch (error) {
    await followMember(hierarchyAround, found, { come: from.path }, {}).catch(() => {});
    throw error;
  }
  await followMember(hierarchyAround, found, { come: to.path }, limits);
  const renamed = await openNode(store, to.path, reading);
  if (!renamed) throw notFound(store, to.path);
  return renamed;
}

type RenamingStore = WritableStore & Required<Pick<WritableStore, "rename">>;

function assertCanRename(store: WritableStore, path: string): asserts store is RenamingStore {
  if (store.rename !== undefined) return;
  throw new ZarrflowError("unsupported-operation", "this store cannot rename keys", {
    store: store.description,
    path,
    hint: "Copy the node to the new path, then delete the old one.",
  });
}

/** Checks that a node can be moved from one place to another. */
async function assertMovable(
  store: WritableStore,
  from: NodeLayout,
  to: NodeLayout,
  reading: ReadDocumentOptions,
): Promise<void> {
  const refusal = (reason: string) =>
    new ZarrflowError("path-not-allowed", reason, {
      store: store.description,
      path: from.path,
      value: to.path,
    });
  if (from.path === "") throw refusal("the root of a hierarchy has no name, so it cannot be renamed");
  if (to.path === "") throw refusal("a node cannot become the root of its own hierarchy");
  if (to.path.startsWith(`${from.path}/`)) throw refusal("a node cannot be moved into itself");
  agreed(from.zarrFormat, await formatAbove(store, to.path, reading));
  await assertDistinctNames(store, to, reading.signal, from.path);
  if (await isTaken(store, to, "array", reading)) {
    throw new ZarrflowError("target-exists", "a node already exists", {
      store: store.description,
      path: to.path,
      hint: "Choose another path, or delete the existing node.",
    });
  }
  await assertEmpty(store, to, reading.signal);
}

/**
 * The moves for a node, each atomic. If documents and chunks are in different folders, the documents are moved aside
 * first and to their new place last, so that no reader finds an array without its chunks.
 */
function movesOf(from: NodeLayout, to: NodeLayout): (readonly [string, string])[] {
  if (from.membersPrefix === from.chunksPrefix) return [[from.membersPrefix, to.membersPrefix]];
  const names = [...from.documentKeys, from.membersPrefix];
  const after = [...to.documentKeys, to.membersPrefix];
  return [
    ...names.map((name) => [name, aside(name)] as const),
    [from.chunksPrefix, to.chunksPrefix],
    ...names.map((name, i) => [aside(name), after[i] ?? name] as const).reverse(),
  ];
}

/** A temporary name for a key or a prefix, which no node can have. */
function aside(name: string): string {
  return name.replace(/\/?$/, "~$&");
}

/** Performs all moves; after a failure, reverts those already made. */
async function moveAll(
  store: RenamingStore,
  moves: readonly (readonly [string, string])[],
  signal: AbortSignal | undefined,
): Promise<void> {
  const made: (readonly [string, string])[] = [];
  try {
    for (const [from, to] of moves) {
      await store.rename(from, to, { signal });
      made.push([from, to]);
    }
  } catch (error) {
    for (const [from, to] of made.reverse()) await store.rename(to, from);
    throw error;
  }
}

function notFound(store: WritableStore, path: string): ZarrflowError {
  return new ZarrflowError("not-found", "the node has no metadata document of its own that could be moved", {
    store: store.description,
    path,
  });
}
