import type { Journal, StoreOptions, TargetBuild } from "../stores/store.ts";

export interface TargetPlaceOptions extends StoreOptions {
  /**
   * How to handle an existing target (an empty folder does not count): reject it before a byte is written, or keep
   * it until the new one is published in its place.
   */
  readonly ifExists: "error" | "replace";
  /**
   * Takes the place even if another run holds its lock. The caller must know that no other run is active there.
   */
  readonly breakLock?: boolean | undefined;
  /** Allows the work of an unfinished run at the place, because it will be resumed. */
  readonly mayResume?: boolean | undefined;
}

/** Callbacks between the steps of taking a place. */
interface ReplacementOptions {
  /** Called when this run has the place, before anything there changes. An error that it throws ends the run. */
  readonly onTaken?: (() => Promise<void>) | undefined;
  /**
   * Called before the first key of a replaced target is deleted, in stores that cannot rename. Documents elsewhere
   * that list the target must be changed by then.
   */
  readonly beforeReplacing?: (() => Promise<void>) | undefined;
}

/** Options for continuing an unfinished build. */
export interface ResumeOptions {
  /** True to read recorded values and compare their checksums, because they may not have reached the disk. */
  readonly readBack: boolean;
}

/** An unfinished build found at a place. */
export interface UnfinishedBuild {
  /** Place of the build, for messages. */
  readonly description: string;
  readonly journal: Pick<Journal, "lines" | "boot">;
}

/** Options for the writer of a build in a control folder. */
export interface ConstructionOptions extends TargetBuildOptions {
  /** Present if an earlier run has started this construction. */
  readonly resumed: ResumeOptions | undefined;
}

/** The part of a run that one process does: share `index` of `count`, in one stage of the plan. */
export interface ShareName {
  readonly stage: number;
  readonly index: number;
  readonly count: number;
}

/** Progress that the processes of a joint run have recorded. */
export interface JointRecords {
  /** Shares that are done. */
  readonly ended: readonly ShareName[];
  /** Returns the recorded progress of the shares for which `isWanted` is true, by default of all. */
  journal(isWanted?: (share: ShareName) => boolean): Pick<Journal, "lines" | "boot">;
}

/** A run that several processes carry out together, each with a share, until one of them finishes it. */
export interface JointRun {
  /** A UUID. */
  readonly id: string;
  /** Description of the run in one line, the same in all its processes. */
  readonly header: string;
  /** @throws `plan-mismatch` if a process of the same run has another description */
  readonly assertHeader: (found: string) => void;
  /** The share of this process; absent for the process that finishes the run. */
  readonly share?: ShareName;
  /**
   * Called before anything is written or the run is closed to other processes. An error that it throws ends this
   * process's part.
   */
  readonly assertReady: (records: JointRecords) => Promise<void>;
  /** True if this process needs the progress of a share. */
  readonly isOfInterest: (share: ShareName) => boolean;
}

/** Options of a build. Once `signal` is aborted, streamed values take no more bytes. */
export interface TargetBuildOptions extends TargetPlaceOptions, ReplacementOptions {
  /**
   * For a zip: the level, 1 to 9, at which entries are deflated.
   *
   * @default undefined, entries are stored uncompressed
   */
  readonly deflate?: number | undefined;
  /** For a zip: comment of the archive. */
  readonly comment?: Uint8Array | undefined;
  /**
   * For directories and zip files: flushes the target to the disk before it is published, so that it survives a
   * loss of power.
   *
   * @default false
   */
  readonly fsync?: boolean | undefined;
  /** Present if several processes carry out the run together. */
  readonly joint?: JointRun | undefined;
  /** True if `isEmpty` has just found the place empty. It is checked again when this run has the place. */
  readonly wasEmpty?: boolean | undefined;
  /**
   * Called with each unfinished build of an ended run. Returns how to continue it, or undefined to leave it; the
   * first build with an answer is taken. An error that it throws ends the run. If this is absent, a new build is
   * started.
   */
  readonly resume?: ((found: UnfinishedBuild) => Promise<ResumeOptions | undefined>) | undefined;
  /**
   * Called with each unfinished build that could be resumed but is not. It is removed when the target is
   * published.
   */
  readonly onUnfinished?: ((found: UnfinishedBuild) => void) | undefined;
  /** For a zip inside another store: its expected size in bytes, if known. Parts are sized accordingly. */
  readonly expectedSize?: number | undefined;
  /**
   * For a zip inside another store: bytes that its writer may hold in memory; by default the least that it needs.
   */
  readonly memory?: number | undefined;
}

export interface TargetPlace {
  /** Throws the errors of `open` that can be found without writing. */
  check(options: TargetPlaceOptions): Promise<void>;
  /** Returns true if nothing is there; absent if checking takes no time. */
  isEmpty?(options: StoreOptions): Promise<boolean>;
  open(options: TargetBuildOptions): Promise<TargetBuild>;
}
