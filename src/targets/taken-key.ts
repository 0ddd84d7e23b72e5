import { keysBeside } from "../stores/reserved-names.ts";
import type { WritableStore } from "../stores/store.ts";
import { ZarrflowError } from "../util/errors.ts";
import type { TargetBuildOptions, TargetPlaceOptions } from "./options.ts";
import { assertUnlocked, PrefixLock } from "./prefix-lock.ts";
import { unfinishedThere, ValueJournal } from "./value-journal.ts";
import { type LeftZip, leftZip, removeLeftZip } from "./zip-upload-log.ts";

/** A key that this run alone writes, with the run's marks beside it. */
export interface TakenKey {
  /** Absent if the store keeps nothing of an incomplete value, or does not support conditional writes. */
  readonly lock?: PrefixLock;
  /** Absent if an interrupted run leaves nothing that another could continue. */
  readonly journal?: ValueJournal;
  /** The work of an earlier run that is continued. */
  readonly left?: LeftZip;
}

/**
 * Takes the key of a zip, with a lock if the store supports that. Continues the work of an unfinished run there if
 * requested, or else removes it.
 *
 * @throws `target-exists`; `target-not-empty` for the work of an unfinished run that is neither resumed nor
 *   replaced; `locked`.
 */
export async function takeKey(
  store: WritableStore,
  key: string,
  options: TargetBuildOptions,
): Promise<TakenKey> {
  const { ifExists, deflate, resume, onTaken, onUnfinished, breakLock, signal } = options;
  await assertKeyFree(store, key, { ...options, mayResume: resume !== undefined });
  const { lock: lockKey, ledger: keyOf } = keysBeside(key);
  const lock = store.openUpload && (await PrefixLock.take(store, { key: lockKey, breakLock, signal }));
  try {
    await onTaken?.();
    if (lock === undefined) return {};
    const found = await ValueJournal.find(store, { keyOf, signal });
    if (found) {
      const unfinished = { description: found.description, journal: found };
      const how = await resume?.(unfinished);
      if (how) return { lock, journal: found, left: await leftZip(found) };
      if (resume === undefined && ifExists !== "replace") throw unfinishedThere(store.description, key);
      if (resume === undefined) onUnfinished?.(unfinished);
      await removeLeftZip(store, key, found);
    }
    return deflate === undefined ? { lock, journal: await ValueJournal.create(store, keyOf) } : { lock };
  } catch (error) {
    await lock?.putBack().catch(() => {});
    throw error;
  }
}

/** @throws as `takeKey`, as far as that can be found without writing. */
export async function assertKeyFree(
  store: WritableStore,
  key: string,
  { ifExists, mayResume = false, breakLock, signal }: TargetPlaceOptions,
): Promise<void> {
  const { lock, ledger: keyOf } = keysBeside(key);
  const assertAbsent = async () => {
    if (ifExists !== "replace") await assertNoValue(store, key, { signal });
  };
  const assertFinished = async () => {
    const isMeant = mayResume || ifExists === "replace";
    if (!isMeant && (await ValueJournal.find(store, { keyOf, signal }))) {
      throw unfinishedThere(store.description, key);
    }
  };
  if (store.openUpload === undefined) return assertAbsent();
  const [absence, unlocked, finished] = await Promise.allSettled([
    assertAbsent(),
    assertUnlocked(store, { key: lock, breakLock, signal }),
    assertFinished(),
  ]);
  for (const check of [absence, unlocked, finished]) if (check.status === "rejected") throw check.reason;
}

/** @throws `target-exists` */
export async function assertNoValue(
  store: WritableStore,
  key: string,
  { signal }: Pick<TargetPlaceOptions, "signal">,
): Promise<void> {
  if ((await store.size(key, { signal })) === undefined) return;
  throw new ZarrflowError("target-exists", "a value exists at the target", {
    store: store.description,
    key,
    hint: 'Replace it, with ifExists: "replace" (--if-exists replace), or choose another target.',
  });
}
