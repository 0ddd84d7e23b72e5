import type { Store, StoreSpec, TargetBuild, WritableStore } from "../store.ts";
import type { ResumeOptions, TargetBuildOptions } from "./options.ts";

export interface ConstructionOptions extends TargetBuildOptions {
  /** Present if an earlier run has started this construction. */
  readonly resumed: ResumeOptions | undefined;
}

/** The writer of a build. */
export interface TargetWriter {
  readonly store: WritableStore;
  readonly spec?: StoreSpec;
  readonly holds?: TargetBuild["holds"];
  /** Writes the rest. */
  finish(): Promise<void>;
  /** Releases handles and leaves the build to be resumed. Absent if that is not possible. */
  keep?(): Promise<void>;
  /** Releases handles. */
  abort(): Promise<void>;
  reopen(): Promise<Store>;
}
