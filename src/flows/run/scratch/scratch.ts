import type { StoreSpec, WritableStore } from "../../../stores/store.ts";

/** Where scratch objects lie while it runs. */
export interface Scratch {
  readonly store: WritableStore;
  /** How a thread opens the same, as one of its `exclusive` owners; absent where no other can. */
  readonly spec?: StoreSpec;
  /** Removes the objects of a pass that all have been read. */
  removePass(pass: number): Promise<void>;
  /** Removes all there is, and closes the store. */
  remove(): Promise<void>;
}
