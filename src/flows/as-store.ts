import type { OpenSource } from "../hierarchy/open/open.ts";
import { leaseWhileOpen, READ_OPTIONS, type ReadOptions } from "../hierarchy/read-options.ts";
import { KEY_FILTER, type KeyFilter } from "../plan/key-filter.ts";
import { memoryForTasks } from "../plan/memory.ts";
import type { ArrayJob, Plan } from "../plan/plan.ts";
import { planWarnings, sourceWarnings } from "../plan/warnings.ts";
import { loadDocuments } from "../run/documents.ts";
import { EVENT_OPTIONS, type EventOptions } from "../run/events.ts";
import { openJob } from "../run/open-job.ts";
import { taskRunner } from "../run/task-runner.ts";
import { MemoryStore } from "../stores/memory.ts";
import type { ListableStore, Store } from "../stores/store.ts";
import { assertBudget } from "../streams/budget-too-small.ts";
import { BufferPool } from "../streams/buffer-pool.ts";
import { ByteBudget, memoryLimit } from "../streams/byte-budget.ts";
import { maxShardSize } from "../streams/write-chunks.ts";
import { isZarrflowError } from "../util/errors.ts";
import { checkedOptions, type OptionNames, pickOptions } from "../util/options.ts";
import { type PlannedFlow, planFlow } from "./request/flow.ts";
import { CHANGES, type Changes, PLANNING_OPTIONS } from "./request/flow-options.ts";
import { limitAdaptive } from "./request/store-settings.ts";
import { KeyOrigins } from "./virtual-store/key-origins.ts";
import { consolidatedRoot, virtualStore } from "./virtual-store/virtual-store.ts";
import { WindowCache } from "./virtual-store/window-cache.ts";

/** How a source is read through `asStore`, and what changes on the way. */
export interface AsStoreOptions extends ReadOptions, Changes, KeyFilter, EventOptions {
  /** If true, chunks that contain only the fill value exist too. */
  readonly writeEmptyChunks?: boolean | undefined;
  /** Adds consolidated metadata to a root group that has none, for clients that cannot list keys. */
  readonly consolidated?: boolean | undefined;
}

const AS_STORE_OPTIONS: OptionNames<AsStoreOptions> = {
  ...READ_OPTIONS,
  ...CHANGES,
  ...KEY_FILTER,
  ...EVENT_OPTIONS,
  writeEmptyChunks: true,
  consolidated: true,
};

/** Parts of the budget for tasks and for the values that they produce; the rest is left to the reader. */
const TASK_PART = 7 / 16;
const VALUE_PART = 1 / 2;

/**
 * Returns a source as a read-only store that is rechunked, recoded, converted or sliced on the fly. It shows what
 * `copy` would write with the same changes, one chunk at a time. Arrays that do not change keep their stored bytes.
 *
 * Neighboring chunks are made together and cached as long as `maxMemory` allows, so reading chunks in order decodes
 * each source chunk about once. Listing makes chunks too, to find those that are left out as empty.
 *
 * The source must not change while it is read. `maxMemory` bounds what the store holds; values that `get` returns
 * belong to the caller, who also closes the store.
 *
 * @throws as `plan`; `budget-too-small` if a whole shard does not fit the budget.
 * @example
 * ```ts
 * import { asStore, openArray } from "zarrflow";
 *
 * const store = await asStore("era5.zarr", { chunks: { time: -1, latitude: 11 }, to: "v3" });
 * const array = await openArray({ store, path: "t2m" });
 * console.log(array.chunkShape);
 * await store.close?.();
 * ```
 */
export async function asStore(
  source: OpenSource,
  given: AsStoreOptions = {},
): Promise<Store & Partial<ListableStore>> {
  const options = checkedOptions(given, AS_STORE_OPTIONS);
  const maxMemory = memoryLimit(options);
  const release = leaseWhileOpen(options);
  const planned = await planFlow(
    source,
    new MemoryStore("values computed on demand"),
    {
      ...pickOptions(options, PLANNING_OPTIONS),
      maxMemory: Math.floor(maxMemory * TASK_PART),
      strategy: "direct",
    },
    { bringsCompanions: false },
  ).catch((error: unknown) => {
    release();
    if (!isZarrflowError(error, "budget-too-small")) throw error;
    const { neededBytes, path } = error.details;
    assertFits(neededBytes / TASK_PART, maxMemory, path);
    throw error;
  });
  const end = limitAdaptive(planned.plan.execution);
  const close = () =>
    planned.close().finally(() => {
      end();
      release();
    });
  try {
    return await storeOf(planned, { ...options, maxMemory, close });
  } catch (error) {
    await close();
    throw error;
  }
}

async function storeOf(
  { plan, source, sourceDocument: cachedDocument, assertUnchanged }: PlannedFlow,
  {
    maxMemory,
    writeEmptyChunks,
    consolidated,
    onEvent,
    signal,
    close,
  }: AsStoreOptions & { readonly maxMemory: number; readonly close: () => Promise<void> },
) {
  onEvent?.({ type: "plan", plan });
  for (const warning of [...sourceWarnings(source), ...planWarnings(plan)])
    onEvent?.({ type: "warning", ...warning });
  assertShardsFit(plan, maxMemory);
  const loaded = await loadDocuments(plan, { source, cachedDocument, signal });
  const documents = consolidated ? await consolidatedRoot(plan, loaded, source, { signal }) : loaded;
  const forTasks = memoryForTasks(plan);
  const windows = new WindowCache({
    maxBytes: Math.floor(maxMemory * VALUE_PART),
    budget: new ByteBudget(forTasks),
    // Shards that are written in pieces are made one at a time.
    leaseBytes: ({ job }) => (isStreamed(job) ? forTasks : job.leaseBytes),
  });
  const { store: target } = windows;
  windows.runWith(
    taskRunner({
      plan,
      open: (job, signal) => openJob(job, { plan, source, target, documents, cachedDocument, signal }),
      buffers: new BufferPool(forTasks),
      threads: 1,
      writeEmptyChunks,
    }),
  );
  return virtualStore({
    origins: new KeyOrigins(plan, documents),
    source,
    windows,
    assertUnchanged: async (how) => {
      await assertUnchanged(how);
      return "unchanged";
    },
    close: async () => {
      await windows.close();
      await close();
    },
  });
}

/** True if a shard is written in pieces, which are all held until it is complete. */
function isStreamed({ shardBuffer, target }: ArrayJob): boolean {
  return target.shardShape !== undefined && shardBuffer === undefined;
}

/** @throws `budget-too-small` */
function assertShardsFit(plan: Plan, maxMemory: number): void {
  for (const job of plan.jobs) {
    if (isStreamed(job)) assertFits((2 * maxShardSize(job.target)) / VALUE_PART, maxMemory, job.path);
  }
}

/** @throws `budget-too-small` with the budget of everything that the store holds. */
function assertFits(needed: number, maxMemory: number, path: string | undefined): void {
  assertBudget(Math.ceil(needed), maxMemory, path ?? "", "choose smaller chunks or shards");
}
