import type { EventOptions, RunReport } from "./events.ts";
import type { Changes } from "./request/changes.ts";
import {
  type FlowSource,
  type Planned,
  type PlanOptions,
  planFlow,
  type RunOptions,
} from "./request/flow.ts";
import { runFlow } from "./run/run-flow.ts";
import type { FlowTarget } from "./target/flow-target.ts";

/** What is changed; `slice` is needed. */
export type SliceChanges = Changes & Required<Pick<Changes, "slice">>;

/** Plans a smaller array or group. @throws as `planCopy`; `invalid-selection`, `invalid-option` as `sliceTo`. */
export function planSliceTo(
  source: FlowSource,
  target: FlowTarget,
  options: PlanOptions & EventOptions & SliceChanges,
): Promise<Planned> {
  return planFlow("slice", source, target, options);
}

/**
 * Writes a part of an array as an array of its own, or of a group as a smaller group, with the same attributes. Of a
 * group, every array is cut that has any of the named dimensions, coordinates and bounds too; the others are taken
 * whole, and keys that are no Zarr are left behind. All dimensions stay; one that an index is given for has one item.
 * Chunks keep their shape, but are no larger than the part.
 *
 * Of an OME-Zarr image, ranges count items of its first level. The other levels, and those of its labels, give the items
 * that hold any of that part, with the same step; transformations, channels and the plane shown first are made true.
 *
 * @throws as `copy`; `invalid-selection` for a wrong rank, name or range, for a dimension that has different lengths in
 *   arrays of the group, and for a level of an image that is not as long as its scale says; `invalid-option` for ranges
 *   without names for a group; `unsupported-operation` for transformations of an image that are not known.
 * @example
 * ```ts
 * import { sliceTo } from "zarrflow";
 *
 * await sliceTo("era5.zarr", "day.zarr.zip", { slice: { time: [0, 24], latitude: [10, 20] } });
 * ```
 */
export async function sliceTo(
  source: FlowSource,
  target: FlowTarget,
  options: RunOptions & SliceChanges,
): Promise<RunReport> {
  return runFlow(await planSliceTo(source, target, options), options);
}
