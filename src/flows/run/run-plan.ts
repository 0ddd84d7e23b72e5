import { formatNamed } from "../../meta/formats.ts";
import type { StoreOptions, TargetBuild } from "../../stores/store.ts";
import { BufferPool } from "../../streams/buffer-pool.ts";
import { ByteBudget } from "../../streams/byte-budget.ts";
import { eitherSignal } from "../../util/abort.ts";
import type { FlowEvent, RunReport } from "../events.ts";
import { copyAllKeys } from "../keys/copy-all-keys.ts";
import { memoryForTasks } from "../plan/expected-size.ts";
import type { Plan } from "../plan/plan.ts";
import type { Warning } from "../request/warnings.ts";
import { assertSoleWriter } from "../target/assert-sole-writer.ts";
import { loadDocuments, publishDocuments } from "./documents.ts";
import { type RunTasksOptions, runTasks } from "./executors/run-tasks.ts";
import { type WithWorkersOptions, withWorkers } from "./executors/with-workers.ts";
import { type Ledger, MemoryLedger, noLedger } from "./ledger.ts";
import { RunLog } from "./run-log.ts";
import { withScratch } from "./scratch/with-scratch.ts";
import { verifyLedger } from "./verify.ts";

export interface RunPlanOptions extends WithWorkersOptions {
  readonly build: TargetBuild;
  /** Checks, when all is read, that the source is still the one that was planned for. @throws `source-changed` */
  readonly assertUnchanged?: (options: StoreOptions) => Promise<void>;
  readonly writeEmpty?: boolean;
  /** Reads every key back before the target is published. */
  readonly verify?: boolean;
  readonly onEvent?: (event: FlowEvent) => void;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Runs a plan: tasks, sweep, documents, verification, and at last the publication. On any failure the target is
 * discarded, and the first failure is thrown as it was.
 */
export async function runPlan(plan: Plan, { signal, ...others }: RunPlanOptions): Promise<RunReport> {
  const { build } = others;
  const options = { ...others, signal: eitherSignal(signal, build.lost) };
  const started = performance.now();
  const ledger = await openLedger(build, options);
  try {
    const buffers = new BufferPool(memoryForTasks(plan));
    const log = new RunLog(ledger, () => buffers.taken, options.onEvent);
    const keysVerified = await withWorkers(plan, options, (threads) =>
      fill(plan, { ...options, threads }, log, buffers),
    );
    await ledger.close();
    const onWarning = (warning: Warning) => log.emit({ type: "warning", ...warning });
    await build.publish({ signal: options.signal, onWarning });
    const report: RunReport = {
      ...log.counts,
      seconds: (performance.now() - started) / 1000,
      keysWritten: log.keys,
      ...(keysVerified !== undefined && { keysVerified }),
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
  }
}

async function openLedger({ controlFolder }: TargetBuild, { verify }: RunPlanOptions): Promise<Ledger> {
  if (controlFolder === undefined) return verify ? new MemoryLedger() : noLedger;
  const { FileLedger } = await import("./ledger-file.node.ts");
  return new FileLedger(`${controlFolder}/ledger.jsonl`);
}

/** Everything that goes into the target before it is published; returns how many keys were verified. */
async function fill(
  plan: Plan,
  options: RunPlanOptions & Pick<RunTasksOptions, "threads">,
  log: RunLog,
  buffers: BufferPool,
): Promise<number | undefined> {
  const { source, build, signal } = options;
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
    runTasks(plan, { ...options, scratch, documents, buffers, maxMemory, log }),
  );
  if (plan.publication.sweep) {
    const sweeping = { documents, skipChecksum: options.verify !== true, budget, buffers, log, signal };
    await copyAllKeys(source, build.store, plan, { ...sweeping, documentsLast: build.isInPlace === true });
  }
  await options.assertUnchanged?.({ signal });
  const onKeys = (keys: number) => log.keysVerified(keys);
  const verifying = { budget, buffers, io, signal, onKeys };
  let done = 0;
  // What lies at its place is checked before the documents that show it are written.
  if (build.isInPlace) {
    if (options.verify) done = await verifyLedger(build.store, log.ledger, verifying);
    if (plan.publication.existing === undefined) await assertSoleWriter(build.store, log, { signal });
  }
  if (!build.store.singleWriter) await publish();
  if (!options.verify) return undefined;
  const written = await build.reopen();
  try {
    const keys = await verifyLedger(written, log.ledger, { ...verifying, done });
    log.emit({ type: "verify", keys, allKeys: log.keys });
    return keys;
  } finally {
    await written.close?.();
  }
}
