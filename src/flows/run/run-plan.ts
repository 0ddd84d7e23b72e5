import { formatNamed } from "../../meta/formats.ts";
import type { Store, StoreOptions, TargetBuild } from "../../stores/store.ts";
import { BufferPool } from "../../streams/buffer-pool.ts";
import { ByteBudget } from "../../streams/byte-budget.ts";
import { followSignals } from "../../util/abort.ts";
import type { FlowEvent, RunReport } from "../events.ts";
import { copyAllKeys } from "../keys/copy-all-keys.ts";
import { memoryForTasks } from "../plan/expected-size.ts";
import type { Plan } from "../plan/plan.ts";
import type { Verification } from "../request/flow.ts";
import type { Warning } from "../request/warnings.ts";
import { assertSoleWriter } from "../target/assert-sole-writer.ts";
import { loadDocuments, publishDocuments } from "./documents.ts";
import { type RunTasksOptions, runTasks } from "./executors/run-tasks.ts";
import { type WithWorkersOptions, withWorkers } from "./executors/with-workers.ts";
import { type Ledger, MemoryLedger, noLedger } from "./ledger.ts";
import { RunLog } from "./run-log.ts";
import { withScratch } from "./scratch/with-scratch.ts";
import { type Verified, verifyTarget } from "./verify-target.ts";

export interface RunPlanOptions extends WithWorkersOptions {
  readonly build: TargetBuild;
  /** Checks, when all is read, that the source is still the one that was planned for. @throws `source-changed` */
  readonly assertUnchanged?: (options: StoreOptions) => Promise<void>;
  readonly writeEmpty?: boolean;
  /** What is read back before the target is published. */
  readonly verify?: Verification;
  readonly onEvent?: (event: FlowEvent) => void;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Runs a plan: tasks, sweep, documents, verification, and at last the publication. On any failure the target is
 * discarded, and the first failure is thrown as it was.
 */
export async function runPlan(plan: Plan, { signal, ...others }: RunPlanOptions): Promise<RunReport> {
  const { build } = others;
  const following = followSignals(signal, build.lost);
  const options = { ...others, signal: following.signal };
  const started = performance.now();
  const ledger = await openLedger(build, options);
  try {
    const buffers = new BufferPool(memoryForTasks(plan));
    const log = new RunLog(ledger, () => buffers.taken, options.onEvent);
    const verified = await withWorkers(plan, options, (threads) =>
      fill(plan, { ...options, threads }, log, buffers),
    );
    await ledger.close();
    const onWarning = (warning: Warning) => log.emit({ type: "warning", ...warning });
    await build.publish({ signal: options.signal, onWarning });
    const report: RunReport = {
      ...log.counts,
      seconds: (performance.now() - started) / 1000,
      keysWritten: log.keys,
      ...verified,
      peakBuffers: Math.max(buffers.peak, log.peak),
      ...(log.threads.length > 0 && { threads: log.threads }),
    };
    log.emit({ type: "progress", progress: log.progress });
    log.emit({ type: "done", report });
    return report;
  } catch (error) {
    await ledger.close().catch(() => {});
    await build.discard().catch(() => {});
    throw error;
  } finally {
    following.end();
  }
}

async function openLedger(
  { controlFolder }: TargetBuild,
  { verify = false }: RunPlanOptions,
): Promise<Ledger> {
  if (controlFolder === undefined) return verify === false ? noLedger : new MemoryLedger();
  const { FileLedger } = await import("./ledger-file.node.ts");
  return new FileLedger(`${controlFolder}/ledger.jsonl`);
}

/** Everything that goes into the target before it is published; returns what was verified. */
async function fill(
  plan: Plan,
  options: RunPlanOptions & Pick<RunTasksOptions, "threads">,
  log: RunLog,
  buffers: BufferPool,
): Promise<Verified> {
  const { source, build, verify = false, signal } = options;
  const { io } = plan.execution;
  const budget = new ByteBudget(memoryForTasks(plan));
  const documents = await loadDocuments(plan, source, signal);
  const { hierarchy } = formatNamed(plan.publication.zarrFormat).layout(plan.target.path);
  const onWritten = (key: string, bytes: Uint8Array) => log.documentWritten(key, bytes);
  const publish = () => publishDocuments(documents, build.store, { io, hierarchy, onWritten, signal });
  // A single writer's target cannot be read before it is finished: its documents may come first.
  if (build.store.singleWriter) await publish();
  const maxMemory = budget.limit;
  await withScratch(plan, (scratch) =>
    runTasks(plan, { ...options, verify: verify !== false, scratch, documents, buffers, maxMemory, log }),
  );
  if (plan.publication.sweep) {
    const sweeping = { documents, skipChecksum: verify === false, budget, buffers, log, signal };
    await copyAllKeys(source, build.store, plan, { ...sweeping, documentsLast: build.isInPlace === true });
  }
  await options.assertUnchanged?.({ signal });
  const readBack = (target: Store, before?: Verified) =>
    verifyTarget(plan, { source, target, documents, verify, before, budget, buffers, log, signal });
  let verified: Verified = {};
  // What lies at its place is checked before the documents that show it are written.
  if (build.isInPlace) {
    verified = await readBack(build.store);
    if (plan.publication.existing === undefined) await assertSoleWriter(build.store, log, { signal });
  }
  if (!build.store.singleWriter) await publish();
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
