import {
  OPENING_OPTIONS,
  type PaceOptions,
  READ_OPTIONS,
  type ReadOptions,
  SLAB_OPTIONS,
  type SlabOptions,
} from "../../hierarchy/read-options.ts";
import type { OptionNames } from "../../util/options.ts";
import { EVENT_OPTIONS, type EventOptions, READ_EVENT_OPTIONS, type ReadEventOptions } from "../events.ts";
import { CHANGES, type Changes } from "./changes.ts";
import { KEY_FILTER, type KeyFilter } from "./key-filter.ts";

/**
 * Options of a plan: the part to take, the changes, and how to plan them. `ReadOptions` control how the source is
 * read.
 */
export interface PlanOptions extends SlabOptions, Changes, KeyFilter {
  /**
   * Action if the target exists; `error` by default. `skip` keeps the nodes that exist and adds the others.
   * `update`, for copies without changes, writes keys that differ and deletes those that the source lacks. Both
   * write in place, and must be set when the plan is made.
   */
  readonly ifExists?: "error" | "skip" | "replace" | "update" | undefined;
  /**
   * Expected speed of stores over a network: the latency of a small request, the bytes per second, or both (`30ms`,
   * `100MB/s`, `30ms,100MB/s`). A prefix `source=`, `target=` or `scratch=` limits it to one store. The defaults
   * are the measured latency of the first responses, and 100 MB/s. The choice of a plan and
   * `totals.predictedSeconds` depend on it.
   */
  readonly storeProfile?: string | readonly string[] | undefined;
  /** Also writes chunks that contain only the fill value. */
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

/** All options of planning. */
export interface PlanningOptions extends ReadOptions, PlanOptions, EventOptions {}

export const PLANNING_OPTIONS: OptionNames<PlanningOptions> = {
  ...READ_OPTIONS,
  ...PLAN_OPTIONS,
  ...EVENT_OPTIONS,
};

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

/** Read options and events of a flow without rate limits. */
export interface UnpacedOptions extends Omit<ReadOptions, keyof PaceOptions>, ReadEventOptions {}

export const UNPACED_OPTIONS: OptionNames<UnpacedOptions> = {
  ...OPENING_OPTIONS,
  ...READ_EVENT_OPTIONS,
  maxMemory: true,
  concurrency: true,
  context: true,
  signal: true,
};

/** All options of `copy`: how the source is read, what is done with it, and how the plan is run. */
export interface FlowOptions extends ReadOptions, PlanOptions, RunOptions {}

export const FLOW_OPTIONS: OptionNames<FlowOptions> = { ...PLANNING_OPTIONS, ...RUN_OPTIONS };
