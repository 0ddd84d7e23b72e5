import { ZarrflowError } from "../../util/errors.ts";
import { LOCK_NAME } from "../reserved-names.ts";
import type { ListableStore, ListedRun, StoreOptions, WritableStore } from "../store.ts";
import { assertUnlocked, type LockOptions } from "./prefix-lock.ts";

/**
 * Checks that no other run is active inside a store, on a part of its contents. Call this after locking the store:
 * runs that start inside later see that lock.
 *
 * @throws `locked`
 */
export async function assertNoneInside(
  store: ListableStore & Pick<WritableStore, "setIfAbsent">,
  { breakLock = false, signal }: LockOptions = {},
): Promise<void> {
  if (breakLock) return;
  for await (const { key, isDead } of runsIn(store, { signal })) {
    if (key === LOCK_NAME || isDead) continue;
    if (isDead === undefined) await assertUnlocked(store, { key, signal });
    else {
      throw new ZarrflowError("locked", "another run is writing inside the target", {
        store: store.description,
        key,
        hint: "Wait for it. If that run is dead, use --break-lock, or wait until 15 minutes have passed since its last renewal.",
      });
    }
  }
}

/** Lists locks; a store without `listRuns` has them among its keys. */
async function* runsIn(
  store: ListableStore & Pick<WritableStore, "setIfAbsent">,
  options: StoreOptions,
): AsyncGenerator<ListedRun> {
  if (store.listRuns) yield* store.listRuns(options);
  else if (store.setIfAbsent) {
    for await (const { key } of store.list("", options)) if (key.endsWith(`/${LOCK_NAME}`)) yield { key };
  }
}
