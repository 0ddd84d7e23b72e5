import type { StoreSpec } from "../stores/store.ts";
import { storeTraits } from "../stores/store-traits.ts";
import type { ArrayJob, Driver, Execution, NodeSpec, PlanPace, PlanTotals, StoreProfiles } from "./plan.ts";

/** Milliseconds to start a thread, before its first task. */
const START_MS = 40;
/** Rough costs of a chunk and of a decoded byte. They only decide whether a thread is worth starting. */
const CHUNK_MS = 0.03;
const BYTE_MS = 1.5e-6;

export interface ExecutionRequest extends Omit<PlanPace, "maxMemory"> {
  readonly source: NodeSpec;
  readonly target: NodeSpec;
  readonly profiles?: StoreProfiles | undefined;
}

/** Chooses the driver: a loop if this thread can open both stores for blocking calls, and both are local files. */
export function driverOf({ source, target, singleThreadReason, profiles = {} }: ExecutionRequest): Driver {
  if (profiles.source || profiles.target) return "streams";
  const answersAtOnce = (store: StoreSpec) => storeTraits(store).isFileBacked;
  const isLoop =
    singleThreadReason === undefined && [source, target].every(({ store }) => answersAtOnce(store));
  return isLoop ? "loop" : "streams";
}

/** Decides how many threads run the tasks of a plan, and which of them write. */
export function executionOf(
  {
    target,
    concurrency,
    isAdaptive,
    threads = 1,
    singleThreadReason,
    isMemoryShared = true,
  }: ExecutionRequest,
  {
    driver,
    tasksAtOnce,
    jobs,
    admitted,
    totals,
  }: {
    readonly driver: Driver;
    readonly tasksAtOnce: number;
    readonly jobs: readonly ArrayJob[];
    /** The number of largest tasks that the budget admits concurrently. */
    readonly admitted: number;
    readonly totals: PlanTotals;
  },
): Execution {
  const { hasSingleWriter } = storeTraits(target.store);
  const reason = singleThreadReason ?? (hasSingleWriter ? streamedShards(jobs) : undefined);
  const useful = usefulThreads(totals.chunksRead + totals.chunksWritten, totals.decodedBytes);
  // threads without shared memory divide the budget between them
  const most = isMemoryShared ? threads : Math.min(threads, admitted);
  return {
    driver,
    threads: reason === undefined ? Math.max(1, Math.min(most, totals.tasks, useful)) : 1,
    ...(reason !== undefined && { singleThreadReason: reason }),
    tasksAtOnce,
    concurrency,
    ...(isAdaptive && { isAdaptive }),
    writer: hasSingleWriter ? "first-thread" : "each-thread",
  };
}

/** Threads can only pass on whole values, but a streamed shard is never in memory as a whole. */
function streamedShards(jobs: readonly ArrayJob[]): string | undefined {
  const isStreamed = ({ target, shardBuffer }: ArrayJob) => target.shardShape && shardBuffer === undefined;
  return jobs.some(isStreamed) ? "the target has one writer, and shards are streamed into it" : undefined;
}

/** Number of threads that are worth starting for this many chunks, read and written, and decoded bytes. */
export function usefulThreads(chunks: number, decodedBytes: number): number {
  return Math.floor((chunks * CHUNK_MS + decodedBytes * BYTE_MS) / (2 * START_MS)) + 1;
}
