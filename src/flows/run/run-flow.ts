import type { ParentHierarchy } from "../../hierarchy/edit/parent.ts";
import {
  assertUnlockedAbove,
  hideFromAbove,
  mendAround,
  mendBelow,
  openParentHierarchy,
  publishedIn,
} from "../../hierarchy/parent-hierarchy.ts";
import type { TargetBuild } from "../../stores/store.ts";
import { throwIfAborted } from "../../util/abort.ts";
import { checkedOptions } from "../../util/check-options.ts";
import type { RunReport } from "../events.ts";
import type { Plan } from "../plan/plan.ts";
import { assertPlanned, type Planned, type RunOptions } from "../request/flow.ts";
import { withPace } from "../request/rate-limits.ts";
import { planWarnings, sourceWarnings } from "../request/warnings.ts";
import type { EditableStore } from "../target/existing-target.ts";
import { assertBuild, openBuild } from "../target/open-build.ts";
import { runUpdate } from "../update/run-update.ts";
import { runPlan } from "./run-plan.ts";
import { withRetryEvents } from "./with-retry-events.ts";

/**
 * Holds that a run of what was planned can begin, as far as that shows without writing.
 *
 * @throws `target-exists`, `target-not-empty`, `locked` and the like, as `runFlow` would.
 */
export async function assertFlow({ plan }: Planned, given: RunOptions): Promise<void> {
  const options = checkedOptions(given);
  await withRetryEvents(options, () => assertBuild(plan, options));
}

/** Runs what was planned, and closes it. */
export async function runFlow(planned: Planned, given: RunOptions = {}): Promise<RunReport> {
  assertPlanned(planned);
  try {
    const options = checkedOptions(given);
    return await withRetryEvents(options, () => runOpened(planned, options));
  } finally {
    await planned.close();
  }
}

async function runOpened(planned: Planned, options: RunOptions): Promise<RunReport> {
  const { source, plan, assertUnchanged } = planned;
  options.onEvent?.({ type: "plan", plan });
  for (const warning of [...sourceWarnings(source), ...planWarnings(plan)]) {
    options.onEvent?.({ type: "warning", ...warning });
  }
  throwIfAborted(options.signal);
  const { zarrFormat, existing, documents } = plan.publication;
  const home = await openParentHierarchy(plan.target.store, zarrFormat, options);
  if (existing === "update") {
    const wrap = (store: EditableStore) => withPace(store, options, plan.target.store);
    return await runUpdate(plan, { source, assertUnchanged, home, wrap, ...options });
  }
  if (home) await assertUnlockedAbove(home, { breakLock: options.breakLock, signal: options.signal });
  if (home) await mendAround(home, { signal: options.signal });
  const isThere = existing === "skip" && documents.length === 0;
  if (isThere) await mendBelow(plan.target, options);
  const build = isThere ? undefined : await openHidden(plan, home, options);
  const paced = build && { ...build, store: withPace(build.store, options, plan.target.store) };
  const published = paced && home ? publishedIn(home, zarrFormat, paced) : paced;
  if (published) return await runPlan(plan, { source, assertUnchanged, build: published, ...options });
  options.onEvent?.({ type: "done", report: NOTHING_DONE });
  return NOTHING_DONE;
}

/**
 * The build of a plan's target. Where it is replaced at its place, the groups around it do not tell of it any more from
 * before its first key is deleted.
 */
async function openHidden(
  plan: Plan,
  home: ParentHierarchy | undefined,
  options: RunOptions,
): Promise<TargetBuild | undefined> {
  if (home === undefined) return openBuild(plan, options);
  try {
    return await openBuild(plan, {
      ...options,
      beforeReplacing: () => hideFromAbove(home, { signal: options.signal }),
    });
  } catch (error) {
    await mendAround(home, {}).catch(() => {});
    throw error;
  }
}

const NOTHING_DONE: RunReport = {
  tasks: 0,
  chunksRead: 0,
  chunksWritten: 0,
  bytesRead: 0,
  bytesWritten: 0,
  seconds: 0,
  keysWritten: 0,
  peakBuffers: 0,
  skipped: true,
};
