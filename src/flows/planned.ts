import type { OpenSource } from "../hierarchy/open/open.ts";
import { asyncDispose } from "../util/async-dispose.ts";
import { ZarrflowError } from "../util/errors.ts";
import type { RunReport } from "./events.ts";
import { planFileOf, type SealedPlanFile } from "./jobs/plan-file.ts";
import { type CopyEstimate, type EstimateOptions, estimateCopy } from "./keys/estimate-copy.ts";
import type { Plan } from "./plan/plan.ts";
import type { StoreProfiles } from "./plan/store-profile.ts";
import { type PlannedFlow, planFlow } from "./request/flow.ts";
import type { PlanningOptions, RunOptions } from "./request/flow-options.ts";
import { runFlow } from "./run/run-flow.ts";
import type { FlowTarget } from "./target/flow-target.ts";

/** What will be done with a source, before it is done. What was planned is what runs. */
export interface Planned {
  /** The plan itself: arrays, tasks, memory, predicted costs. It is plain JSON, of a few kilobytes. */
  readonly plan: Plan;
  /**
   * Runs the plan, once, and closes it. The options of `plan` hold, `signal` and `onEvent` too; those of the run add to them.
   *
   * @throws `invalid-option` for an option of `plan`, and where the plan has run or is closed; otherwise as `copy`.
   */
  run(options?: RunOptions): Promise<RunReport>;
  /** The plan and its cost as text, with the strategies that were not chosen: what `--dry-run --explain` prints. */
  explain(): Promise<string>;
  /**
   * Counts what the run will copy as it is, by listing the source; an update is compared with its target, which may take
   * reading both. Nothing is written.
   */
  estimateCopy(options?: EstimateOptions): Promise<CopyEstimate>;
  /** The plan where stores are assumed to be like this: for `simulatePlan`, say. */
  planWith(profiles: StoreProfiles): Promise<Plan>;
  /**
   * The plan as a file of `zarrflow plan` holds it, without credentials: `JSON.stringify(planned)` is such a file. Any
   * process can run it, or a share of it: `zarrflow run`, `readPlan`, `zarrflow/bullmq`.
   *
   * @throws `unsupported-operation` for a source, a target or scratch objects that other processes cannot reach.
   */
  toJSON(): object;
  /** Closes the source. `run` does so itself. */
  close(): Promise<void>;
  /** The same, for `await using`. */
  [asyncDispose](): Promise<void>;
}

/**
 * Plans what `copy`, `rechunk`, `convert` and `sliceTo` do, without writing anything. What is done follows from the options:
 * `slice` or `sel` take a part, `chunks` and `shards` change the chunk shape, `to` changes the format; without them, every
 * key is copied as it is.
 *
 * @throws `not-found`, `target-inside-source`, `budget-too-small` with the smallest budget that works; `loss-refused` when
 *   the new format cannot hold something; `invalid-option`, `invalid-selection` as `rechunk` and `sliceTo`.
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
