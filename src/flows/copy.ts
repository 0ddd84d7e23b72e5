import type { EventOptions, RunReport } from "./events.ts";
import type { Changes } from "./request/changes.ts";
import {
  type FlowSource,
  type Planned,
  type PlanOptions,
  planFlow,
  type RunOptions,
} from "./request/flow.ts";
import type { KeyFilter } from "./request/key-filter.ts";
import { runFlow } from "./run/run-flow.ts";
import type { FlowTarget } from "./target/flow-target.ts";

/**
 * Plans a copy: every key as it is, byte for byte, but for what `options` change.
 *
 * @throws `not-found`, `target-inside-source`, `budget-too-small`; `loss-refused` when the new format cannot hold
 *   something.
 */
export function planCopy(
  source: FlowSource,
  target: FlowTarget,
  options: PlanOptions & EventOptions & Changes & KeyFilter = {},
): Promise<Planned> {
  return planFlow("copy", source, target, options);
}

/**
 * Copies an array or a group with all below it, byte for byte, also keys that are no Zarr. The target appears
 * name when it is complete, or not at all.
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
  source: FlowSource,
  target: FlowTarget,
  options: RunOptions & Changes & KeyFilter = {},
): Promise<RunReport> {
  return runFlow(await planCopy(source, target, options), options);
}
