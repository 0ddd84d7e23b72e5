import type { ListableStore, StoreOptions } from "../store.ts";
import type { Leftover } from "./leftover.ts";

/** Milliseconds after which an upload counts as that of a dead run: nothing renews it, and not all have a lock. */
const UPLOAD_DEAD_AFTER = 24 * 60 * 60_000;

/**
 * Uploads below a prefix that were begun, and neither ended nor given up; `place` is the key of each.
 *
 * @param isDead whether no run is at work there, as far as locks tell
 */
export async function* uploadLeftovers(
  store: ListableStore,
  prefix: string,
  { isDead, signal }: StoreOptions & { readonly isDead: boolean },
): AsyncGenerator<Leftover> {
  if (store.listUploads === undefined) return;
  for await (const { key, begun, hint, giveUp } of store.listUploads(prefix, { signal })) {
    const isOld = Date.now() - begun.getTime() > UPLOAD_DEAD_AFTER;
    if (giveUp) yield { kind: "upload", place: key, isDead: isDead && isOld, hint, remove: giveUp };
  }
}
