import { writerMemory } from "../../stores/store-memory.ts";
import { product } from "../../util/shape.ts";
import { copyMemory } from "../keys/copy-value.ts";
import { pieceBytesWithin } from "../keys/read-pieces.ts";
import { chunksTouched } from "./chunk-visits.ts";
import type { ArrayJob, NodeSpec, PlanTotals } from "./plan.ts";
import type { StoreProfiles } from "./store-profile.ts";
import { itemBytes } from "./task-memory.ts";

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
 * @param held bytes of the budget that the stores reserve
 */
export function totalsOf(
  jobs: readonly ArrayJob[],
  stages: readonly number[],
  held: number,
  request: TotalsRequest,
): PlanTotals {
  const within = { ...request, maxMemory: request.maxMemory - held };
  const withTasks = jobs.filter((job) => job.tasks > 0);
  const sum = (of: (job: ArrayJob) => number) => withTasks.reduce((total, job) => total + of(job), 0);
  const decodedBytes = sum((job) => job.chunksRead * job.source.decodedSize);
  const touchedBytes = sum((job) => chunksTouched(job) * job.source.decodedSize);
  const logicalBytes = sum((job) => product(job.selection.shape) * itemBytes(job.source));
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
    predictedPeak: held + Math.max(tasksPeak(withTasks, within), copyPeak(jobs, within)),
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
