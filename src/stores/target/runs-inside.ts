import { ZarrflowError } from "../../util/errors.ts";
import { LOCK_NAME } from "../reserved-names.ts";
import type { ListableStore, ListedRun, StoreOptions, WritableStore } from "../store.ts";
import { assertUnlocked, type LockOptions } from "./prefix-lock.ts";

/**
 * Holds that no other run is at work inside a store, on a part of what is there. To be called when the store is locked:
 * whoever begins inside later sees that.
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

/** A store that hides no keys lists locks among them. */
async function* runsIn(
  store: ListableStore & Pick<WritableStore, "setIfAbsent">,
  options: StoreOptions,
): AsyncGenerator<ListedRun> {
  if (store.listRuns) yield* store.listRuns(options);
  else if (store.setIfAbsent) {
    for await (const { key } of store.list("", options)) if (key.endsWith(`/${LOCK_NAME}`)) yield { key };
  }
}
