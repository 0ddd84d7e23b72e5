import type { StoreSpec, WritableStore } from "../../../stores/store.ts";
import type { JointRun } from "../../../stores/target/options.ts";

/** Where scratch objects lie while it runs. */
export interface Scratch {
  readonly store: WritableStore;
  /** How a thread opens the same, as one of its `exclusive` owners; absent where no other can. */
  readonly spec?: StoreSpec;
  /** Removes the objects of a pass that all have been read. */
  removePass(pass: number): Promise<void>;
  /** Leaves what is there to a run that resumes this one; removes it where that cannot be. */
  keep(): Promise<void>;
  /** Removes all there is, and closes the store. */
  remove(): Promise<void>;
}

export interface OpenScratchOptions {
  /** A folder or any other store; the system's folder for temporary files by default. */
  readonly place: StoreSpec | undefined;
  /** Bytes that will be written. */
  readonly bytes: number;
  /** The path, or for far targets another name, of where the run keeps what it has done; absent where it keeps nothing. */
  readonly keptBy?: string | undefined;
  /** Where an earlier run has left scratch objects, which this one takes over. */
  readonly left?: StoreSpec | undefined;
  /** Present where several processes of a run have the same scratch objects, which stay until the last one removes them. */
  readonly joint?: Pick<JointRun, "id" | "share"> | undefined;
}
