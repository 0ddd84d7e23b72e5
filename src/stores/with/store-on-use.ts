import { isNativeStore } from "../native-stores.ts";
import type { Store } from "../store.ts";
import type { ZarritaStore } from "./zarrita.ts";

/** As `toStore`, for what is read: what stores of others need is loaded when there is one. */
export async function storeOnUse(store: Store | ZarritaStore): Promise<Store> {
  if (isOfOurs(store)) return store;
  const { toStore } = await import("./zarrita.ts");
  return toStore(store);
}

function isOfOurs(store: Store | ZarritaStore): store is Store {
  return isNativeStore(store);
}
