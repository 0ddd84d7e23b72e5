import { ZarrflowError } from "../../util/errors.ts";
import { keysBeside } from "../reserved-names.ts";
import type { WritableStore } from "../store.ts";
import type { TargetBuildOptions, TargetPlaceOptions } from "./options.ts";
import { assertUnlocked, PrefixLock } from "./prefix-lock.ts";
import { unfinishedThere } from "./run-marks.ts";
import { ValueJournal } from "./value-journal.ts";
import { type LeftZip, leftZip, removeLeftZip } from "./zip-upload-log.ts";

/** A key that a run alone writes, with its marks beside it. */
export interface TakenKey {
  /** Absent where the store leaves nothing of a value that is not whole, or knows no conditional writes. */
  readonly lock?: PrefixLock;
  /** Absent where a run that is cut leaves nothing that another could go on with. */
  readonly journal?: ValueJournal;
  /** What is gone on with. */
  readonly left?: LeftZip;
}

/**
 * Takes the key of a zip: where a lock can be had with it; goes on with what an unfinished run has left there, where that
 * is asked for, or removes it.
 *
 * @throws `target-exists`; `target-not-empty` for what an unfinished run has left, unless it is resumed or replaced;
 *   `locked`.
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

/** @throws as `takeKey`, as far as it shows without writing. */
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
