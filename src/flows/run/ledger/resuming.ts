import type { TargetBuildOptions, UnfinishedBuild } from "../../../stores/target/options.ts";
import { formatBytes } from "../../../util/byte-size.ts";
import { ZarrflowError } from "../../../util/errors.ts";
import type { EventOptions } from "../../events.ts";
import type { Plan } from "../../plan/plan.ts";
import { isSameProfiles } from "../../plan/store-profile.ts";
import type { PlannedFlow } from "../../request/flow.ts";
import type { RunOptions } from "../../request/flow-options.ts";
import type { RunIdentity } from "./ledger-lines.ts";
import { assertSameRun } from "./run-identity.ts";
import { unfinishedRun } from "./unfinished-run.ts";

/** Options that let a run resume an unfinished build at its target. */
export interface Resuming extends Pick<TargetBuildOptions, "resume" | "onUnfinished"> {
  /**
   * Returns the plan to run, which is known once the target is taken: the unfinished run may have measured other
   * network performance.
   */
  readonly plan: () => Plan;
}

/** @param identityOf returns the identity of a run of a plan */
export function resuming(
  planned: Pick<PlannedFlow, "plan" | "planWith" | "pace" | "settings">,
  identityOf: (plan: Plan) => RunIdentity,
  { resume = false, onEvent }: Pick<RunOptions, "resume"> & EventOptions,
): Resuming {
  let { plan } = planned;
  const howToResume = async ({ description, journal }: UnfinishedBuild) => {
    const found = await unfinishedRun(journal, description);
    if (found === undefined) return undefined;
    const { profiles = {}, pace } = found;
    if (!isSameProfiles(profiles, plan.profiles)) plan = await planned.planWith(profiles);
    if (pace && found.identity.arrays !== identityOf(plan).arrays) {
      plan = atPace(await planned.planWith(profiles, pace), plan, description);
    }
    const settings = { before: found.settings, now: planned.settings };
    assertSameRun(found.identity, identityOf(plan), { place: description, settings });
    return { readBack: found.mayBeLost };
  };
  return {
    plan: () => plan,
    resume: resume ? howToResume : undefined,
    onUnfinished: ({ description }) => onEvent?.({ type: "warning", ...notResumed(description) }),
  };
}

/**
 * The tasks of an unfinished run, with no more threads, requests and memory than this run may use.
 *
 * @throws `plan-mismatch` if its largest task does not fit the memory budget
 */
function atPace(unfinished: Plan, now: Plan, place: string): Plan {
  const { leaseBytes } = unfinished.budget;
  const { maxMemory } = now.budget;
  if (leaseBytes > maxMemory) {
    throw new ZarrflowError("plan-mismatch", "the unfinished run at the target was planned for more memory", {
      store: place,
      setting: "--max-mem",
      expected: `${formatBytes(unfinished.budget.maxMemory)}, and at least ${leaseBytes} bytes`,
      found: formatBytes(maxMemory),
      hint: "Resume with a memory budget (--max-mem) in which its largest task fits.",
    });
  }
  const { execution } = unfinished;
  const { concurrency, threads, singleThreadReason } = now.execution;
  return {
    ...unfinished,
    budget: { ...unfinished.budget, maxMemory },
    execution: {
      ...execution,
      concurrency: Math.min(execution.concurrency, concurrency),
      threads: Math.min(execution.threads, threads),
      ...(singleThreadReason !== undefined && { singleThreadReason }),
    },
  };
}

function notResumed(place: string): { readonly message: string; readonly hint: string } {
  return {
    message: `an unfinished run left its work in ${place}; this run starts from the beginning, and removes that work when it succeeds`,
    hint: "To continue the unfinished run, stop this one and use --resume. To remove its work now, use `zarrflow clean`.",
  };
}
