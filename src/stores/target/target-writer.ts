import type { Store, StoreSpec, WritableStore } from "../store.ts";

/** The store of a build. */
export interface TargetWriter {
  readonly store: WritableStore;
  readonly spec?: StoreSpec;
  /** Writes what is still to be written. */
  finish(): Promise<void>;
  /** Releases handles. */
  abort(): Promise<void>;
  reopen(): Promise<Store>;
}
