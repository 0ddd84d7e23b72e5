import {
  OPENING_OPTIONS,
  type PaceOptions,
  READ_OPTIONS,
  type ReadOptions,
  SLAB_OPTIONS,
  type SlabOptions,
} from "../../hierarchy/read-options.ts";
import type { OptionNames } from "../../util/check-options.ts";
import { EVENT_OPTIONS, type EventOptions, READ_EVENT_OPTIONS, type ReadEventOptions } from "../events.ts";
import { CHANGES, type Changes } from "./changes.ts";
import { KEY_FILTER, type KeyFilter } from "./key-filter.ts";

/** What is done with a source: what is taken and changed, and how that is planned. `ReadOptions` say how it is read. */
export interface PlanOptions extends SlabOptions, Changes, KeyFilter {
  /**
   * What to do when there is something at the target; `error` by default. `skip` leaves nodes that are there as they
   * are, and adds those that are not. `update`, of a copy that changes nothing, writes what differs and deletes what the
   * source lacks. Both work on a target at its place, and must be known when the plan is made.
   */
  readonly ifExists?: "error" | "skip" | "replace" | "update" | undefined;
  /**
   * What stores over a network are like, as `30ms`, `100MB/s` or both, `30ms,100MB/s`: the time of a small request, and the
   * bytes that come and go in a second; `source=`, `target=` or `scratch=` before it for one of them. By default the time
   * is that of the first answers, and 100 MB/s. Plans are chosen by it, and `totals.predictedSeconds` follows from it.
   */
  readonly storeProfile?: string | readonly string[] | undefined;
  /** Writes chunks that hold nothing but the fill value too. */
  readonly writeEmpty?: boolean | undefined;
}

const PLAN_OPTIONS: OptionNames<PlanOptions> = {
  ...SLAB_OPTIONS,
  ...CHANGES,
  ...KEY_FILTER,
  ifExists: true,
  storeProfile: true,
  writeEmpty: true,
};

/** All that planning takes. */
export interface PlanningOptions extends ReadOptions, PlanOptions, EventOptions {}

export const PLANNING_OPTIONS: OptionNames<PlanningOptions> = {
  ...READ_OPTIONS,
  ...PLAN_OPTIONS,
  ...EVENT_OPTIONS,
};

/** What is read back of a target before it is published. */
export type Verification = boolean | "written" | "values";

/** How what was planned is run. */
export interface RunOptions extends EventOptions {
  /**
   * Reads back what is written before the target is published. `written`, or true: every key, by its size and CRC-32.
   * `values`: also all items of every array, which are compared with the source's.
   */
  readonly verify?: Verification | undefined;
  /** Publishes a directory or a zip file only when it is on the disk and would outlive a loss of power. */
  readonly fsync?: boolean | undefined;
  /**
   * Continues an unfinished run of the same plan at the target: tasks that it completed are not repeated. If there was no
   * such run, a new one starts.
   */
  readonly resume?: boolean | undefined;
  /**
   * Checks every key of the source, not its metadata only: at the end of a run they must be those of its beginning, and
   * with `resume` those of the unfinished run, which must have been started with this as well. Sizes and versions (times
   * of files, entity tags, CRC-32) are compared; the store must be able to list its keys.
   */
  readonly verifySource?: boolean | undefined;
  /**
   * Stops the run so that it can be resumed: tasks in flight are completed, and the work so far is kept. If this is
   * given, the work is also kept when `signal` is aborted and after failures, but for `differs`, `source-changed` and
   * `locked`, after which nobody can go on with it; otherwise it is removed.
   */
  readonly stop?: AbortSignal | undefined;
  /** Takes a target that is locked: whoever asks for that knows that no other run is at work there. */
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

/** How a flow reads that keeps to no rates, and tells what it does. */
export interface UnpacedOptions extends Omit<ReadOptions, keyof PaceOptions>, ReadEventOptions {}

export const UNPACED_OPTIONS: OptionNames<UnpacedOptions> = {
  ...OPENING_OPTIONS,
  ...READ_EVENT_OPTIONS,
  maxMemory: true,
  concurrency: true,
  context: true,
  signal: true,
};

/** How a source is read, what is done with it, and how that is run: all that one call of `copy` takes. */
export interface FlowOptions extends ReadOptions, PlanOptions, RunOptions {}

export const FLOW_OPTIONS: OptionNames<FlowOptions> = { ...PLANNING_OPTIONS, ...RUN_OPTIONS };
