import type { Documents } from "../meta/format.ts";
import { formatNamed } from "../meta/formats.ts";
import { memoryForTasks } from "../plan/memory.ts";
import type { Plan } from "../plan/plan.ts";
import type { Warning } from "../plan/warnings.ts";
import type { Store, StoredValue, StoreOptions, TargetBuild } from "../stores/store.ts";
import { BufferPool } from "../streams/buffer-pool.ts";
import { ByteBudget } from "../streams/byte-budget.ts";
import { valueText } from "../targets/contents.ts";
import type { JointRun } from "../targets/options.ts";
import { followSignals } from "../util/abort.ts";
import { type ErrorCode, isZarrflowError } from "../util/errors.ts";
import { attributesApart, loadDocuments, publishDocuments } from "./documents.ts";
import type { FlowEvent, RunReport } from "./events.ts";
import { AllKeys } from "./keys/copy-keys.ts";
import {
  type DoneBefore,
  doneBefore,
  JournalLedger,
  type Ledger,
  MemoryLedger,
  noLedger,
  nothingDone,
  type RunIdentity,
} from "./ledger.ts";
import { type PlanTasksOptions, runPlanTasks } from "./plan-tasks.ts";
import type { ResumablePlan } from "./run-identity.ts";
import { RunLog } from "./run-log.ts";
import type { Verification } from "./run-options.ts";
import type { TaskSet } from "./scheduler.ts";
import { redoLost, removeLeftScratch, withScratch } from "./scratch/open-scratch.ts";
import { type WithWorkersOptions, withWorkers } from "./threads/threads.ts";
import { assertSoleWriter, type Verified, verifyTarget } from "./verify.ts";

/** One process's part of a distributed run. A part without a shard of the work ends the run. */
export interface RunPart {
  readonly joint: JointRun;
  /** Returns the tasks that this process skips: those that are done, and those of other processes. */
  readonly notToRun: (done: TaskSet) => TaskSet;
  /** True if this process copies the key; absent if it copies none. */
  readonly hasKey?: (key: string) => boolean;
  /** Checks that enough is done for the run to end. */
  readonly assertDone?: (done: TaskSet) => void;
}

export interface RunPlanOptions extends WithWorkersOptions {
  readonly build: TargetBuild;
  /** Checks, once everything is read, that the source has not changed since planning. @throws `source-changed` */
  readonly assertUnchanged?: (options: StoreOptions) => Promise<void>;
  /** Documents of the source that were read before, and that `assertUnchanged` checks. */
  readonly cachedDocument?: (key: string) => Uint8Array | undefined;
  /** Identity of the run for its ledger. Without it no run can resume this one. */
  readonly identity?: RunIdentity;
  /**
   * Settings for runs that resume this one: the pace that its tasks were sized for, and options that affect the output.
   */
  readonly planned?: Pick<ResumablePlan, "pace" | "settings">;
  /** True if values of the target must be flushed to disk when they are written. */
  readonly fsync?: boolean;
  /** Present if several processes carry out the run. */
  readonly part?: RunPart | undefined;
  readonly stop?: AbortSignal | undefined;
  readonly writeEmptyChunks?: boolean;
  /** Data to read back before the target is published. */
  readonly verify?: Verification;
  readonly onEvent?: (event: FlowEvent) => void;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Runs a plan: tasks, keys copied byte for byte, documents, verification, then publication. Work that an earlier,
 * unfinished run completed is not repeated. On failure the target is discarded, or kept if that was requested and a
 * later run can use it; the first failure is thrown unchanged.
 */
export async function runPlan(plan: Plan, { signal, ...others }: RunPlanOptions): Promise<RunReport> {
  const { build } = others;
  const following = followSignals(signal, build.lockLost);
  const options = { ...others, signal: following.signal };
  const started = performance.now();
  const { ledger, before } = await openLedger(plan, options).catch(async (error) => {
    following.end();
    await (isKept(error, options, undefined) ? build.keep?.() : build.discard())?.catch(() => {});
    throw error;
  });
  const buffers = new BufferPool(memoryForTasks(plan));
  const log = new RunLog(plan, ledger, () => buffers.taken, options.onEvent);
  log.tasksResumed(before.tasks);
  try {
    const verified = await withWorkers(plan, options, (threads) =>
      fill(plan, { ...options, threads, before }, log, buffers),
    );
    await ledger.close();
    const onWarning = (warning: Warning) => log.emit({ type: "warning", ...warning });
    await build.publish({ signal: options.signal, onWarning });
    if (plan.stages.length > 1 && !options.part) await removeLeftScratch(plan.scratch);
    return log.ended({
      seconds: (performance.now() - started) / 1000,
      ...verified,
      ...uncheckedIn(options.source),
      ...(build.hasValue && { tasksResumed: before.tasks.size, keysResumed: log.resumed.keys }),
      peakBuffers: buffers.peak,
    });
  } catch (error) {
    await ledger.close().catch(() => {});
    if (!isKept(error, options, log)) await build.discard().catch(() => {});
    else {
      await build.keep?.().catch(() => {});
      log.emit({ type: "unfinished", tasks: before.tasks.size + log.counts.tasks, keys: log.keys });
    }
    throw error;
  } finally {
    following.end();
  }
}

/** The count of zip entries that were read only in parts, and so not checked, for reports. */
export function uncheckedIn({ checks }: Store): Pick<RunReport, "uncheckedEntries"> {
  return checks ? { uncheckedEntries: checks.unchecked } : {};
}

/** Opens the ledger of a run and reads the completed work of the runs that it resumes. */
async function openLedger(
  plan: Plan,
  { build, identity, planned, verify = false, fsync = false, part, signal }: RunPlanOptions,
): Promise<{ readonly ledger: Ledger; readonly before: DoneBefore }> {
  const { journal, hasValue } = build;
  const tasks = plan.stages.reduce((sum, inStage) => sum + inStage, 0);
  if (journal === undefined || identity === undefined) {
    return { ledger: verify === false ? noLedger : new MemoryLedger(), before: nothingDone(tasks) };
  }
  const before = hasValue
    ? await doneBefore(journal, { tasks, hasValue, concurrency: plan.execution.concurrency, signal })
    : nothingDone(tasks);
  part?.assertDone?.(before.tasks);
  const isDurable = fsync || journal.isDurable === true;
  const ledger = JournalLedger.begin(journal, {
    identity: hasValue ? undefined : identity,
    profiles: plan.profiles,
    ...planned,
    fsync: isDurable,
  });
  return { ledger, before };
}

/**
 * Failures that make the work done so far useless: it is wrong, comes from another source or belongs to another run.
 */
const LOSING: readonly ErrorCode[] = ["differs", "source-changed", "locked"];

/** True if a failed run keeps its work for a run that resumes it. */
function isKept(
  error: unknown,
  { build, stop }: Pick<RunPlanOptions, "build" | "stop">,
  log: RunLog | undefined,
): boolean {
  if (stop === undefined || build.keep === undefined) return false;
  const hasDoneAny = build.hasValue !== undefined || log?.hasDoneAny === true;
  return hasDoneAny && !(isZarrflowError(error) && LOSING.includes(error.code));
}

/**
 * Writes everything that goes into the target before it is published. Returns the counts of verified keys and arrays.
 */
async function fill(
  plan: Plan,
  options: RunPlanOptions & Pick<PlanTasksOptions, "threads"> & { readonly before: DoneBefore },
  log: RunLog,
  buffers: BufferPool,
): Promise<Verified> {
  const { source, build, before, verify = false, part, stop, signal } = options;
  const { concurrency } = plan.execution;
  const budget = new ByteBudget(memoryForTasks(plan));
  const documents = await loadDocuments(plan, { source, cachedDocument: options.cachedDocument, signal });
  const { hierarchy } = formatNamed(plan.publication.zarrFormat).layout(plan.target.path);
  const onWritten = (key: string, bytes: Uint8Array) => log.documentWritten(key, bytes);
  const publish = (some: Documents) =>
    publishDocuments(some, build.store, { concurrency, hierarchy, onWritten, signal });
  // A single-writer target cannot be read before it is finished, so its documents may come first.
  if (build.store.singleWriter) await publish(documents);
  const keeping = {
    keptBy: build.keep && (build.controlFolder ?? build.journal?.description),
    left: before.scratch,
    joint: part?.joint,
    isKept: (error: unknown) => isKept(error, options, log),
  };
  const isShare = part?.joint.share !== undefined;
  const others =
    plan.publication.copyKeys && (!isShare || part.hasKey)
      ? new AllKeys(source, plan, {
          documents,
          documentsLast: build.isInPlace === true,
          hasKey: part?.hasKey,
          signal,
        })
      : undefined;
  try {
    if (plan.stages.some((tasks) => tasks > 0)) others?.listAhead();
    await withScratch(plan, keeping, async (scratch) => {
      if (scratch?.spec) log.ledger.scratchOpened(scratch.spec);
      if (scratch && before.tasks.size > 0) await redoLost(plan, before.tasks, scratch.store, { signal });
      await runPlanTasks(plan, {
        ...options,
        checksums: options.identity !== undefined || verify !== false,
        done: part ? part.notToRun(before.tasks) : before.tasks,
        scratch,
        documents,
        budget,
        buffers,
        log,
      });
    });
    const isDone = (value: StoredValue) => before.values.has(valueText(value));
    await others?.copyTo(build.store, {
      skipChecksum: verify === false && !isShare,
      ...(build.hasValue && { isDone }),
      budget,
      buffers,
      log,
      stop,
      signal,
    });
  } finally {
    await others?.end();
  }
  const unchanged = options.assertUnchanged?.({ signal });
  if (isShare) {
    await unchanged;
    return {};
  }
  // Check the source first: if it has changed, nothing needs to be read back.
  if (verify !== false) await unchanged;
  const readBack = (target: Store, before?: Verified) =>
    verifyTarget(plan, { source, target, documents, verify, before, budget, buffers, log, signal });
  let verified: Verified = {};
  let left: Documents = documents;
  // Data at their final place are verified before the documents that make them visible are written.
  if (build.isInPlace) {
    if (verify !== false) verified = await readBack(build.store);
    const { keys, bytes } = before.written;
    const written = {
      keys: keys + log.keys + log.resumed.keys,
      bytes: bytes + log.counts.bytesWritten + log.resumed.bytes,
    };
    const isNew = plan.publication.existing === undefined;
    const sole = isNew ? assertSoleWriter(build.store, written, { documents, signal }) : undefined;
    const held = build.assertHeld?.({ signal });
    const { attributes, nodes } = attributesApart(documents);
    left = nodes;
    const checks = [unchanged, held, sole, publish(attributes)];
    await Promise.allSettled(checks);
    for (const check of checks) await check; // of several failures, throw the one that is hardest to recover from
  } else await unchanged;
  if (!build.store.singleWriter) await publish(left);
  if (verify === false) return verified;
  const written = await build.reopen();
  try {
    verified = await readBack(written, verified);
    log.emit({ type: "verify", keys: verified.keysVerified ?? 0, allKeys: log.keys });
    return verified;
  } finally {
    await written.close?.();
  }
}
