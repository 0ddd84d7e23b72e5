import { isNamedAttributes, isNamedDocument } from "../document-names.ts";
import type { ListableStore, StoreOptions, WritableStore } from "../store.ts";

/** How many keys are deleted at a time: in one call, or by one call each. */
const DELETED_TOGETHER = 1000;
const DELETED_EACH = 16;
/** Keys of one listing that are kept until all documents are deleted; of more there is a second listing. */
const MAX_KEPT = 10_000;

/**
 * Deletes every key of a store: what makes nodes of them first, so that what is left at any moment is no array that lacks
 * attributes or chunks.
 */
export async function deleteAll(
  store: WritableStore & ListableStore,
  options: StoreOptions = {},
): Promise<void> {
  const others: string[] = [];
  let areMore = false;
  const isNode = (key: string) => {
    if (isNamedDocument(key) && !isNamedAttributes(key)) return true;
    if (others.length < MAX_KEPT) others.push(key);
    else areMore = true;
    return false;
  };
  await deleteKeys(store, keysWhere(store, isNode, options), options);
  await deleteKeys(store, areMore ? keysWhere(store, () => true, options) : others, options);
}

async function* keysWhere(
  store: ListableStore,
  isMeant: (key: string) => boolean,
  options: StoreOptions,
): AsyncGenerator<string> {
  for await (const { key } of store.list("", options)) if (isMeant(key)) yield key;
}

async function deleteKeys(
  store: WritableStore,
  keys: Iterable<string> | AsyncIterable<string>,
  options: StoreOptions,
): Promise<void> {
  const deleteTogether = async (batch: readonly string[]) => {
    if (store.deleteMany) await store.deleteMany(batch, options);
    else await Promise.all(batch.map((key) => store.delete(key, options)));
  };
  const most = store.deleteMany ? DELETED_TOGETHER : DELETED_EACH;
  let batch: string[] = [];
  for await (const key of keys) {
    batch.push(key);
    if (batch.length < most) continue;
    await deleteTogether(batch);
    batch = [];
  }
  if (batch.length > 0) await deleteTogether(batch);
}
