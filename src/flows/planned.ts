import type { OpenSource } from "../hierarchy/open/open.ts";
import type { Plan, StoreProfiles } from "../plan/plan.ts";
import type { RunReport } from "../run/events.ts";
import type { RunOptions } from "../run/run-options.ts";
import { asyncDispose } from "../util/awaitable.ts";
import { ZarrflowError } from "../util/errors.ts";
import { type CopyEstimate, type EstimateOptions, estimateCopy } from "./estimate-copy.ts";
import { planFileOf, type SealedPlanFile } from "./jobs/plan-file.ts";
import { type PlannedFlow, planFlow } from "./request/flow.ts";
import type { PlanningOptions } from "./request/flow-options.ts";
import { runFlow } from "./run-flow.ts";
import type { FlowTarget } from "./target/flow-target.ts";

/** A plan that is ready to run. What was planned is what runs. */
export interface Planned {
  /** The plan itself: arrays, tasks, memory, predicted costs. Plain JSON of a few kilobytes. */
  readonly plan: Plan;
  /**
   * Runs the plan once, and closes it. The options of `plan` apply, including `signal` and `onEvent`; those of the run
   * are added.
   *
   * @throws `invalid-option` for an option of `plan`, and if the plan has run or is closed; otherwise as `copy`.
   */
  run(options?: RunOptions): Promise<RunReport>;
  /** Describes the plan, its cost, and the strategies that were not chosen, as `--dry-run --explain` prints them. */
  explain(): Promise<string>;
  /**
   * Counts what the run will copy unchanged, by listing the source. An update is also compared with its target, which
   * may require reading both. Writes nothing.
   */
  estimateCopy(options?: EstimateOptions): Promise<CopyEstimate>;
  /** Returns the plan for stores with the given profiles, for example for `simulatePlan`. */
  planWith(profiles: StoreProfiles): Promise<Plan>;
  /**
   * Returns the plan as `zarrflow plan` stores it, without credentials: `JSON.stringify(planned)` is such a file. Any
   * process can run it or a share of it: `zarrflow run`, `readPlan`, `zarrflow/bullmq`.
   *
   * @throws `unsupported-operation` for a source, target or scratch objects that other processes cannot reach.
   */
  toJSON(): object;
  /** Closes the source. `run` does this itself. */
  close(): Promise<void>;
  /** Calls `close`, for `await using`. */
  [asyncDispose](): Promise<void>;
}

/**
 * Plans `copy`, `rechunk`, `convert` or `sliceTo` without writing anything. The options decide which: `slice` or `sel`
 * take a part, `chunks` and `shards` change the chunk shape, `to` changes the format. Without them every key is copied
 * unchanged.
 *
 * @throws `not-found`, `target-inside-source`, `budget-too-small` with the smallest budget that works; `loss-refused`
 *   if the new format cannot represent something; `invalid-option`, `invalid-selection` as `rechunk` and `sliceTo`.
 * @example
 * ```ts
 * import { plan } from "zarrflow";
 *
 * const planned = await plan("era5.zarr", "series.zarr", { chunks: { time: -1, latitude: 11 }, maxMemory: "64MB" });
 * console.log(await planned.explain());
 * if (planned.plan.totals.readAmplification < 2) await planned.run({ verify: true });
 * await planned.close();
 * ```
 */
export async function plan(
  source: OpenSource,
  target: FlowTarget,
  options: PlanningOptions = {},
): Promise<Planned> {
  return plannedOf(await planFlow(source, target, options));
}

function plannedOf(flow: PlannedFlow): Planned {
  let written: SealedPlanFile | undefined;
  let isOver = false;
  const close = () => {
    isOver = true;
    return flow.close();
  };
  return {
    plan: flow.plan,
    async run(options = {}) {
      if (isOver) throw isClosed();
      isOver = true;
      return runFlow(flow, options);
    },
    async explain() {
      const { planText } = await import("./text/plan.ts");
      return planText(flow.plan, { explain: true, taken: await flow.taken() });
    },
    estimateCopy: (options) => estimateCopy(flow, options),
    planWith: (profiles) => flow.planWith(profiles),
    toJSON() {
      written ??= planFileOf(flow);
      return written;
    },
    close,
    [asyncDispose]: close,
  };
}

function isClosed(): ZarrflowError {
  return new ZarrflowError("invalid-option", "the plan has run, or is closed", {
    hint: "Call `plan` again.",
  });
}
