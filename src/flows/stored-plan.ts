import type { OpenSource } from "../hierarchy/open/open.ts";
import type { Plan, StoreProfiles } from "../plan/plan.ts";
import type { EventOptions, RunReport } from "../run/events.ts";
import type { RunOptions } from "../run/run-options.ts";
import type { StoreAccess } from "../stores/access.ts";
import { throwIfAborted } from "../util/abort.ts";
import { asyncDispose } from "../util/async-dispose.ts";
import { ZarrflowError } from "../util/errors.ts";
import { checkedOptions, invalidOption, isObject, type OptionNames } from "../util/options.ts";
import { type CopyEstimate, type EstimateOptions, estimateCopy } from "./estimate-copy.ts";
import { openPlan } from "./jobs/open-plan.ts";
import { parsePlan } from "./jobs/parse-plan.ts";
import { encodersHere, planFileOf, type SealedPlanFile } from "./jobs/plan-file.ts";
import { finishPlan, runShare } from "./jobs/run-share.ts";
import { type PlannedFlow, planFlow } from "./request/flow.ts";
import type { PlanningOptions } from "./request/flow-options.ts";
import { runFlow } from "./run-flow.ts";
import type { FlowTarget } from "./target/flow-target.ts";

/** How the source of a stored plan is read; not part of the plan. */
export interface ReadPlanOptions extends Pick<StoreAccess, "headers" | "query"> {
  /** Allows running modules named in the plan, which compute values. */
  readonly trustMap?: boolean | undefined;
  readonly signal?: AbortSignal | undefined;
}

const READ_PLAN_OPTIONS: OptionNames<ReadPlanOptions> = {
  headers: true,
  query: true,
  trustMap: true,
  signal: true,
};

/** Options of running a share of a plan. */
export interface ShareRunOptions extends EventOptions, Pick<RunOptions, "signal" | "stop" | "breakLock"> {}

const SHARE_RUN_OPTIONS: OptionNames<ShareRunOptions> = {
  onEvent: true,
  signal: true,
  stop: true,
  breakLock: true,
};

/** A share of the tasks of a plan. */
export interface PlanShare {
  /** Index of the share, from 0 to `count - 1`. */
  readonly index: number;
  readonly count: number;
  /** One stage, from 0; by default all, one after the other. */
  readonly stage?: number;
}

/** A stored plan. Each call opens its source and closes it at the end. */
export interface StoredPlan extends Planned {
  /**
   * Runs one of `count` shares, and records it beside the target; skips tasks that are done.
   *
   * @throws `tasks-undone` if other shares have not finished the previous stage.
   */
  runShare(share: PlanShare, options?: ShareRunOptions): Promise<RunReport>;
  /**
   * Publishes the target when all shares are done. @throws `tasks-undone` with the number and names of undone tasks.
   */
  finish(options?: ShareRunOptions & Pick<RunOptions, "verify">): Promise<RunReport>;
}

/**
 * Reads a plan that `zarrflow plan` or `JSON.stringify(planned)` wrote, to run it here, or in shares in several
 * processes.
 *
 * @param json the text, or its parsed value
 * @throws `plan-mismatch` if it is not a plan, was edited, or has another version.
 * @example
 * ```ts
 * import { plan, readPlan } from "zarrflow";
 *
 * const planned = await plan("era5.zarr", "shared.zarr", { codec: "zstd:5" });
 * await planned.close();
 * const stored = await readPlan(JSON.stringify(planned));
 * for (const index of [0, 1]) await stored.runShare({ index, count: 2 }); // in a process each
 * await stored.finish({ verify: true });
 * ```
 */
export async function readPlan(json: string | object, options: ReadPlanOptions = {}): Promise<StoredPlan> {
  const access = checkedOptions(options, READ_PLAN_OPTIONS);
  throwIfAborted(access.signal);
  if (typeof json !== "string" && !isObject(json))
    throw invalidOption("there is no plan", "a string or an object", json);
  const text = typeof json === "string" ? json : JSON.stringify(json);
  const file = parsePlan(text);
  const { plan } = file;
  const encoders = encodersHere();
  const opened = () => openPlan(file, { ...access, encoders });
  const here = <O extends ShareRunOptions>(running: O) => ({ ...access, ...running, encoders });
  const close = async () => {};
  return {
    plan,
    async run(running = {}) {
      return runFlow(await opened(), { fsync: file.options.fsync, ...running });
    },
    runShare: async (share, running = {}) =>
      runShare(file, { ...here(checkedOptions(running, SHARE_RUN_OPTIONS)), ...share }),
    finish: async (running = {}) =>
      finishPlan(file, here(checkedOptions(running, { ...SHARE_RUN_OPTIONS, verify: true }))),
    async explain() {
      const { planText } = await import("./text/plan.ts");
      return planText(plan, { explain: true });
    },
    async estimateCopy(how) {
      const flow = await opened();
      return estimateCopy(flow, how).finally(() => flow.close());
    },
    planWith: async () => plan,
    toJSON: () => JSON.parse(text) as object,
    close,
    [asyncDispose]: close,
  };
}

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
  return new ZarrflowError("invalid-option", "the plan has already run or been closed", {
    hint: "Call `plan` again.",
  });
}
