import type { ArrayMetadata } from "../../meta/array-metadata.ts";
import { FIRST_ALLOWED } from "../../stores/remote/concurrency-control.ts";
import { writerMemory } from "../../stores/store-memory.ts";
import { wholeSelection } from "../../streams/selection.ts";
import { copyMemory } from "../keys/copy-value.ts";
import { chooseJob, type JobChoice, type JobRequest, jobOfChoice, type PlannedArray } from "./array-job.ts";
import { COSTS } from "./costs.ts";
import { storeReservedBytes } from "./expected-size.ts";
import type { Change, HierarchyPlanRequest, SourceNode } from "./hierarchy-request.ts";
import type { ArrayJob, Driver } from "./plan.ts";
import type { StoreProfiles } from "./store-profile.ts";
import { assertBudget, smallerChunks } from "./task-memory.ts";

/** An array, and the strategies by which it can be made. */
export interface ChosenJob {
  readonly job: JobRequest;
  readonly choice: JobChoice;
}

/** How the array of a node becomes one of the target. @throws as `chooseJob` */
export async function chosenJob(
  { path, layout }: SourceNode,
  metadata: ArrayMetadata,
  target: PlannedArray,
  change: Change | undefined,
  request: HierarchyPlanRequest & { readonly driver: Driver; readonly tasksAtOnce: number },
): Promise<ChosenJob> {
  const { driver, profiles = {}, threads = 1 } = request;
  const job = {
    source: { path, zarrFormat: layout.zarrFormat, metadata },
    target,
    selection: change?.selection ?? wholeSelection(target.metadata.shape),
    maxMemory: request.maxMemory,
    io: driver === "loop" ? 1 : request.isIoFound ? Math.min(request.io, expectedIo(profiles)) : request.io,
    writerBytes: writerMemory(request.target.store),
    inFarObject: request.source.store.kind === "zip-value",
    keysToCopy: request.copyKeys,
    threads,
    tasksAtOnce: request.tasksAtOnce,
    driver,
    profiles,
    strategy: request.strategy,
    missing: request.missing?.get(path),
  };
  return { job, choice: await chooseJob(job) };
}

/** Requests in flight that are expected to be found of use: as many as the program can make while one is waited for. */
function expectedIo(profiles: StoreProfiles): number {
  const latencies = Object.values(profiles).map(({ latency }) => latency);
  return Math.max(FIRST_ALLOWED, Math.ceil(Math.max(0, ...latencies) / COSTS.request));
}

/** The jobs of all arrays, the tasks of each stage, and what the stores hold of the budget beside them. */
export interface SizedJobs {
  readonly jobs: readonly ArrayJob[];
  readonly stages: readonly number[];
  readonly held: number;
}

/** @throws `budget-too-small`, `resource-limit`. */
export function sizedJobs(chosen: readonly ChosenJob[], request: HierarchyPlanRequest): SizedJobs {
  const { maxMemory } = request;
  const sides = chosen.map(({ choice }) => choice.sides);
  const held = storeReservedBytes(request, sides, maxMemory);
  assertAllFit(chosen, held, request);
  const jobs: ArrayJob[] = [];
  const stages: number[] = [];
  for (const { job, choice } of chosen) {
    const planned = jobOfChoice({ ...job, maxMemory: maxMemory - held }, choice, stages);
    for (const [stage, { tasks }] of [...(planned.passes ?? []), planned].entries()) {
      stages[stage] = (stages[stage] ?? 0) + tasks;
    }
    jobs.push(planned);
  }
  return { jobs, stages, held };
}

/** @throws `budget-too-small` for the array that needs the most: with what it needs, all others can be done. */
function assertAllFit(
  chosen: readonly ChosenJob[],
  held: number,
  { source, target, copyKeys, maxMemory }: HierarchyPlanRequest,
): void {
  const needs = chosen.map(({ job, choice }) => ({
    path: job.source.path,
    wayOut: smallerChunks(choice.sides, job.target.metadata.dimensionNames),
    ...choice,
  }));
  const start = {
    path: source.path,
    leastBytes: copyKeys ? copyMemory(2, 1, writerMemory(target.store)) : 0,
    collectsShards: false,
    wayOut: "choose smaller chunks",
  };
  const most = needs.reduce((soFar, need) => (need.leastBytes > soFar.leastBytes ? need : soFar), start);
  const wayOut = most.collectsShards ? "choose smaller shards, or an index_location of end" : most.wayOut;
  assertBudget(most.leastBytes + held, maxMemory, most.path, wayOut);
}
