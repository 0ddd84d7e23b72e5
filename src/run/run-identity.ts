import { type JobTemplate, templateOf } from "../plan/array-jobs.ts";
import { isSameProfiles, type Plan, type PlanPace, type StoreProfiles } from "../plan/plan.ts";
import type { StoreSpec } from "../stores/store.ts";
import type { TargetBuildOptions, UnfinishedBuild } from "../targets/options.ts";
import { distinct } from "../util/distinct.ts";
import { type ErrorDetails, ZarrflowError } from "../util/errors.ts";
import { textHash } from "../util/hash.ts";
import { currentFolder } from "../util/platform.node.ts";
import { formatBytes } from "../util/units.ts";
import type { EventOptions } from "./events.ts";
import { type RunIdentity, type Settings, unfinishedRun } from "./ledger.ts";
import type { RunOptions } from "./run-options.ts";

/**
 * The identity of a run. It is independent of memory, threads and requests, which may change when the run is resumed.
 */
export function runIdentity(
  { operation, source, target, jobs, stages, publication }: Plan,
  {
    writeEmptyChunks = false,
    sourceDocuments,
    sourceKeys,
  }: {
    readonly writeEmptyChunks?: boolean | undefined;
    readonly sourceDocuments: string;
    readonly sourceKeys?: string | undefined;
  },
): RunIdentity {
  const kinds = distinct(jobs.map((job) => tasksOf(templateOf(job))));
  const names = jobs.map(({ path, targetPath }) => [path, targetPath]);
  return {
    source: hashed([{ ...source, store: withoutAccess(source.store) }, folderOf(source.store)]),
    target: hashed(target.path),
    arrays: hashed([stages, names, kinds]),
    documents: hashed([operation, publication]),
    options: hashed({ writeEmptyChunks }),
    sourceDocuments,
    ...(sourceKeys !== undefined && { sourceKeys }),
  };
}

/** The properties of an array that determine its tasks and the bytes that they write. */
function tasksOf({ readAhead: _, shardBuffer: _buffer, leaseBytes: _lease, ...job }: JobTemplate): unknown {
  const {
    expectedBytes: _expected,
    cost: _cost,
    notTaken: _others,
    missingChunks: _missing,
    passes,
    ...made
  } = job;
  return { ...made, passes: passes?.map(({ box, tasks }) => ({ box, tasks })) };
}

/** The location of a store, without settings for access to its server. */
function withoutAccess(store: StoreSpec): StoreSpec {
  if (store.kind === "zip-value") return { ...store, store: withoutAccess(store.store) };
  if (store.kind !== "http" && store.kind !== "s3") return store;
  const { retry: _retry, ...place } = store;
  if (place.kind === "s3") return place;
  const { hasHeaders: _headers, hasQuery: _query, ...server } = place;
  return server;
}

/** The current folder, which matters if the path of the source is relative. */
function folderOf(store: StoreSpec): string | undefined {
  if (store.kind === "zip-value") return folderOf(store.store);
  const isRelative = "path" in store && !/^(?:[/\\]|[A-Za-z]:)/.test(store.path);
  return isRelative ? currentFolder() : undefined;
}

function hashed(value: unknown): string {
  return textHash(JSON.stringify(value));
}

const DIFFERENCES: readonly (readonly [keyof RunIdentity, string])[] = [
  ["source", "another source"],
  ["target", "another path in the target"],
  ["arrays", "other chunks, codecs or windows"],
  ["documents", "another operation, other metadata or other keys"],
  ["options", "another value of --write-empty-chunks"],
];

/**
 * Checks that an unfinished run is the one to resume.
 *
 * @throws `plan-mismatch`, or `source-changed` if the metadata of the source have changed.
 */
export function assertSameRun(
  found: RunIdentity,
  expected: RunIdentity,
  {
    place,
    settings: { before = {}, now } = { now: {} },
  }: {
    readonly place: string;
    /** Settings of both runs. */
    readonly settings?: { readonly before?: Settings | undefined; readonly now: Settings };
  },
): void {
  const difference = DIFFERENCES.find(([part]) => found[part] !== expected[part]);
  if (difference) {
    const setting = differingSetting(before, now);
    const reason = "the unfinished run at the target has a different plan";
    throw new ZarrflowError("plan-mismatch", setting ? `${reason}: ${setting.name} differs` : reason, {
      ...(setting
        ? { setting: setting.name, expected: setting.before, found: setting.now }
        : { found: difference[1] }),
      store: place,
      hint: "Repeat the command of the unfinished run with --resume, or remove its files with `zarrflow clean` and start over.",
    });
  }
  if (found.sourceDocuments !== expected.sourceDocuments) {
    throw changedSince("metadata of the source has changed since the unfinished run", { store: place });
  }
  if (expected.sourceKeys === undefined || found.sourceKeys === expected.sourceKeys) return;
  if (found.sourceKeys === undefined) {
    throw new ZarrflowError("plan-mismatch", "the unfinished run did not record the keys of its source", {
      store: place,
      hint: "Only a run started with --verify-source can be resumed with it. Resume without it and use --verify=values, or start over.",
    });
  }
  throw changedSince("keys of the source have changed since the unfinished run", {
    store: place,
    expected: found.sourceKeys,
    found: expected.sourceKeys,
  });
}

function changedSince(reason: string, details: ErrorDetails): ZarrflowError {
  const hint = "Start over without --resume, because that run copied the old state of the source.";
  return new ZarrflowError("source-changed", reason, { ...details, hint });
}

/** Options that let a run resume an unfinished build at its target. */
export interface Resuming extends Pick<TargetBuildOptions, "resume" | "onUnfinished"> {
  /**
   * Returns the plan to run, which is known once the target is taken: the unfinished run may have measured other
   * network performance.
   */
  readonly plan: () => Plan;
}

/** A plan that can continue an unfinished run, and be made again as that run needs it. */
export interface ResumablePlan {
  readonly plan: Plan;
  /** Makes the same plan for other store profiles, or with another pace. */
  readonly planWith: (profiles: StoreProfiles, pace?: PlanPace) => Promise<Plan>;
  /** The pace that `plan` was made for. */
  readonly pace: PlanPace;
  /** The options that decide what is written, as texts by flag. They name the difference between two runs. */
  readonly settings: Settings;
}

/** @param identityOf returns the identity of a run of a plan */
export function resuming(
  planned: ResumablePlan,
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
      expected: `${formatBytes(unfinished.budget.maxMemory)}, or at least ${leaseBytes} bytes`,
      found: formatBytes(maxMemory),
      hint: "Resume with a memory budget (--max-mem) that fits its largest task.",
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
    message: `an unfinished run left files in ${place}; this run starts from the beginning, and removes them if it succeeds`,
    hint: "To continue the unfinished run, stop this one and use --resume. To remove its files now, use `zarrflow clean`.",
  };
}

/** Returns the first setting that differs between two runs, with both values as text. */
export function differingSetting(
  before: Settings,
  now: Settings,
): { readonly name: string; readonly before: string; readonly now: string } | undefined {
  const name = Object.keys({ ...before, ...now }).find((flag) => before[flag] !== now[flag]);
  if (name === undefined) return undefined;
  return { name, before: before[name] || "none", now: now[name] || "none" };
}
