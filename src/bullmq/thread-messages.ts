import type { RunCounts, RunReport } from "../flows/events.ts";
import type { Encoders } from "../flows/jobs/plan-file.ts";
import type { ShareName } from "../stores/target/options.ts";
import type { RunData } from "./job-data.ts";

/** The work of a job: a share, or the end of the run. */
export type Work = { readonly share: ShareName } | { readonly verify: RunData["verify"] };

export type ToThread =
  | {
      readonly type: "work";
      /** The text of the plan; absent if the thread's last plan is the same. */
      readonly plan: string | undefined;
      readonly encoders: Encoders;
      readonly trustMap: boolean;
      readonly work: Work;
    }
  /** Stops after the tasks in flight. */
  | { readonly type: "stop" }
  | { readonly type: "abort" };

export type FromThread =
  | { readonly type: "progress"; readonly counts: RunCounts }
  | { readonly type: "done"; readonly report: RunReport }
  | { readonly type: "failed"; readonly error: unknown };
