import { isNamedAttributes, isNamedDocument } from "../document-names.ts";
import type { ListableStore, StoreOptions, WritableStore } from "../store.ts";

/** How many keys are deleted at a time: in one call, or by one call each. */
const DELETED_TOGETHER = 1000;
const DELETED_EACH = 16;

/**
 * Deletes every key of a store: what makes nodes of them first, so that what is left at any moment is no array that lacks
 * attributes or chunks.
 */
export async function deleteAll(
  store: WritableStore & ListableStore,
  options: StoreOptions = {},
): Promise<void> {
  await deleteWhere(store, (key) => isNamedDocument(key) && !isNamedAttributes(key), options);
  await deleteWhere(store, () => true, options);
}

async function deleteWhere(
  store: WritableStore & ListableStore,
  isMeant: (key: string) => boolean,
  options: StoreOptions,
): Promise<void> {
  const deleteTogether = async (keys: readonly string[]) => {
    if (store.deleteMany) await store.deleteMany(keys, options);
    else await Promise.all(keys.map((key) => store.delete(key, options)));
  };
  const most = store.deleteMany ? DELETED_TOGETHER : DELETED_EACH;
  let batch: string[] = [];
  for await (const { key } of store.list("", options)) {
    if (isMeant(key)) batch.push(key);
    if (batch.length < most) continue;
    await deleteTogether(batch);
    batch = [];
  }
  if (batch.length > 0) await deleteTogether(batch);
}
