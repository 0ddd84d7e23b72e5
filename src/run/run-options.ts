import type { OptionNames } from "../util/options.ts";
import { EVENT_OPTIONS, type EventOptions } from "./events.ts";

/** The data to read back before a target is published. */
export type Verification = boolean | "written" | "values";

/** Options of running a plan. */
export interface RunOptions extends EventOptions {
  /**
   * Reads back what was written before the target is published. `written`, or true: every key, comparing its size
   * and CRC-32. `values`: also all items of every array, comparing them with the source.
   */
  readonly verify?: Verification | undefined;
  /** Publishes a directory or zip file only after it is flushed to disk, so that it survives a power loss. */
  readonly fsync?: boolean | undefined;
  /**
   * Continues an unfinished run of the same plan at the target, without repeating completed tasks. Starts a new run
   * otherwise.
   */
  readonly resume?: boolean | undefined;
  /**
   * Checks all keys of the source for changes, not only its metadata. At the end of a run, keys must be the same as
   * at its start; with `resume`, the same as in the unfinished run, which must also have used this option. Compares
   * sizes and versions (file times, entity tags, CRC-32). The store must be able to list its keys.
   */
  readonly verifySource?: boolean | undefined;
  /**
   * Stops the run so that it can be resumed: completes the tasks in flight and keeps the work done. With this
   * option, the work is also kept when `signal` is aborted or the run fails; otherwise it is removed. It is never
   * kept after `differs`, `source-changed` and `locked`, as no run could resume it.
   */
  readonly stop?: AbortSignal | undefined;
  /** Breaks the lock of a target. The caller must know that no other run is writing there. */
  readonly breakLock?: boolean | undefined;
  readonly signal?: AbortSignal | undefined;
}

export const RUN_OPTIONS: OptionNames<RunOptions> = {
  ...EVENT_OPTIONS,
  verify: true,
  fsync: true,
  resume: true,
  verifySource: true,
  stop: true,
  breakLock: true,
  signal: true,
};
