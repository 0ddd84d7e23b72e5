import type { Store, StoreSpec, TargetBuild, WritableStore } from "../store.ts";
import type { ResumeOptions, TargetBuildOptions } from "./options.ts";

export interface ConstructionOptions extends TargetBuildOptions {
  /** Present where what is to be constructed was begun by an earlier run. */
  readonly resumed: ResumeOptions | undefined;
}

/** The store of a build. */
export interface TargetWriter {
  readonly store: WritableStore;
  readonly spec?: StoreSpec;
  readonly holds?: TargetBuild["holds"];
  /** Writes what is still to be written. */
  finish(): Promise<void>;
  /** Releases handles, and leaves what is there to be resumed. Absent where it cannot be. */
  keep?(): Promise<void>;
  /** Releases handles. */
  abort(): Promise<void>;
  reopen(): Promise<Store>;
}
