import { LOCK_NAME } from "../stores/reserved-names.ts";
import { isListable, isWritable, type StoreOptions } from "../stores/store.ts";
import { childSpec } from "../stores/store-spec.ts";
import { openStoreIfThere } from "../stores/url.ts";
import { assertNoneInside } from "../targets/control-folder.ts";
import { assertUnlocked, PrefixLock } from "../targets/prefix-lock.ts";
import { joinKey } from "../util/node-path.ts";
import type { ParentHierarchy } from "./edit/parent.ts";
import { assertUnlockedAbove } from "./parent-hierarchy.ts";

/** A locked place in a hierarchy: only one run writes there. */
export interface LockedPlace {
  /** @throws `locked` if another run has taken it over. */
  assertHeld(): Promise<void>;
  /** Releases the lock. If that fails, the lock expires soon. */
  release(): Promise<void>;
}

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
  const lock = await PrefixLock.take(hierarchyAround.store, {
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
