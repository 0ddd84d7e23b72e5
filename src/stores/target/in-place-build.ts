import { throwIfAborted } from "../../util/abort.ts";
import { ZarrflowError } from "../../util/errors.ts";
import type { ListableStore, TargetBuild, WritableStore } from "../store.ts";
import { deleteAll } from "./delete-all.ts";
import type { TargetBuildOptions, TargetPlace, TargetPlaceOptions } from "./options.ts";
import { assertUnlocked, type LockOptions, notReleased, PrefixLock } from "./prefix-lock.ts";
import { assertNoneInside } from "./runs-inside.ts";

/** Where a target is built under its final keys. */
export function inPlace(store: WritableStore & ListableStore): TargetPlace {
  return {
    check: (options) => assertPlaceFree(store, options),
    open: (options) => openInPlaceBuild(store, options),
  };
}

/**
 * Builds a target under its final keys, where nothing can be renamed: it is whole once its documents are written, which
 * come last. What a replaced target held is deleted before. Where the store knows conditional writes the place is
 * locked, so that two runs do not mix there.
 *
 * @throws `target-exists`; `locked` while another run writes there, and from `publish` when one has taken it over.
 */
export async function openInPlaceBuild(
  store: WritableStore & ListableStore,
  { ifExists, onTaken, beforeReplacing, breakLock, signal }: TargetBuildOptions,
): Promise<TargetBuild> {
  if (ifExists !== "replace") await assertEmpty(store, { breakLock, signal });
  const lock = await PrefixLock.take(store, { breakLock, signal });
  let isEmptied = false;
  try {
    if (lock && ifExists === "replace") await assertNoneInside(store, { breakLock, signal });
    await onTaken?.();
    if (ifExists === "replace") {
      await beforeReplacing?.();
      isEmptied = true;
      await deleteAll(store, { signal });
    } else await assertEmpty(store, { signal });
  } catch (error) {
    // a lock that is left tells that what is there is what a run could not remove
    await (isEmptied ? lock?.leave() : lock?.release())?.catch(() => {});
    throw error;
  }
  let isPublished = false;
  return {
    store,
    isInPlace: true,
    ...(lock && { lost: lock.lost }),
    reopen: async () => store,
    async publish({ signal, onWarning } = {}) {
      throwIfAborted(signal);
      await lock?.demand({ signal });
      isPublished = true;
      await lock?.release().catch((error) => onWarning?.(notReleased(store, error)));
    },
    async discard() {
      if (isPublished) return;
      // what another run has taken over is its own
      const isOurs = lock === undefined || (await lock.isHeld());
      try {
        if (isOurs) await deleteAll(store);
      } catch (error) {
        await lock?.leave().catch(() => {});
        throw error;
      }
      await lock?.release();
    },
  };
}

/** @throws as `openInPlaceBuild`. */
async function assertPlaceFree(
  store: WritableStore & ListableStore,
  { ifExists, breakLock, signal }: TargetPlaceOptions,
): Promise<void> {
  if (ifExists !== "replace") await assertEmpty(store, { breakLock, signal });
  await assertUnlocked(store, { breakLock, signal });
}

/** @throws `target-exists`, or `locked` when a run is writing there now. */
async function assertEmpty(store: WritableStore & ListableStore, options: LockOptions): Promise<void> {
  for await (const _ of store.list("", { signal: options.signal })) {
    await assertUnlocked(store, options);
    throw new ZarrflowError("target-exists", "objects exist at the target", {
      store: store.description,
      hint: "Replace it, or choose another target.",
    });
  }
}
