import type { ListableStore, WritableStore } from "../../src/stores/store.ts";
import { type StoreCheck, storeChecks } from "../../src/stores/testing.ts";

/** The checks of a store that lists and is written, in which their values are set one by one. */
export function writableStoreChecks(empty: () => Promise<WritableStore & ListableStore>): StoreCheck[] {
  return storeChecks({ lists: true, empty });
}
