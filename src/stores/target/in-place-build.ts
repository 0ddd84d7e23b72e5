import { throwIfAborted } from "../../util/abort.ts";
import { ZarrflowError } from "../../util/errors.ts";
import { TextHashSet } from "../../util/text-hash.ts";
import { DOCUMENT_NAMES, isNamedAttributes } from "../document-names.ts";
import type { ListableStore, Store, StoreOptions, TargetBuild, WritableStore } from "../store.ts";
import { deleteAll } from "./delete-all.ts";
import { holdsValue, valueText } from "./holds-value.ts";
import type { ResumeOptions, TargetBuildOptions, TargetPlace, TargetPlaceOptions } from "./options.ts";
import { assertUnlocked, type LockOptions, notReleased, PrefixLock } from "./prefix-lock.ts";
import { removeMarks, unfinishedThere } from "./run-marks.ts";
import { assertNoneInside } from "./runs-inside.ts";
import { ValueJournal } from "./value-journal.ts";

/** Where a target is built under its final keys. */
export function inPlace(store: WritableStore & ListableStore): TargetPlace {
  return {
    check: (options) => assertPlaceFree(store, options),
    isEmpty: (options) => isEmpty(store, options),
    async open({ joint, ...options }) {
      if (joint === undefined) return openInPlaceBuild(store, options);
      return (await import("./joint/value-build.ts")).openJointInPlace(store, { joint, ...options });
    },
  };
}

/**
 * Builds a target under its final keys, where nothing can be renamed: it is whole once its documents are written, which
 * come last. What a replaced target held is deleted before. Where the store knows conditional writes the place is
 * locked, so that two runs do not mix there, and a ledger is kept there, so that an unfinished run can be resumed.
 *
 * @throws `target-exists`; `target-not-empty` for what an unfinished run has left, unless it is resumed; `locked` while another run writes there, and from `publish` when one has taken it over.
 */
export async function openInPlaceBuild(
  store: WritableStore & ListableStore,
  options: TargetBuildOptions,
): Promise<TargetBuild> {
  const { ifExists, wasEmpty, onTaken, breakLock, signal } = options;
  const mayResume = options.resume !== undefined;
  if (ifExists !== "replace" && !wasEmpty) await assertEmpty(store, { mayResume, breakLock, signal });
  const lock = await PrefixLock.take(store, { breakLock, signal });
  let place: TakenPlace;
  let isChanged = false;
  try {
    if (lock && ifExists === "replace") await assertNoneInside(store, { breakLock, signal });
    await onTaken?.();
    place = await takePlace(store, lock !== undefined, options, () => {
      isChanged = true;
    });
  } catch (error) {
    // a lock that is left means that what is there is what a run could not remove, or has not finished
    await (isChanged ? lock?.leave() : lock?.putBack())?.catch(() => {});
    throw error;
  }
  const { journal, holds } = place;
  let isPublished = false;
  return {
    store,
    isInPlace: true,
    ...(lock && { lost: lock.lost, assertHeld: (options) => lock.assertHeld(options) }),
    ...(journal && { journal }),
    ...(holds && { holds }),
    reopen: async () => store,
    async publish({ signal, onWarning } = {}) {
      throwIfAborted(signal);
      await lock?.assertHeldLately({ signal });
      isPublished = true;
      await removeMarks(journal, lock).catch((error) => onWarning?.(notReleased(store, error)));
    },
    ...(lock && {
      async keep() {
        await journal?.flush().finally(() => lock.leave());
      },
    }),
    async discard() {
      if (isPublished) return;
      try {
        // what another run has taken over is its own
        if (lock === undefined || (await lock.isHeld())) {
          await journal?.remove();
          await deleteAll(store);
        }
      } catch (error) {
        await lock?.leave().catch(() => {});
        throw error;
      }
      await lock?.release();
    },
  };
}

/** A place that is this run's. */
interface TakenPlace {
  /** Absent where nothing keeps another run away, which could not tell whose values are there. */
  readonly journal?: ValueJournal;
  readonly holds?: TargetBuild["holds"];
}

/**
 * Goes on with what an unfinished run has left, where that is asked for, or makes the place empty: also of what a run
 * left that was to be resumed and whose ledger says nothing that can be used.
 *
 * @param onChanged called as soon as what is there is no longer, or not yet, a whole target
 */
async function takePlace(
  store: WritableStore & ListableStore,
  isLocked: boolean,
  { ifExists, beforeReplacing, resume, onUnfinished, signal }: TargetBuildOptions,
  onChanged: () => void,
): Promise<TakenPlace> {
  const finding = isLocked ? ValueJournal.find(store, { signal }) : undefined;
  // the lock is this run's
  const emptiness = ifExists === "replace" ? undefined : assertEmpty(store, { breakLock: true, signal });
  await Promise.allSettled([finding, emptiness]);
  const found = await finding;
  const isUnfinished = found !== undefined && !(await hasDocument(store, { signal }));
  if (isUnfinished) {
    onChanged();
    const unfinished = { description: found.description, journal: found };
    const how = await resume?.(unfinished);
    if (how) return { journal: found, holds: await heldValues(store, { ...how, signal }) };
    if (resume === undefined && ifExists === "replace") onUnfinished?.(unfinished);
  }
  if (ifExists === "replace" || (isUnfinished && resume)) {
    await beforeReplacing?.();
    onChanged();
    await found?.remove();
    await deleteAll(store, { signal });
  } else await emptiness;
  return isLocked ? { journal: await ValueJournal.create(store) } : {};
}

/** Whether a node is at the root: a run that built one there has ended. Its attributes alone make none. */
async function hasDocument(store: Store, options: StoreOptions): Promise<boolean> {
  const names = DOCUMENT_NAMES.filter((key) => !isNamedAttributes(key));
  const sizes = await Promise.all(names.map((key) => store.size(key, options)));
  return sizes.some((size) => size !== undefined);
}

/** Whether values are there as they were recorded, by one listing. */
async function heldValues(
  store: WritableStore & ListableStore,
  { readBack, signal }: ResumeOptions & StoreOptions,
): Promise<NonNullable<TargetBuild["holds"]>> {
  const listed = new TextHashSet();
  for await (const { key, size = await store.size(key, { signal }) } of store.list("", { signal })) {
    if (size !== undefined) listed.add(valueText({ key, size }));
  }
  return async (value, options) =>
    listed.has(valueText(value)) && (!readBack || holdsValue(store, value, { readBack, ...options }));
}

/** @throws as `openInPlaceBuild`. */
async function assertPlaceFree(
  store: WritableStore & ListableStore,
  { ifExists, mayResume, breakLock, signal }: TargetPlaceOptions,
): Promise<void> {
  if (ifExists !== "replace") await assertEmpty(store, { mayResume, breakLock, signal });
  await assertUnlocked(store, { breakLock, signal });
}

/** @throws `target-exists`, or `locked` when a run is writing there now. */
async function assertEmpty(
  store: WritableStore & ListableStore,
  { mayResume = false, ...options }: LockOptions & { readonly mayResume?: boolean | undefined },
): Promise<void> {
  const { signal } = options;
  if (await isEmpty(store, { signal })) return;
  await assertUnlocked(store, options);
  const isUnfinished =
    (await ValueJournal.find(store, { signal })) && !(await hasDocument(store, { signal }));
  if (isUnfinished && mayResume) return;
  throw isUnfinished
    ? unfinishedThere(store.description)
    : new ZarrflowError("target-exists", "objects exist at the target", {
        store: store.description,
        hint: 'Replace it, with ifExists: "replace" (--if-exists replace), or choose another target.',
      });
}

async function isEmpty(store: ListableStore, { signal }: StoreOptions): Promise<boolean> {
  for await (const _ of store.list("", { signal })) return false;
  return true;
}
