import type { NodeMetadata } from "../meta/array-metadata.ts";
import type { FormatDefinition } from "../meta/format.ts";
import { FORMAT_DEFAULTS } from "../meta/formats.ts";
import { movedKey } from "../meta/node-layout.ts";
import type { StoreSpec } from "../stores/store.ts";
import { storeTraits, writerMemory } from "../stores/store-traits.ts";
import { product } from "../util/shape.ts";
import { type ChosenJob, JobChooser, jobsInBudget } from "./array-jobs.ts";
import { usefulThreads } from "./costs.ts";
import {
  depthOf,
  documentsOfOtherFormat,
  inPublishingOrder,
  missingAncestors,
  type NodeDocuments,
  plannedDocuments,
  sharedDocuments,
} from "./documents.ts";
import { bytesPerItem, copyMemory, pieceBytesWithin } from "./memory.ts";
import type { ArrayJob, Driver, Execution, NodeSpec, Plan, PlanTotals, StoreProfiles } from "./plan.ts";
import {
  assertDistinctPaths,
  type Change,
  type CopiedNode,
  type HierarchyPlanRequest,
  type SourceNode,
  targetPath,
} from "./request.ts";
import { countSourceChunks } from "./windows.ts";

/** Concurrent tasks of a single thread. More than this do not improve the overlap of codecs with input and output. */
const TASKS_AT_ONCE = 3;

/**
 * Plans a node and everything below it: a job for each array, and the documents to publish at the end. Reads and
 * writes nothing.
 *
 * @throws `budget-too-small`, `unsupported-codec`, `loss-refused`.
 */
export async function planHierarchy(request: HierarchyPlanRequest): Promise<Plan> {
  const { nodes, source, target, zarrFormat, maxMemory, threads = 1, profiles = {} } = request;
  const driver = driverOf(request);
  const tasksAtOnce = driver === "loop" ? threads : Math.max(threads, TASKS_AT_ONCE);
  const chooser = new JobChooser({ ...request, driver, tasksAtOnce });
  const chosen: ChosenJob[] = [];
  const documents: NodeDocuments[] = [];
  assertDistinctPaths(
    nodes.map(({ path }) => targetPath(path, source.path, target.path)),
    zarrFormat,
  );
  const placed = nodes.map((node) => ({
    node,
    path: targetPath(node.path, source.path, target.path),
    ...targetNode(node, request),
  }));
  const ofOtherFormat = documentsOfOtherFormat(
    placed.map(({ node, ...rest }) => ({ ...rest, from: node.path })),
    request,
  );
  for (const { node, path, metadata, change, isChanged } of placed) {
    if (node.metadata.kind === "array" && metadata.kind === "array") {
      const array = { path, zarrFormat: zarrFormat.name, metadata };
      chosen.push(await chooser.choose(node, node.metadata, array, change));
    }
    documents.push({
      depth: depthOf(path),
      group: metadata.kind === "group",
      documents: [
        ...(ofOtherFormat.get(path) ?? []),
        ...plannedDocuments(node, metadata, { ...request, layout: zarrFormat.layout(path), isChanged }),
      ],
    });
  }
  for (const node of request.copied ?? []) {
    documents.push(copiedDocuments(node, request));
  }
  const { jobs, stages, reserved } = jobsInBudget(chosen, request);
  const leaseBytes = largestTask(jobs);
  const from = nodes[0]?.layout.zarrFormat ?? zarrFormat.name;
  const ancestors = missingAncestors(target.path, zarrFormat);
  const totals = totalsOf(jobs, stages, reserved, { ...request, tasksAtOnce });
  return {
    format: "zarrflow-plan/1",
    operation: request.operation,
    source,
    target,
    ...(request.scratch && { scratch: request.scratch }),
    budget: { maxMemory, leaseBytes },
    execution: executionOf(request, {
      driver,
      tasksAtOnce,
      jobs,
      admitted: Math.floor((maxMemory - reserved) / Math.max(1, leaseBytes)),
      totals,
    }),
    jobs,
    stages,
    ...(Object.keys(profiles).length > 0 && { profiles }),
    publication: {
      zarrFormat: zarrFormat.name,
      from,
      documents: [...sharedDocuments(from, zarrFormat), ...inPublishingOrder(documents), ...ancestors],
      consolidate: consolidatedTargets(request),
      copyKeys: request.copyKeys,
    },
    totals,
    warnings: request.converted?.warnings ?? [],
  };
}

/** The documents of a node that is copied without being decoded. */
function copiedDocuments(
  { path: from, documents }: CopiedNode,
  { zarrFormat, source, target }: HierarchyPlanRequest,
): NodeDocuments {
  const path = targetPath(from, source.path, target.path);
  const [before, after] = [zarrFormat.layout(from), zarrFormat.layout(path)];
  const keys = before.documentKeys.filter((key) => documents.has(key));
  return {
    depth: depthOf(path),
    group: false,
    documents: keys.map((key) => ({ key: movedKey(key, before, after), from: key })),
  };
}

function consolidatedTargets({ changed, consolidated, source, target }: HierarchyPlanRequest): string[] {
  if (!changed) return [];
  const paths = consolidated.map((path) => targetPath(path, source.path, target.path));
  return paths.sort((a, b) => depthOf(b) - depthOf(a));
}

/** A node as the target will have it. */
export interface TargetNode {
  readonly metadata: NodeMetadata;
  /** Absent if no change of the node was requested. */
  readonly change: Change | undefined;
  /** True if its documents differ from the source's for a reason other than the format. */
  readonly isChanged: boolean;
}

/** Computes the metadata of a node in the target. */
export function targetNode(
  node: SourceNode,
  { converted, change, zarrFormat }: Pick<HierarchyPlanRequest, "converted" | "change" | "zarrFormat">,
): TargetNode {
  const before = converted?.metadata.get(node.path) ?? node.metadata;
  const asked = before.kind === "array" ? change(node.path, before) : undefined;
  const isSame = asked === undefined && node.layout.zarrFormat === zarrFormat.name;
  return {
    metadata: isSame ? before : inFormat(asked?.metadata ?? before, node, zarrFormat),
    change: asked,
    isChanged: asked !== undefined || before !== node.metadata,
  };
}

/**
 * Adapts a changed node to the target's format. A converted array gets the format's usual chunk keys, unless a
 * convention requires others.
 */
function inFormat(
  metadata: NodeMetadata,
  { metadata: before, layout }: SourceNode,
  to: FormatDefinition,
): NodeMetadata {
  if (metadata.kind === "group" || before.kind === "group") return metadata;
  const hasOldKeys = layout.zarrFormat !== to.name && metadata.chunkKeyEncoding === before.chunkKeyEncoding;
  const keyed = hasOldKeys ? { ...metadata, chunkKeyEncoding: FORMAT_DEFAULTS[to.name].keys } : metadata;
  return to.adopt?.(keyed) ?? keyed;
}

/** Chooses the driver: a loop if this thread can open both stores for blocking calls, and both are local files. */
function driverOf({ source, target, singleThreadReason, profiles = {} }: HierarchyPlanRequest): Driver {
  if (profiles.source || profiles.target) return "streams";
  const answersAtOnce = (store: StoreSpec) => storeTraits(store).isFileBacked;
  const isLoop =
    singleThreadReason === undefined && [source, target].every(({ store }) => answersAtOnce(store));
  return isLoop ? "loop" : "streams";
}

interface ExecutionOptions extends Pick<Execution, "driver" | "tasksAtOnce"> {
  readonly jobs: readonly ArrayJob[];
  /** Number of tasks that the budget admits concurrently if all are as large as the largest. */
  readonly admitted: number;
  readonly totals: PlanTotals;
}

/** Decides how many threads run the tasks of a plan, and which of them write. */
function executionOf(
  request: HierarchyPlanRequest,
  { driver, tasksAtOnce, jobs, admitted, totals }: ExecutionOptions,
): Execution {
  const { target, concurrency, isAdaptive, threads = 1, singleThreadReason, isMemoryShared = true } = request;
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
  return jobs.some(isStreamed) ? "the target has a single writer, to which shards are streamed" : undefined;
}

export interface TotalsRequest {
  readonly target: NodeSpec;
  readonly copyKeys: boolean;
  readonly maxMemory: number;
  readonly tasksAtOnce: number;
  readonly concurrency: number;
  readonly profiles?: StoreProfiles | undefined;
}

/**
 * Computes the totals of all jobs.
 *
 * @param stages number of tasks per stage
 * @param reserved bytes of the budget that the stores reserve
 */
export function totalsOf(
  jobs: readonly ArrayJob[],
  stages: readonly number[],
  reserved: number,
  request: TotalsRequest,
): PlanTotals {
  const within = { ...request, maxMemory: request.maxMemory - reserved };
  const withTasks = jobs.filter((job) => job.tasks > 0);
  const sum = (of: (job: ArrayJob) => number) => withTasks.reduce((total, job) => total + of(job), 0);
  const decodedBytes = sum((job) => job.chunksRead * job.source.decodedSize);
  const touchedBytes = sum((job) => countSourceChunks(job) * job.source.decodedSize);
  const logicalBytes = sum((job) => product(job.selection.shape) * bytesPerItem(job.source));
  return {
    arrays: jobs.length,
    tasks: stages.reduce((total, tasks) => total + tasks, 0),
    chunksRead: sum((job) => job.chunksRead),
    chunksWritten: sum((job) => job.chunksWritten),
    missingChunks: sum((job) => job.missingChunks ?? 0),
    decodedBytes,
    logicalBytes,
    readAmplification: touchedBytes === 0 ? 1 : decodedBytes / touchedBytes,
    scratchBytes: sum((job) => job.cost?.scratchBytes ?? 0),
    predictedPeak: reserved + Math.max(tasksPeak(withTasks, within), copyPeak(jobs, within)),
    ...predictedTime(jobs, request),
  };
}

/**
 * Sequential round trips at the start and end of a run: the source is checked again; the target has locks,
 * documents and publication.
 */
const SOURCE_ROUNDS = 2;
const TARGET_ROUNDS = 4;

function predictedTime(
  jobs: readonly ArrayJob[],
  { profiles: { source, target } = {} }: TotalsRequest,
): Pick<PlanTotals, "predictedSeconds"> {
  let seconds = SOURCE_ROUNDS * (source?.latency ?? 0) + TARGET_ROUNDS * (target?.latency ?? 0);
  for (const { cost } of jobs) {
    if (cost === undefined) return {};
    seconds += cost.seconds;
  }
  return jobs.length > 0 ? { predictedSeconds: seconds } : {};
}

/** Bytes of the largest task; 0 if all keys are copied without tasks. */
export function largestTask(jobs: readonly ArrayJob[]): number {
  return jobs.flatMap(tasksOf).reduce((most, { leaseBytes }) => Math.max(most, leaseBytes), 0);
}

/** Expected bytes of all concurrent tasks, in the stage that needs most. */
function tasksPeak(jobs: readonly ArrayJob[], { maxMemory, tasksAtOnce }: TotalsRequest): number {
  const stages = jobs.map(tasksOf);
  const stageCount = stages.reduce((most, { length }) => Math.max(most, length), 0);
  const peaks = Array.from({ length: stageCount }, (_, stage) => {
    const kinds = stages.flatMap((ofJob) => ofJob[stage] ?? []);
    const largest = kinds.reduce((most, { expectedBytes }) => Math.max(most, expectedBytes), 0);
    const smallest = kinds.reduce((least, { leaseBytes }) => Math.min(least, leaseBytes), maxMemory);
    const tasks = kinds.reduce((count, kind) => count + kind.tasks, 0);
    const atOnce = Math.min(tasksAtOnce, tasks, Math.floor(maxMemory / Math.max(1, smallest)));
    return Math.min(maxMemory, atOnce * largest);
  });
  return peaks.reduce((most, peak) => Math.max(most, peak), 0);
}

/** Number and memory of tasks in each stage of a job. */
function tasksOf(job: ArrayJob): Pick<ArrayJob, "tasks" | "leaseBytes" | "expectedBytes">[] {
  return [...(job.passes ?? []), job].filter(({ tasks }) => tasks > 0);
}

/** Bytes of all chunks that are copied unchanged at a time. */
function copyPeak(
  jobs: readonly ArrayJob[],
  { target, copyKeys, maxMemory, concurrency }: TotalsRequest,
): number {
  if (!copyKeys) return 0;
  const stored = jobs.filter(({ tasks }) => tasks === 0).map(({ source }) => source.maxEncodedSize);
  const largest = stored.reduce((most, size) => Math.max(most, size), 1);
  const writerBytes = writerMemory(target.store);
  const pieceBytes = pieceBytesWithin(maxMemory - writerBytes);
  return Math.min(maxMemory, concurrency * copyMemory(largest, pieceBytes, writerBytes));
}
