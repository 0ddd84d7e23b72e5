import type { TargetBuildOptions, UnfinishedBuild } from "../../../stores/target/options.ts";
import type { EventOptions } from "../../events.ts";
import type { Plan } from "../../plan/plan.ts";
import { isSameProfiles } from "../../plan/store-profile.ts";
import type { Planned, RunOptions } from "../../request/flow.ts";
import type { RunIdentity } from "./ledger-lines.ts";
import { assertSameRun } from "./run-identity.ts";
import { unfinishedRun } from "./unfinished-run.ts";

/** How a run takes the place of its target where there is an unfinished one. */
export interface Resuming extends Pick<TargetBuildOptions, "resume" | "onUnfinished"> {
  /** What is run, known when the target is taken: the unfinished run may have found stores nearer or farther. */
  readonly plan: () => Plan;
}

/** @param identityOf what a run of a plan is */
export function resuming(
  planned: Pick<Planned, "plan" | "planWith">,
  identityOf: (plan: Plan) => RunIdentity,
  { resume = false, onEvent }: Pick<RunOptions, "resume"> & EventOptions,
): Resuming {
  let { plan } = planned;
  const howToResume = async ({ description, journal }: UnfinishedBuild) => {
    const found = await unfinishedRun(journal, description);
    if (found === undefined) return undefined;
    const { profiles = {} } = found;
    if (!isSameProfiles(profiles, plan.profiles)) plan = await planned.planWith(profiles);
    assertSameRun(found.identity, identityOf(plan), description);
    return { readBack: found.mayBeLost };
  };
  return {
    plan: () => plan,
    resume: resume ? howToResume : undefined,
    onUnfinished: ({ description }) => onEvent?.({ type: "warning", ...notResumed(description) }),
  };
}

function notResumed(place: string): { readonly message: string; readonly hint: string } {
  return {
    message: `an unfinished run left its work in ${place}; this run starts from the beginning, and removes that work when it succeeds`,
    hint: "To continue the unfinished run, stop this one and use --resume. To remove its work now, use `zarrflow clean`.",
  };
}
