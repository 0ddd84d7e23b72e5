import type { StoreOptions } from "../store.ts";

export interface LeftoverOptions extends StoreOptions {
  /** @default true */
  readonly withUploads?: boolean;
  /** Whether files that are being written in folders below a folder are looked for as well. @default true */
  readonly below?: boolean;
}

/** Something that a run has at a place while it is at work, and leaves there where it is killed. */
export interface Leftover {
  /**
   * `build`: a target, or an old one, beside its name; `file`: a value that is being written; `lock`; `half-target`: keys
   * that are locked, and that no document shows, or a zip of which only parts are there; `scratch`: scratch objects; `upload`: parts of a value.
   */
  readonly kind: "build" | "file" | "lock" | "half-target" | "scratch" | "upload";
  /** Its path, or its key. */
  readonly place: string;
  /** Whether its run is over, as far as that is known; else it may be at work. */
  readonly isDead: boolean;
  /** How to be rid of it by other means, as a sentence. */
  readonly hint?: string;
  remove(): Promise<void>;
}
