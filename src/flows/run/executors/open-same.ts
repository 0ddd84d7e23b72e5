import type { Store, StoreSpec } from "../../../stores/store.ts";
import { type OpenStoreOptions, openStore } from "../../../stores/url.ts";
import { sourceChanged } from "../../../stores/version.ts";

/**
 * Opens a store that another thread has open.
 *
 * @param version of the store in that thread, if it has one
 * @throws `source-changed` if another store has taken its place.
 */
export async function openSame(
  spec: StoreSpec,
  version: string | undefined,
  options: OpenStoreOptions,
): Promise<Store> {
  const store = await openStore(spec, options);
  if (version === undefined || (await store.version?.()) === version) return store;
  await store.close?.();
  throw sourceChanged("the source was replaced").addContext({
    store: store.description,
  });
}
