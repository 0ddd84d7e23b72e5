import type { ZarrFormat } from "../meta/array-metadata.ts";
import { LOCK_NAME } from "../stores/reserved-names.ts";
import {
  isListable,
  isWritable,
  type LockOptions,
  type StoreOptions,
  type StoreSpec,
  type TargetBuild,
} from "../stores/store.ts";
import { childSpec } from "../stores/store-spec.ts";
import { openStore, openStoreIfThere } from "../stores/url.ts";
import type { Claim } from "../targets/build.ts";
import { assertNotBuilt } from "../targets/index.ts";
import { assertNoneInside, assertUnlocked, StoreLock } from "../targets/store-lock.ts";
import { ZarrflowError } from "../util/errors.ts";
import { ancestorPaths, joinKey } from "../util/node-path.ts";
import { createAncestors, formatAbove, isOfMetadata } from "./create/assertions.ts";
import { ConsolidatedMetadata, refreshConsolidated } from "./edit/consolidated.ts";
import { isWholeHierarchy, type ParentHierarchy } from "./edit/parent.ts";
import { openNode } from "./open/open-node.ts";
import { allDocumentsBelow, walk } from "./open/walk.ts";
import type { ReadDocumentOptions } from "./stored-documents.ts";

/**
 * Returns a place if it can join the hierarchy around it; undefined if the nodes around it are of another format or
 * cannot be read.
 *
 * @throws `path-not-allowed` below an array; `unsupported-operation` in a hierarchy that does not store nodes in
 *   folders, which the new node could not join.
 */
export async function hierarchyAt(
  hierarchyAround: ParentHierarchy,
  zarrFormat: ZarrFormat,
  options: ReadDocumentOptions = {},
): Promise<ParentHierarchy | undefined> {
  const { store, path } = hierarchyAround;
  if (await isWholeHierarchy(store)) {
    throw new ZarrflowError(
      "unsupported-operation",
      "the hierarchy around the target has a format that does not store nodes in folders, so no node can be added to it",
      {
        store: store.description,
        path,
        hint: "Choose a target outside it, or create the node with `create` and write it.",
      },
    );
  }
  return (await readableFormatAbove(hierarchyAround, zarrFormat, options)) === zarrFormat
    ? hierarchyAround
    : undefined;
}

/**
 * Extends a build so that publishing adds it to a hierarchy: missing groups above it are created, and the consolidated
 * metadata of the groups above are updated.
 */
export function publishedIn(
  { store, path }: ParentHierarchy,
  zarrFormat: ZarrFormat,
  build: TargetBuild,
  { maxMetadata }: Pick<ReadDocumentOptions, "maxMetadata"> = {},
): TargetBuild {
  return {
    ...build,
    async publish(options = {}) {
      const change = async ({ areAny }: ConsolidatedMetadata) => {
        await build.publish(options);
        const ancestors = await createAncestors(store, path, zarrFormat, {});
        const node = areAny ? await openNode(store, path, { zarrFormat, maxMetadata }) : undefined;
        const documents = node ? await allDocumentsBelow(node) : [];
        return { removed: path, written: new Map([...documents, ...ancestors]) };
      };
      const reading = { maxMetadata, signal: options.signal };
      await refreshConsolidated(store, { groups: ancestorPaths(path), nodes: [path] }, change, reading);
    },
  };
}

/**
 * Updates the consolidated metadata of the groups above a place to the current state, which an interrupted run may have
 * left incomplete.
 */
export async function repairConsolidatedAbove(
  { store, path }: ParentHierarchy,
  options: ReadDocumentOptions,
): Promise<void> {
  const consolidated = await ConsolidatedMetadata.find(store, ancestorPaths(path), options);
  await consolidated.refresh([path], options);
}

/** Checks that no run is changing, or will replace, a whole group around a place. @throws `locked` */
export async function assertUnlockedAbove(
  { store, spec, path }: ParentHierarchy,
  { breakLock, signal }: LockOptions,
): Promise<void> {
  for (const above of ancestorPaths(path)) {
    await assertUnlocked(store, { key: joinKey(above, LOCK_NAME), breakLock, signal });
    const folder = childSpec(spec, above);
    if (folder) await assertNotBuilt(folder, { breakLock, signal });
  }
}

/** Updates the consolidated metadata of a group and of the groups in it, if the store is writable. */
export async function repairConsolidatedBelow(
  { store: spec, path }: { readonly store: StoreSpec; readonly path: string },
  { maxMetadata, signal }: ReadDocumentOptions,
): Promise<void> {
  const store = await openStore(spec, { signal });
  const reading = { maxMetadata, signal };
  try {
    const root = await openNode(store, path, reading);
    if (root?.kind !== "group" || !isWritable(store) || store.singleWriter) return;
    const groups = [path];
    for await (const node of walk(root, { signal })) if (node.kind === "group") groups.push(node.path);
    await (await ConsolidatedMetadata.find(store, groups, reading)).refresh([path], reading);
  } finally {
    await store.close?.();
  }
}

/** Removes the nodes at and below a place from the consolidated metadata of the groups above. */
export async function unlistFromParents(
  { store, path }: ParentHierarchy,
  options: ReadDocumentOptions,
): Promise<void> {
  const consolidated = await ConsolidatedMetadata.find(store, ancestorPaths(path), options);
  await consolidated.unlist([path]);
}

/** The format of the groups above a place. Without groups in a store of the caller, any format is allowed. */
async function readableFormatAbove(
  { store, path, spec }: ParentHierarchy,
  zarrFormat: ZarrFormat,
  options: ReadDocumentOptions,
): Promise<ZarrFormat | undefined> {
  try {
    const above = await formatAbove(store, path, options);
    return above ?? (spec.kind === "object" ? zarrFormat : undefined);
  } catch (error) {
    if (isOfMetadata(error)) return undefined;
    throw error;
  }
}

/** A locked place in a hierarchy, which only one run writes to. If `release` fails, the lock expires soon. */
export type LockedPlace = Pick<Claim, "assertHeld" | "release">;

interface LockPlaceOptions extends StoreOptions {
  /** True for the place of an array: no other run can have a place inside it. */
  readonly isArray?: boolean;
}

/**
 * Locks a place in a hierarchy, so that no other run writes there, around it or inside it. Stores without conditional
 * writes have no locks.
 *
 * @throws `locked` while another run writes there.
 */
export async function lockPlace(
  hierarchyAround: ParentHierarchy,
  { isArray = false, signal }: LockPlaceOptions = {},
): Promise<LockedPlace> {
  await assertUnlockedAbove(hierarchyAround, { signal });
  const lock = await StoreLock.take(hierarchyAround.store, {
    key: joinKey(hierarchyAround.path, LOCK_NAME),
    signal,
  });
  const release = async () => {
    await lock?.release().catch(() => {});
  };
  try {
    // A run that locks a place around this one checks for locks inside it afterwards.
    if (lock) {
      await assertUnlockedAbove(hierarchyAround, { signal });
      if (!isArray) await assertNoneIn(hierarchyAround, { signal });
    }
  } catch (error) {
    await release();
    throw error;
  }
  return { assertHeld: async () => lock?.assertHeld(), release };
}

/** Runs a step while its place is locked. @throws as `lockPlace` */
export async function withLockedPlace<T>(
  hierarchyAround: ParentHierarchy,
  step: () => Promise<T>,
  options: LockPlaceOptions = {},
): Promise<T> {
  const lock = await lockPlace(hierarchyAround, options);
  try {
    return await step();
  } finally {
    await lock.release();
  }
}

/** Checks that no other run writes at a place or around it. @throws `locked` */
export async function assertNotLocked(
  hierarchyAround: ParentHierarchy,
  { signal }: StoreOptions = {},
): Promise<void> {
  await assertUnlockedAbove(hierarchyAround, { signal });
  await assertUnlocked(hierarchyAround.store, { key: joinKey(hierarchyAround.path, LOCK_NAME), signal });
}

async function assertNoneIn({ spec, path }: ParentHierarchy, { signal }: StoreOptions): Promise<void> {
  const folder = childSpec(spec, path);
  const store = folder && (await openStoreIfThere(folder));
  if (store && isListable(store) && isWritable(store)) await assertNoneInside(store, { signal });
}
