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

/** What is changed; `to` is needed. */
export type ConvertChanges = Changes & Required<Pick<Changes, "to">>;

/** Plans a conversion to another format. @throws as `planCopy`. */
export function planConvert(
  source: FlowSource,
  target: FlowTarget,
  options: PlanOptions & EventOptions & ConvertChanges,
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
  source: FlowSource,
  target: FlowTarget,
  options: RunOptions & ConvertChanges,
): Promise<RunReport> {
  return runFlow(await planConvert(source, target, options), options);
}
