import type { ArrayMetadata } from "../meta/array-metadata.ts";
import { FIRST_ALLOWED } from "../stores/remote/concurrency-control.ts";
import { writerMemory } from "../stores/store-traits.ts";
import { assertBudget } from "../streams/budget-too-small.ts";
import { wholeSelection } from "../streams/selection.ts";
import { crc32 } from "../util/crc32.ts";
import {
  chooseJob,
  type JobChoice,
  type JobKind,
  type JobRequest,
  jobsOfKinds,
  kindOfChoice,
  type PlannedArray,
} from "./array-job.ts";
import { COSTS } from "./costs.ts";
import { copyMemory, smallerChunks, storeReservedBytes } from "./memory.ts";

import type { ArrayJob, Driver, StoreProfiles } from "./plan.ts";
import type { Change, HierarchyPlanRequest, SourceNode } from "./request.ts";
import { whyNotSameFill } from "./same-arrays.ts";

export interface ChooserRequest extends HierarchyPlanRequest {
  readonly driver: Driver;
  readonly tasksAtOnce: number;
}

/** Arrays that differ only in name, and their common choice of strategies. */
interface AlikeArrays {
  /** The request for the first of them. */
  readonly job: JobRequest;
  readonly choice: JobChoice;
}

/** An array and its possible strategies. */
export interface ChosenJob {
  readonly path: string;
  readonly targetPath: string;
  readonly alike: AlikeArrays;
}

/** Chooses strategies for the arrays of a plan, once for all arrays that differ only in name. */
export class JobChooser {
  readonly #request: ChooserRequest;
  readonly #chosen = new Map<string, AlikeArrays>();

  constructor(request: ChooserRequest) {
    this.#request = request;
  }

  /** @throws as `chooseJob` */
  async choose(
    node: SourceNode,
    metadata: ArrayMetadata,
    target: PlannedArray,
    change: Change | undefined,
  ): Promise<ChosenJob> {
    const job = jobRequest(node, metadata, target, change, this.#request);
    const text = whatDecides(job);
    const alike = this.#chosen.get(text) ?? { job, choice: await chooseJob(job) };
    this.#chosen.set(text, alike);
    return { path: node.path, targetPath: target.path, alike };
  }
}

/** Serializes the parts of a request that differ between arrays of one plan, except names. */
function whatDecides({ source, target, selection, missing, conversion }: JobRequest): string {
  const isSame = target.metadata === source.metadata;
  return JSON.stringify([
    [source.zarrFormat, ofChunks(source.metadata)],
    [target.zarrFormat, isSame ? undefined : ofChunks(target.metadata)],
    whyNotSameFill(source.metadata, target.metadata),
    selection,
    missing,
    conversion,
  ]);
}

function ofChunks(metadata: ArrayMetadata): unknown {
  const { shape, dataType, dimensionNames, chunkGrid, chunkKeyEncoding, codecs, fillValue } = metadata;
  const fill = fillValue.bytes && crc32(fillValue.bytes);
  return [shape, dataType, dimensionNames, chunkGrid, chunkKeyEncoding, codecs, fill];
}

function jobRequest(
  { path, layout }: SourceNode,
  metadata: ArrayMetadata,
  target: PlannedArray,
  change: Change | undefined,
  request: ChooserRequest,
) {
  const { driver, profiles = {}, threads = 1 } = request;
  const { reading } = change ?? {};
  return {
    source: { path, zarrFormat: layout.zarrFormat, metadata: reading?.metadata ?? metadata },
    ...(reading && { conversion: reading.planned }),
    target,
    selection: change?.selection ?? wholeSelection(target.metadata.shape),
    maxMemory: request.maxMemory,
    concurrency:
      driver === "loop"
        ? 1
        : request.isAdaptive
          ? Math.min(request.concurrency, expectedConcurrency(profiles))
          : request.concurrency,
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
}

/** The expected result of adapting the requests in flight: as many as the program can make during one latency. */
function expectedConcurrency(profiles: StoreProfiles): number {
  const latencies = Object.values(profiles).map(({ latency }) => latency);
  return Math.max(FIRST_ALLOWED, Math.ceil(Math.max(0, ...latencies) / COSTS.request));
}

/** The jobs of all arrays, the number of tasks per stage, and the bytes of the budget that stores reserve. */
export interface SizedJobs {
  readonly jobs: readonly ArrayJob[];
  readonly stages: readonly number[];
  readonly held: number;
}

/** @throws `budget-too-small`, `resource-limit`. */
export function sizedJobs(chosen: readonly ChosenJob[], request: HierarchyPlanRequest): SizedJobs {
  const { maxMemory } = request;
  const sides = chosen.map(({ alike }) => alike.choice.sides);
  const held = storeReservedBytes(request, sides, maxMemory);
  assertAllFit(chosen, held, request);
  const kinds = new Map<AlikeArrays, JobKind>();
  const kindFor = (alike: AlikeArrays) => {
    const { job, choice } = alike;
    const kind = kinds.get(alike) ?? kindOfChoice({ ...job, maxMemory: maxMemory - held }, choice);
    kinds.set(alike, kind);
    return kind;
  };
  return { ...jobsOfKinds(chosen.map(({ alike, ...names }) => ({ ...names, kind: kindFor(alike) }))), held };
}

/** Asserts that the budget fits the array that needs most, and so all others. @throws `budget-too-small` */
function assertAllFit(
  chosen: readonly ChosenJob[],
  held: number,
  { source, target, copyKeys, maxMemory }: HierarchyPlanRequest,
): void {
  const needs = [...new Set(chosen.map(({ alike }) => alike))].map(({ job, choice }) => ({
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
