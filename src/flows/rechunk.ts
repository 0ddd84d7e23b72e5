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

/** What is changed; `chunks` is needed. */
export type RechunkChanges = Changes & Required<Pick<Changes, "chunks">>;

/**
 * Plans a rechunk. Of a group it rechunks every array that has all the named dimensions, save 1-d coordinates named
 * after their dimension; the rest is copied as it is.
 *
 * @throws `invalid-option` for chunks that fit no array; `budget-too-small` with the smallest budget that works.
 */
export function planRechunk(
  source: FlowSource,
  target: FlowTarget,
  options: PlanOptions & EventOptions & RechunkChanges,
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
  source: FlowSource,
  target: FlowTarget,
  options: RunOptions & RechunkChanges,
): Promise<RunReport> {
  return runFlow(await planRechunk(source, target, options), options);
}
