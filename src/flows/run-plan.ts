import { ZarrArray } from "../hierarchy/node.ts";
import { openFromAbove } from "../hierarchy/open-from-above.ts";
import { openNode } from "../hierarchy/open-node.ts";
import { dialectNamed } from "../meta/dialects.ts";
import { outerPrefixes } from "../meta/key-trees.ts";
import { isListable, type ListableStore, type Store, type TargetBuild } from "../stores/store.ts";
import { writerMemory } from "../stores/writer-memory.ts";
import { BufferPool } from "../streams/buffer-pool.ts";
import { ByteBudget } from "../streams/byte-budget.ts";
import { ZarrflowError } from "../util/errors.ts";
import { loadDocuments, publishDocuments } from "./documents.ts";
import type { FlowEvent, RunReport } from "./events.ts";
import { runInline } from "./executors/inline.ts";
import { type Ledger, MemoryLedger } from "./ledger.ts";
import type { ArrayJob, Plan } from "./plan/plan.ts";
import { RunLog } from "./run-log.ts";
import { runTask } from "./run-task.ts";
import { sweep } from "./sweep.ts";
import { sweptKeys } from "./swept-keys.ts";
import { verifyLedger } from "./verify.ts";

export interface RunPlanOptions {
  readonly source: Store;
  readonly build: TargetBuild;
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
export async function runPlan(plan: Plan, options: RunPlanOptions): Promise<RunReport> {
  const { build } = options;
  const started = performance.now();
  const ledger = await openLedger(build);
  try {
    const buffers = new BufferPool(plan.budget.maxMemory);
    const log = new RunLog(ledger, () => buffers.taken, options.onEvent);
    const keysVerified = await fill(plan, options, log, buffers);
    await ledger.close();
    await build.publish({ signal: options.signal });
    const report: RunReport = {
      ...log.counts,
      seconds: (performance.now() - started) / 1000,
      keysWritten: log.keys,
      ...(keysVerified !== undefined && { keysVerified }),
      peakBuffers: buffers.peak,
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

async function openLedger({ controlFolder }: TargetBuild): Promise<Ledger> {
  if (controlFolder === undefined) return new MemoryLedger();
  const { FileLedger } = await import("./ledger-file.node.ts");
  return new FileLedger(`${controlFolder}/ledger.jsonl`);
}

/** Everything that goes into the target before it is published; returns how many keys were verified. */
async function fill(
  plan: Plan,
  options: RunPlanOptions,
  log: RunLog,
  buffers: BufferPool,
): Promise<number | undefined> {
  const { source, build, signal } = options;
  const { io } = plan.budget;
  const budget = new ByteBudget(plan.budget.maxMemory);
  const documents = await loadDocuments(plan, source, signal);
  const { hierarchy } = dialectNamed(plan.publication.dialect).layout(plan.target.path);
  const onWritten = (key: string, bytes: Uint8Array) => log.documentWritten(key, bytes);
  const publish = () => publishDocuments(documents, build.store, { io, hierarchy, onWritten, signal });
  // A single writer's target cannot be read before it is finished: its documents may come first.
  if (build.store.singleWriter) await publish();
  await runTasks(plan, options, { budget, buffers, log, documents });
  if (plan.publication.sweep) {
    const targetKeyOf = sweptKeys(plan, documents);
    const writerBytes = writerMemory(plan.target.store);
    const sweeping = { targetKeyOf, budget, buffers, io, writerBytes, log, signal };
    for (const prefix of outerPrefixes(dialectNamed(plan.publication.from).layout(plan.source.path))) {
      await sweep(listable(source), build.store, { prefix, ...sweeping });
    }
  }
  if (!build.store.singleWriter) await publish();
  if (!options.verify) return undefined;
  const written = await build.reopen();
  const onKeys = (keys: number) => log.keysVerified(keys);
  try {
    const keys = await verifyLedger(written, log.ledger, { budget, buffers, io, signal, onKeys });
    log.emit({ type: "verify", keys, allKeys: log.keys });
    return keys;
  } finally {
    await written.close?.();
  }
}

interface Shared {
  readonly budget: ByteBudget;
  readonly buffers: BufferPool;
  readonly log: RunLog;
  readonly documents: ReadonlyMap<string, Uint8Array>;
}

async function runTasks(plan: Plan, options: RunPlanOptions, shared: Shared): Promise<void> {
  const { source, build, writeEmpty } = options;
  const { budget, buffers, log, documents } = shared;
  const dialect = dialectNamed(plan.publication.dialect);
  const arrays = new Map<ArrayJob, Promise<{ source: ZarrArray; target: ZarrArray }>>();
  const openBoth = async (job: ArrayJob) => {
    const layout = dialect.layout(job.targetPath);
    const parsed = dialect.parse(documents, layout);
    const reading = { ...plan.source.reading, dialect: job.source.dialect, signal: options.signal };
    const opened =
      (await openNode(source, job.path, reading)) ??
      (await openFromAbove(source, plan.source.store, job.path, reading));
    if (opened?.kind !== "array" || parsed?.metadata.kind !== "array") {
      throw new ZarrflowError("source-changed", "there is no array any more", { path: job.path });
    }
    const target = new ZarrArray({
      store: build.store,
      spec: plan.target.store,
      layout,
      metadata: parsed.metadata,
    });
    return {
      source: job.source.shardShape ? opened.innerChunks() : opened,
      target: job.target.shardShape ? target.innerChunks(1) : target,
    };
  };
  const opened = (job: ArrayJob) => {
    const both = arrays.get(job) ?? openBoth(job);
    arrays.set(job, both);
    return both;
  };
  await runInline(
    plan,
    async (task, signal) => {
      const both = await opened(task.job);
      const ended = log.taskStarted(task.number);
      let bytesWritten = 0;
      await runTask(task, {
        source: both.source,
        target: both.target as ZarrArray & { store: TargetBuild["store"] },
        buffers,
        io: plan.budget.io,
        ...(writeEmpty && { writeEmpty }),
        signal,
        onRead: (chunk) => log.chunkRead(chunk),
        onWritten: () => log.chunkWritten(),
        onStored: (value) => {
          bytesWritten += value.size;
          log.valueStored(value, task.number);
        },
      });
      ended(bytesWritten);
    },
    { budget, signal: options.signal },
  );
}

function listable(store: Store): ListableStore {
  if (isListable(store)) return store;
  throw new ZarrflowError("unsupported-operation", "this store cannot list its keys", {
    store: store.description,
  });
}
