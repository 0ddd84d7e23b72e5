import type { KeyEntry, ListableStore, ListOptions } from "../../stores/store.ts";
import type { ReadableStream } from "../../util/web-streams.ts";

/**
 * Lists all keys below a prefix. A key or folder that cannot be read is skipped if `targetKeyOf` leaves it out;
 * otherwise the listing fails.
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
