import type { Documents } from "../meta/format.ts";
import { isReservedKey, JOINT_PREFIX } from "../stores/reserved-names.ts";
import { isListable, type Store, type StoreOptions } from "../stores/store.ts";
import { ZarrflowError } from "../util/errors.ts";

/**
 * Asserts that no other program changed a target that is written in place. Compares the count and size of its keys,
 * without documents, with what this run and the runs that it resumes have written. A change that keeps both numbers
 * is found only by verification, which reads the values back.
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
