import { DOCUMENT_NAMES, isNamedAttributes } from "../stores/key.ts";
import type {
  ListableStore,
  LockOptions,
  Store,
  StoreOptions,
  TargetBuild,
  WritableStore,
} from "../stores/store.ts";
import { ZarrflowError } from "../util/errors.ts";
import { TextHashSet } from "../util/hash.ts";
import { type Medium, targetBuild } from "./build.ts";
import { deleteAll, hasRecordedValue, valueText } from "./contents.ts";
import type { ResumeOptions, TargetBuildOptions, TargetPlace, TargetPlaceOptions } from "./options.ts";
import { assertNoneInside, assertUnlocked, StoreLock } from "./store-lock.ts";
import { unfinishedThere, ValueJournal } from "./value-journal.ts";

/** Returns the place of a target that is built under its final keys. */
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
 * Builds a target under its final keys, in a store that cannot rename. The target is complete once its documents
 * are written, which come last. The contents of a replaced target are deleted first.
 *
 * If the store supports conditional writes, the place gets a lock, so that two runs cannot mix there, and a
 * ledger, so that an unfinished run can be resumed.
 *
 * @throws `target-exists`; `target-not-empty` for the work of an unfinished run that is not resumed; `locked`
 *   while another run writes there, and from `publish` if another run has taken the place over.
 */
export async function openInPlaceBuild(
  store: WritableStore & ListableStore,
  options: TargetBuildOptions,
): Promise<TargetBuild> {
  const { ifExists, wasEmpty, onTaken, breakLock, signal } = options;
  const mayResume = options.resume !== undefined;
  if (ifExists !== "replace" && !wasEmpty) await assertEmpty(store, { mayResume, breakLock, signal });
  const lock = await StoreLock.take(store, { breakLock, signal });
  let place: TakenPlace;
  let isChanged = false;
  try {
    if (lock && ifExists === "replace") await assertNoneInside(store, { breakLock, signal });
    await onTaken?.();
    place = await takePlace(store, lock !== undefined, options, () => {
      isChanged = true;
    });
  } catch (error) {
    // a remaining lock marks the contents as the work of a run that could not finish or remove it
    await (isChanged ? lock?.leave() : lock?.putBack())?.catch(() => {});
    throw error;
  }
  const { journal, hasValue } = place;
  const medium: Medium = {
    store,
    isInPlace: true,
    ...(hasValue && { hasValue }),
    ...(lock && {
      async keep() {
        await journal?.flush();
      },
    }),
    async discard() {
      await journal?.remove();
      await deleteAll(store);
    },
  };
  return targetBuild(medium, { claim: lock, journal });
}

/** A place that this run alone writes to. */
interface TakenPlace {
  /**
   * Absent without a lock: then another run could write there too, and the values of both could not be distinguished.
   */
  readonly journal?: ValueJournal;
  readonly hasValue?: TargetBuild["hasValue"];
}

/**
 * Continues the work of an unfinished run if that is requested, or else empties the place. It also removes the
 * work of a run that was to be resumed, but whose ledger contains nothing usable.
 *
 * @param onChanged called as soon as the place no longer contains a complete target, or does not yet
 */
async function takePlace(
  store: WritableStore & ListableStore,
  isLocked: boolean,
  { ifExists, beforeReplacing, resume, onUnfinished, signal }: TargetBuildOptions,
  onChanged: () => void,
): Promise<TakenPlace> {
  const finding = isLocked ? ValueJournal.find(store, { signal }) : undefined;
  // this run holds the lock
  const emptiness = ifExists === "replace" ? undefined : assertEmpty(store, { breakLock: true, signal });
  await Promise.allSettled([finding, emptiness]);
  const found = await finding;
  const isUnfinished = found !== undefined && !(await hasDocument(store, { signal }));
  if (isUnfinished) {
    onChanged();
    const unfinished = { description: found.description, journal: found };
    const how = await resume?.(unfinished);
    if (how) return { journal: found, hasValue: await listedValues(store, { ...how, signal }) };
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

/**
 * True if there is a node at the root, because a run that wrote one has finished. Attributes alone do not make a
 * node.
 */
async function hasDocument(store: Store, options: StoreOptions): Promise<boolean> {
  const names = DOCUMENT_NAMES.filter((key) => !isNamedAttributes(key));
  const sizes = await Promise.all(names.map((key) => store.size(key, options)));
  return sizes.some((size) => size !== undefined);
}

/** Lists the store once and returns a function that is true for values that are present as recorded. */
async function listedValues(
  store: WritableStore & ListableStore,
  { readBack, signal }: ResumeOptions & StoreOptions,
): Promise<NonNullable<TargetBuild["hasValue"]>> {
  const listed = new TextHashSet();
  for await (const { key, size = await store.size(key, { signal }) } of store.list("", { signal })) {
    if (size !== undefined) listed.add(valueText({ key, size }));
  }
  return async (value, options) =>
    listed.has(valueText(value)) && (!readBack || hasRecordedValue(store, value, { readBack, ...options }));
}

/** @throws as `openInPlaceBuild`. */
async function assertPlaceFree(
  store: WritableStore & ListableStore,
  { ifExists, mayResume, breakLock, signal }: TargetPlaceOptions,
): Promise<void> {
  if (ifExists !== "replace") await assertEmpty(store, { mayResume, breakLock, signal });
  await assertUnlocked(store, { breakLock, signal });
}

/** @throws `target-exists`; `locked` while another run writes there; `target-not-empty` for unfinished work. */
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
        hint: 'Replace it with ifExists: "replace" (--if-exists replace), or choose another target.',
      });
}

async function isEmpty(store: ListableStore, { signal }: StoreOptions): Promise<boolean> {
  for await (const _ of store.list("", { signal })) return false;
  return true;
}
