import type { Store } from "../store.ts";
import { isNativeStore } from "../store-traits.ts";
import type { ZarritaStore } from "./zarrita.ts";

/** Like `toStore`, for reading. The adapter for stores of others is loaded only if it is needed. */
export async function storeOnUse(store: Store | ZarritaStore): Promise<Store> {
  if (isOfOurs(store)) return store;
  const { toStore } = await import("./zarrita.ts");
  return toStore(store);
}

function isOfOurs(store: Store | ZarritaStore): store is Store {
  return isNativeStore(store);
}
