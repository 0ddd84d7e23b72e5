import { keysBeside } from "../stores/reserved-names.ts";
import { isListable, isWritable, type StoreSpec } from "../stores/store.ts";
import { openStoreIfThere } from "../stores/url.ts";
import { readLock } from "./lock-record.ts";
import { isStale } from "./prefix-lock.ts";
import { type Leftover, type LeftoverOptions, uploadLeftovers } from "./upload-leftovers.ts";
import { ValueJournal } from "./value-journal.ts";

/** Lists leftovers of runs for a zip that is a value of another store: its parts, and marks beside it. */
export async function* zipLeftovers(
  { store: around, key }: Extract<StoreSpec, { readonly kind: "zip-value" }>,
  { withUploads = true, signal }: LeftoverOptions,
): AsyncGenerator<Leftover> {
  const store = await openStoreIfThere(around);
  try {
    if (store === undefined || !isWritable(store) || store.openUpload === undefined) return;
    const { lock: lockKey, ledger: keyOf } = keysBeside(key);
    const [lock, journal] = await Promise.all([
      readLock(store, { key: lockKey, signal }),
      ValueJournal.find(store, { keyOf, signal }),
    ]);
    const isDead = lock === undefined || (await isStale(store, lock, { key: lockKey, signal }));
    if (lock || journal) {
      yield {
        kind: journal ? "half-target" : "lock",
        place: `${store.description}/${journal ? keyOf(0) : lockKey}`,
        isDead,
        async remove() {
          if (journal) {
            const { removeLeftZip } = await import("./zip-upload-log.ts");
            await removeLeftZip(store, key, journal);
          }
          await store.delete(lockKey);
        },
      };
    }
    if (!withUploads || !isListable(store)) return;
    const folder = key.slice(0, key.lastIndexOf("/") + 1);
    for await (const leftover of uploadLeftovers(store, folder, { isDead, signal })) {
      if (leftover.place === key) yield leftover;
    }
  } finally {
    await store?.close?.();
  }
}
