import type { StoreOptions, TargetBuild } from "../store.ts";
import type { Journal } from "./journal.ts";

export interface TargetPlaceOptions extends StoreOptions {
  /**
   * What to do with a target that exists (an empty folder not counted): refuse, before a byte is written, or leave
   * it as it is until the new one is published in its place.
   */
  readonly ifExists: "error" | "replace";
  /** Takes the place whoever holds its lock: whoever asks for that knows that no other run is at work there. */
  readonly breakLock?: boolean | undefined;
  /** What an unfinished run has left does not stand in the way: it is to be resumed. */
  readonly mayResume?: boolean | undefined;
}

/** What is done between the steps of taking a place. */
interface ReplacementOptions {
  /** Called when the place is this run's, before anything there changes; what it throws ends the run. */
  readonly onTaken?: (() => Promise<void>) | undefined;
  /**
   * Called before the first key of a target is deleted that is replaced where nothing can be renamed: what lists it
   * elsewhere is to be changed by then.
   */
  readonly beforeReplacing?: (() => Promise<void>) | undefined;
}

/** How a run goes on with an unfinished build. */
export interface ResumeOptions {
  /** Whether what counts as held is read and compared with its checksum: it may not have got to the disk. */
  readonly readBack: boolean;
}

/** An unfinished build that is found at a place. */
export interface UnfinishedBuild {
  /** Its place, for messages. */
  readonly description: string;
  readonly journal: Pick<Journal, "lines" | "boot">;
}

/** The part of a run that one of its processes has: of a stage of the plan, share `index` of `count`. */
export interface ShareName {
  readonly stage: number;
  readonly index: number;
  readonly count: number;
}

/** What the processes of a joint run have left word of. */
export interface JointRecords {
  /** Shares that are done. */
  readonly ended: readonly ShareName[];
  /** What has been done of the shares that a test holds for; of all without one. */
  journal(isWanted?: (share: ShareName) => boolean): Pick<Journal, "lines" | "boot">;
}

/** A run that several processes carry out together, each its share, until one of them ends it. */
export interface JointRun {
  /** A UUID. */
  readonly id: string;
  /** What the run is, in a line; all its processes must say the same. */
  readonly header: string;
  /** @throws `plan-mismatch` where a process of the same run said something else */
  readonly assertHeader: (found: string) => void;
  /** What this process does; absent for the one that ends the run. */
  readonly share?: ShareName;
  /** Called before anything is written, or the work of others is closed. What it throws ends this process's part. */
  readonly assertReady: (records: JointRecords) => Promise<void>;
  /** Whether a ledger says anything of what this process has to do. */
  readonly isOfInterest: (share: ShareName) => boolean;
}

/** Once `signal` is aborted, a value that is streamed takes no more bytes. */
export interface TargetBuildOptions extends TargetPlaceOptions, ReplacementOptions {
  /**
   * For a zip: the level, 1 to 9, at which its entries are deflated.
   *
   * @default undefined, entries are stored as they are
   */
  readonly deflate?: number | undefined;
  /** For a zip: the comment of the archive. */
  readonly comment?: Uint8Array | undefined;
  /**
   * For directories and zip files: what is published is on the disk, and outlives a loss of power.
   *
   * @default false
   */
  readonly fsync?: boolean | undefined;
  /** Present where the run is one that several processes carry out together. */
  readonly joint?: JointRun | undefined;
  /** Whether `isEmpty` has just found that nothing is there. It is looked at again when the place is this run's. */
  readonly wasEmpty?: boolean | undefined;
  /**
   * Asked of each unfinished build of a run that is over: how to go on with it; undefined: not. The first one is taken.
   * What it throws ends the run. Absent: a new one is begun.
   */
  readonly resume?: ((found: UnfinishedBuild) => Promise<ResumeOptions | undefined>) | undefined;
  /** Called with each unfinished build that could be resumed, and is not; it is removed when the target is published. */
  readonly onUnfinished?: ((found: UnfinishedBuild) => void) | undefined;
  /** For a zip inside another store: bytes that it will have, as far as they are known; parts are sized by it. */
  readonly expectedSize?: number | undefined;
  /** For a zip inside another store: bytes that its writer may hold; by default what it needs at least. */
  readonly memory?: number | undefined;
}

/** Where a target is built. */
export interface TargetPlace {
  /** Refuses what `open` would, as far as that shows without writing. */
  check(options: TargetPlaceOptions): Promise<void>;
  /** Whether nothing is there; absent where a look takes no time. */
  isEmpty?(options: StoreOptions): Promise<boolean>;
  open(options: TargetBuildOptions): Promise<TargetBuild>;
}
