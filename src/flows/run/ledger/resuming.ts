import type { TargetBuildOptions, UnfinishedBuild } from "../../../stores/target/options.ts";
import type { EventOptions } from "../../events.ts";
import type { RunOptions } from "../../request/flow.ts";
import type { RunIdentity } from "./ledger-lines.ts";
import { assertSameRun } from "./run-identity.ts";
import { unfinishedRun } from "./unfinished-run.ts";

/** How a run of this identity takes the place of its target where there is an unfinished one. */
export function resuming(
  identity: RunIdentity,
  { resume = false, onEvent }: Pick<RunOptions, "resume"> & EventOptions,
): Pick<TargetBuildOptions, "resume" | "onUnfinished"> {
  const howToResume = async ({ description, journal }: UnfinishedBuild) => {
    const found = await unfinishedRun(journal, description);
    if (found === undefined) return undefined;
    assertSameRun(found.identity, identity, description);
    return { readBack: found.mayBeLost };
  };
  return {
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
