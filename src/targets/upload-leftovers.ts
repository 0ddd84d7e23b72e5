import type { ListableStore, StoreOptions } from "../stores/store.ts";

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

export interface LeftoverOptions extends StoreOptions {
  /** @default true */
  readonly withUploads?: boolean;
  /** True to look for files that are being written in subfolders too. @default true */
  readonly below?: boolean;
}

/** Something that a run has at a place while it is active, and leaves there if it is killed. */
export interface Leftover {
  /**
   * - `build`: a new or an old target beside the target's name
   * - `file`: a value that is being written
   * - `lock`: a lock or a ledger
   * - `half-target`: locked keys that no document makes visible, or some parts of a zip
   * - `scratch`: scratch objects
   * - `upload`: parts of a value
   */
  readonly kind: "build" | "file" | "lock" | "half-target" | "scratch" | "upload";
  /** Path or key. */
  readonly place: string;
  /** True if its run is known to have ended; otherwise the run may be active. */
  readonly isDead: boolean;
  /** A sentence that says how to remove it by other means. */
  readonly hint?: string;
  remove(): Promise<void>;
}
