import {
  OPENING_OPTIONS,
  type PaceOptions,
  READ_OPTIONS,
  type ReadOptions,
  SLAB_OPTIONS,
  type SlabOptions,
} from "../../hierarchy/read-options.ts";
import { KEY_FILTER, type KeyFilter } from "../../plan/key-filter.ts";
import {
  EVENT_OPTIONS,
  type EventOptions,
  READ_EVENT_OPTIONS,
  type ReadEventOptions,
} from "../../run/events.ts";
import { RUN_OPTIONS, type RunOptions } from "../../run/run-options.ts";
import type { OptionNames } from "../../util/options.ts";
import { CHANGES, type Changes } from "./changes.ts";

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
  readonly writeEmptyChunks?: boolean | undefined;
}

const PLAN_OPTIONS: OptionNames<PlanOptions> = {
  ...SLAB_OPTIONS,
  ...CHANGES,
  ...KEY_FILTER,
  ifExists: true,
  storeProfile: true,
  writeEmptyChunks: true,
};

/** All options of planning. */
export interface PlanningOptions extends ReadOptions, PlanOptions, EventOptions {}

export const PLANNING_OPTIONS: OptionNames<PlanningOptions> = {
  ...READ_OPTIONS,
  ...PLAN_OPTIONS,
  ...EVENT_OPTIONS,
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
