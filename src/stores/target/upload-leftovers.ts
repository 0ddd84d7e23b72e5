import type { ListableStore, StoreOptions } from "../store.ts";
import type { Leftover } from "./leftover.ts";

/** Milliseconds after which an upload counts as a dead run's: uploads are not renewed, and not all have a lock. */
const UPLOAD_DEAD_AFTER = 24 * 60 * 60_000;

/**
 * Lists unfinished uploads below a prefix; `place` is the key of each.
 *
 * @param isDead true if no locks show an active run there
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
