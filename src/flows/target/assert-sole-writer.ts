import type { Documents } from "../../meta/format.ts";
import { isReservedKey, JOINT_PREFIX } from "../../stores/reserved-names.ts";
import { isListable, type Store, type StoreOptions } from "../../stores/store.ts";
import { ZarrflowError } from "../../util/errors.ts";

/**
 * Holds that a place where values are written one by one has as many keys and bytes as a run, and those that it resumes,
 * have written there, but for documents: nobody else has added, changed or removed some meanwhile. Of a change that
 * leaves both as they were, only reading back shows it.
 *
 * @throws `differs`
 */
export async function assertSoleWriter(
  store: Store,
  { keys, bytes }: { readonly keys: number; readonly bytes: number },
  { documents, ...options }: StoreOptions & { readonly documents: Documents },
): Promise<void> {
  if (!isListable(store)) return;
  const found = { keys: 0, bytes: 0 };
  for await (const { key, size } of store.list("", options)) {
    if (documents.has(key) || isReservedKey(key) || key.startsWith(JOINT_PREFIX)) continue;
    found.keys++;
    found.bytes += size ?? (await store.size(key, options)) ?? 0;
  }
  if (found.keys === keys && found.bytes === bytes) return;
  throw new ZarrflowError("differs", "another program changed the target while it was written", {
    store: store.description,
    expected: `${keys} keys of ${bytes} bytes`,
    found: `${found.keys} keys of ${found.bytes} bytes`,
    hint: "Copy again when no other program writes there.",
  });
}
