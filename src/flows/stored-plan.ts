import type { EventOptions, RunReport } from "../run/events.ts";
import type { RunOptions } from "../run/run-options.ts";
import type { StoreAccess } from "../stores/access.ts";
import { throwIfAborted } from "../util/abort.ts";
import { asyncDispose } from "../util/awaitable.ts";
import { checkedOptions, invalid, isObject, type OptionNames } from "../util/options.ts";
import { estimateCopy } from "./estimate-copy.ts";
import { openPlan } from "./jobs/open-plan.ts";
import { parsePlan } from "./jobs/parse-plan.ts";
import { encodersHere } from "./jobs/plan-file.ts";
import { finishPlan, runShare } from "./jobs/run-share.ts";
import type { Planned } from "./planned.ts";
import { runFlow } from "./run-flow.ts";

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
    throw invalid("there is no plan", "a string or an object", json);
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
