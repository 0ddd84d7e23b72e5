import type { OpenSource } from "../hierarchy/open/open.ts";
import { checkedOptions, type OptionNames, pickOptions } from "../util/check-options.ts";
import type { EventOptions, RunReport } from "./events.ts";
import type { Plan } from "./plan/plan.ts";
import type { Changes } from "./request/changes.ts";
import { type Planned, planFlow } from "./request/flow.ts";
import {
  type FlowOptions,
  PLANNING_OPTIONS,
  type PlanningOptions,
  type PlanOptions,
  RUN_OPTIONS,
} from "./request/flow-options.ts";
import type { KeyFilter } from "./request/key-filter.ts";
import { runFlow } from "./run/run-flow.ts";
import type { FlowTarget } from "./target/flow-target.ts";

const FLOW_OPTIONS: OptionNames<PlanningOptions & FlowOptions> = { ...PLANNING_OPTIONS, ...RUN_OPTIONS };

/** Plans and runs. */
async function flow(
  operation: Plan["operation"],
  source: OpenSource,
  target: FlowTarget,
  options: PlanningOptions & FlowOptions,
): Promise<RunReport> {
  const checked = checkedOptions(options, FLOW_OPTIONS);
  const planned = await planFlow(operation, source, target, pickOptions(checked, PLANNING_OPTIONS));
  return runFlow(planned, pickOptions(checked, RUN_OPTIONS));
}

/**
 * Plans a copy: every key as it is, byte for byte, but for what `options` change.
 *
 * @throws `not-found`, `target-inside-source`, `budget-too-small`; `loss-refused` when the new format cannot hold
 *   something.
 */
export function planCopy(
  source: OpenSource,
  target: FlowTarget,
  options: PlanOptions & EventOptions & Changes & KeyFilter = {},
): Promise<Planned> {
  return planFlow("copy", source, target, options);
}

/**
 * Copies an array or a group with all below it, byte for byte, also keys that are no Zarr. The target appears
 * under its name when it is complete, or not at all.
 *
 * @throws as `planCopy`; `target-exists`; whatever a store throws, with the key.
 * @example
 * ```ts
 * import { copy } from "zarrflow";
 *
 * const { keysWritten } = await copy("era5.zarr", "era5.zarr.zip", { verify: true });
 * console.log(keysWritten, "keys");
 * ```
 */
export async function copy(
  source: OpenSource,
  target: FlowTarget,
  options: FlowOptions & Changes & KeyFilter = {},
): Promise<RunReport> {
  return flow("copy", source, target, options);
}

/** What is changed; `chunks` is needed. */
export type RechunkChanges = Changes & Required<Pick<Changes, "chunks">>;

/**
 * Plans a rechunk. Of a group it rechunks every array that has all the named dimensions, save 1-d coordinates named
 * after their dimension; the rest is copied as it is.
 *
 * @throws `invalid-option` for chunks that fit no array; `budget-too-small` with the smallest budget that works.
 */
export function planRechunk(
  source: OpenSource,
  target: FlowTarget,
  options: PlanOptions & EventOptions & RechunkChanges & KeyFilter,
): Promise<Planned> {
  return planFlow("rechunk", source, target, options);
}

/**
 * Rechunks an array, or the arrays of a group, to another chunk shape, in one pass and within `maxMemory`. The
 * target appears under its name when it is complete, or not at all.
 *
 * @throws as `planRechunk`; `target-exists`; `corrupt-chunk` with array, key and codec; whatever a store throws.
 * @example
 * ```ts
 * import { rechunk } from "zarrflow";
 *
 * await rechunk("era5.zarr", "series.zarr.zip", {
 *   chunks: { time: -1, latitude: 11, longitude: 7 },
 *   maxMemory: "256MB",
 * });
 * ```
 */
export async function rechunk(
  source: OpenSource,
  target: FlowTarget,
  options: FlowOptions & RechunkChanges & KeyFilter,
): Promise<RunReport> {
  return flow("rechunk", source, target, options);
}

/** What is changed; `to` is needed. */
export type ConvertChanges = Changes & Required<Pick<Changes, "to">>;

/** Plans a conversion to another format. @throws as `planCopy`. */
export function planConvert(
  source: OpenSource,
  target: FlowTarget,
  options: PlanOptions & EventOptions & ConvertChanges & KeyFilter,
): Promise<Planned> {
  return planFlow("convert", source, target, options);
}

/**
 * Converts an array or a group with all below it to another format. Chunks whose bytes mean the same there are
 * copied as they are.
 *
 * @throws as `copy`; `loss-refused` with the JSON pointers of what the format cannot hold, unless allowed.
 * @example
 * ```ts
 * import { convert } from "zarrflow";
 *
 * await convert("era5.zarr", "era5.v3.zarr", { to: "v3" });
 * ```
 */
export async function convert(
  source: OpenSource,
  target: FlowTarget,
  options: FlowOptions & ConvertChanges & KeyFilter,
): Promise<RunReport> {
  return flow("convert", source, target, options);
}

/** What is changed; `slice` or `sel` is needed. */
export type SliceChanges = Changes & (Required<Pick<Changes, "slice">> | Required<Pick<Changes, "sel">>);

/** Plans a smaller array or group. @throws as `planCopy`; `invalid-selection`, `invalid-option` as `sliceTo`. */
export function planSliceTo(
  source: OpenSource,
  target: FlowTarget,
  options: PlanOptions & EventOptions & SliceChanges & KeyFilter,
): Promise<Planned> {
  return planFlow("slice", source, target, options);
}

/**
 * Writes a part of an array, or of a group as a smaller group, with the same attributes. Of a
 * group, every array is cut that has any of the named dimensions, coordinates and bounds too; the others are taken
 * whole, and other keys are left out. All dimensions stay; one that an index is given for has one item.
 * Chunks keep their shape, but are no larger than the part. A group below, in which a dimension has another length, is taken
 * whole, with a warning.
 *
 * What belongs to an array comes along and is cut alike: the target is a group then, with the array under its own name, its
 * coordinates, and the arrays that its attributes name. It is an array where nothing belongs to it, or with `alone`.
 *
 * Of an OME-Zarr image, ranges count items of its first level. The other levels, and those of its labels, give the items
 * that hold any of that part, with the same step; transformations, channels and the plane shown first are made true.
 *
 * @throws as `copy`; `invalid-selection` for a wrong rank, name or range, for a dimension that has different lengths in
 *   arrays of one group, or with `strict` in groups below, and for a level of an image that is not as long as its scale
 *   says; `invalid-option` for ranges without names for a group, and for `include` with an array; `resource-limit` for an
 *   array whose attributes name others without end; `unsupported-operation` for transformations of an image that are not known.
 * @example
 * ```ts
 * import { sliceTo } from "zarrflow";
 *
 * await sliceTo("era5.zarr", "day.zarr.zip", { slice: { time: [0, 24], latitude: [10, 20] } });
 * ```
 */
export async function sliceTo(
  source: OpenSource,
  target: FlowTarget,
  options: FlowOptions & SliceChanges & KeyFilter,
): Promise<RunReport> {
  return flow("slice", source, target, options);
}
