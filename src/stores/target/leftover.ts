import type { StoreOptions } from "../store.ts";

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
