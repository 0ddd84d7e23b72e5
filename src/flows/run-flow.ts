import type { ParentHierarchy } from "../hierarchy/edit/parent.ts";
import {
  assertUnlockedAbove,
  publishedIn,
  repairConsolidatedAbove,
  repairConsolidatedBelow,
  unlistFromParents,
} from "../hierarchy/parent-hierarchy.ts";
import { leaseMemory } from "../hierarchy/read-options.ts";
import type { Plan } from "../plan/plan.ts";
import { planWarnings, sourceWarnings } from "../plan/warnings.ts";
import { type EventOptions, type RunReport, withRetryEvents } from "../run/events.ts";
import type { RunIdentity } from "../run/ledger.ts";
import { resuming, runIdentity } from "../run/run-identity.ts";
import { RUN_OPTIONS, type RunOptions } from "../run/run-options.ts";
import { type RunPart, runPlan } from "../run/run-plan.ts";
import type { SourceKeys } from "../run/source-keys.ts";
import type { Store, StoreOptions, TargetBuild } from "../stores/store.ts";
import { followSignals, throwIfAborted } from "../util/abort.ts";
import { ZarrflowError } from "../util/errors.ts";
import { checkedOptions } from "../util/options.ts";
import type { PlannedFlow } from "./request/flow.ts";
import { type FlowOptions, PLANNING_OPTIONS } from "./request/flow-options.ts";
import { startedEffects } from "./request/option-effects.ts";
import { limitAdaptive, withPace } from "./request/store-settings.ts";
import type { EditableStore } from "./target/flow-target.ts";
import { assertBuild, type OpenBuildOptions, openBuild } from "./target/open-build.ts";

/**
 * Checks that the plan can start, without writing anything.
 *
 * @throws `target-exists`, `target-not-empty`, `locked` and other errors, as the run would.
 */
export async function assertFlow(planned: PlannedFlow, given: RunOptions): Promise<void> {
  const { options, end } = runningOptions(planned, given);
  try {
    await withRetryEvents(options, () => assertBuild(planned.plan, options));
  } finally {
    end();
  }
}

/**
 * Runs a planned flow, possibly as one of several processes, and closes it. The options of the plan remain in force,
 * including events and the signal; the options of the run are added to them.
 *
 * @throws `invalid-option` for an option of planning; otherwise as `copy`.
 */
export async function runFlow(
  planned: PlannedFlow,
  given: RunOptions = {},
  part?: IdentifiedPart,
): Promise<RunReport> {
  const end = limitAdaptive(planned.plan.execution);
  try {
    const running = runningOptions(planned, given);
    let release = () => {};
    try {
      release = await leaseMemory(running.options, memoryOfRun(planned.plan, running.options));
      return await withRetryEvents(running.options, () => runOpened(planned, running.options, part));
    } finally {
      release();
      running.end();
    }
  } finally {
    end();
    await planned.close();
  }
}

/** Upper bound of buffer memory in bytes: the predicted peak if the plan accounts for all work of the run. */
function memoryOfRun({ budget, totals, publication }: Plan, { resume, verify }: RunOptions): number {
  const isPredicted = !resume && verify !== "values" && publication.existing !== "update";
  return isPredicted ? totals.predictedPeak : budget.maxMemory;
}

/** One process's part of a distributed run, with the identity of that run. */
export interface IdentifiedPart extends RunPart {
  readonly identity: RunIdentity;
}

async function runOpened(
  planned: PlannedFlow,
  given: FlowOptions,
  part: IdentifiedPart | undefined,
): Promise<RunReport> {
  const { source, plan } = planned;
  const maxMetadata = given.maxMetadata ?? plan.source.reading?.maxMetadata;
  const options = { ...given, maxMetadata };
  options.onEvent?.({ type: "plan", plan });
  for (const warning of [
    ...startedEffects({ options, plan }),
    ...sourceWarnings(source),
    ...planWarnings(plan),
  ]) {
    options.onEvent?.({ type: "warning", ...warning });
  }
  throwIfAborted(options.signal);
  const keys = given.verifySource ? await allKeysOf(source, plan, options) : undefined;
  const assertUnchanged = async (how: StoreOptions) => {
    await planned.assertUnchanged(how);
    await keys?.assertUnchanged(how);
  };
  const { zarrFormat, existing, documents } = plan.publication;
  const place = await planned.probe.around();
  // Only the process that publishes changes the groups around the target.
  const hierarchyAround = part?.joint.share ? undefined : await planned.probe.hierarchy(zarrFormat, options);
  const { breakLock, signal } = options;
  // A run above that starts later sees the lock of this one; otherwise this check sees its lock.
  const assertNoneAbove = async () => {
    if (place) await assertUnlockedAbove(place, { breakLock, signal });
  };
  await assertNoneAbove();
  if (existing === "update") {
    const wrap = (store: EditableStore) => withPace(store, options, plan.target.store);
    const { runUpdate } = await import("./update/run-update.ts");
    return await runUpdate(plan, {
      source,
      assertUnchanged,
      hierarchyAround,
      onTaken: assertNoneAbove,
      wrap,
      ...options,
    });
  }
  if (hierarchyAround) await repairConsolidatedAbove(hierarchyAround, { maxMetadata, signal });
  const isThere = existing === "skip" && documents.length === 0;
  if (isThere) await repairConsolidatedBelow(plan.target, options);
  const sourceDocuments = planned.sourceDocuments();
  const identityOf = (run: Plan) =>
    part?.identity ?? runIdentity(run, { ...options, sourceDocuments, sourceKeys: keys?.state });
  const settings = options.writeEmptyChunks
    ? { ...planned.settings, "--write-empty-chunks": "given" }
    : planned.settings;
  const asked = { ...planned, settings };
  const { plan: planToRun, resume, onUnfinished } = resuming(asked, identityOf, options);
  const isEmpty = () => planned.probe.isEmpty();
  const { joint } = part ?? {};
  const taking = {
    ...options,
    isEmpty,
    resume,
    onUnfinished,
    onTaken: assertNoneAbove,
    joint,
    comment: plan.publication.from === zarrFormat ? source.comment : undefined,
  };
  const build = isThere ? undefined : await openHidden(plan, hierarchyAround, taking);
  const paced = build && { ...build, store: withPace(build.store, options, plan.target.store) };
  const published =
    paced && hierarchyAround ? publishedIn(hierarchyAround, zarrFormat, paced, { maxMetadata }) : paced;
  if (published) {
    const cachedDocument = planned.sourceDocument;
    const resumed = planToRun();
    if (resumed !== plan) options.onEvent?.({ type: "plan", plan: resumed });
    const identity = identityOf(resumed);
    return await runPlan(resumed, {
      source,
      assertUnchanged,
      cachedDocument,
      build: published,
      identity,
      planned: { pace: planned.pace, settings },
      part,
      ...options,
    });
  }
  options.onEvent?.({ type: "done", report: NOTHING_DONE });
  return NOTHING_DONE;
}

/**
 * Opens the build of a plan's target. If the target is replaced in place, the groups around it stop listing it before
 * its first key is deleted.
 */
async function openHidden(
  plan: Plan,
  hierarchyAround: ParentHierarchy | undefined,
  options: Omit<FlowOptions, "resume"> & Omit<OpenBuildOptions, "beforeReplacing">,
): Promise<TargetBuild | undefined> {
  if (hierarchyAround === undefined) return openBuild(plan, options);
  const { maxMetadata, signal } = options;
  try {
    return await openBuild(plan, {
      ...options,
      beforeReplacing: () => unlistFromParents(hierarchyAround, { maxMetadata, signal }),
    });
  } catch (error) {
    await repairConsolidatedAbove(hierarchyAround, { maxMetadata }).catch(() => {});
    throw error;
  }
}

/** Loaded on demand: few runs use it. */
async function allKeysOf(source: Store, plan: Plan, options: StoreOptions): Promise<SourceKeys> {
  const { sourceKeys } = await import("../run/source-keys.ts");
  return sourceKeys(source, plan, options);
}

/** Report of a run that had nothing to do. */
export const NOTHING_DONE: RunReport = {
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

/** The options of a run while it is in progress. */
export interface RunningOptions {
  readonly options: FlowOptions;
  /** Stops following the signals. */
  end(): void;
}

/**
 * Combines the options of the plan with those of the run. Either signal aborts the run, and both callbacks receive its
 * events.
 *
 * @throws `invalid-option` for an option that does not apply to runs.
 */
export function runningOptions(
  { options: planned }: Pick<PlannedFlow, "options">,
  given: RunOptions,
): RunningOptions {
  assertNonePlanned(given);
  const options = checkedOptions(given, RUN_OPTIONS);
  const onEvent = bothEvents(planned.onEvent, options.onEvent);
  const signals = new Set([planned.signal, options.signal].filter((signal) => signal !== undefined));
  const [only] = signals;
  const following = signals.size > 1 ? followSignals(...signals) : undefined;
  return {
    options: { ...planned, ...options, onEvent, signal: following?.signal ?? only },
    end: () => following?.end(),
  };
}

/** @throws `invalid-option` for an option of planning. */
function assertNonePlanned(given: RunOptions): void {
  for (const [name, value] of Object.entries(given)) {
    if (value === undefined || Object.hasOwn(RUN_OPTIONS, name) || !Object.hasOwn(PLANNING_OPTIONS, name))
      continue;
    throw new ZarrflowError("invalid-option", `\`${name}\` is an option of plan, not of run`, {
      hint: `A plan runs as it was planned: pass \`${name}\` to \`plan\`.`,
    });
  }
}

function bothEvents(
  planned: EventOptions["onEvent"],
  given: EventOptions["onEvent"],
): EventOptions["onEvent"] {
  if (planned === undefined || given === undefined || planned === given) return given ?? planned;
  return (event) => {
    planned(event);
    given(event);
  };
}
