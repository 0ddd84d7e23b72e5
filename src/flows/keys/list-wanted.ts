import type { KeyEntry, ListableStore, ListOptions } from "../../stores/store.ts";
import type { ReadableStream } from "../../util/web-streams.ts";

/**
 * All keys below a prefix. What cannot be read is passed over where `targetKeyOf` has no key for it, or for the prefix of a
 * folder; else the listing fails.
 */
export function listWanted(
  store: ListableStore,
  prefix: string,
  targetKeyOf: (key: string) => string | undefined,
  options: Pick<ListOptions, "signal" | "onFolder" | "asStored">,
): ReadableStream<KeyEntry> {
  return store.list(prefix, {
    ...options,
    onUnreadable: (name, error) => {
      if (targetKeyOf(name) !== undefined) throw error;
    },
  });
}
