import { createPipeline } from "../codecs/chain/codec-chain.ts";
import { type CodecPipeline, chunkSpecOf } from "../codecs/codec.ts";
import type { GridStrategy } from "../hierarchy/read-options.ts";
import { type ArrayMetadata, gridShape, type ZarrFormat } from "../meta/array-metadata.ts";
import { expectedItemSize, isFixed } from "../meta/data-type.ts";
import { describeDataType } from "../meta/data-type-name.ts";
import { byInnermost, withinShards } from "../meta/shards.ts";
import { FIRST_ALLOWED } from "../stores/remote/concurrency-control.ts";
import { writerMemory } from "../stores/store-traits.ts";
import { assertBudget } from "../streams/budget-too-small.ts";
import { pooledSize } from "../streams/buffer-pool.ts";
import { type Selection, wholeSelection } from "../streams/selection.ts";
import { crc32 } from "../util/crc32.ts";
import { isZarrflowError, ZarrflowError } from "../util/errors.ts";
import { product } from "../util/shape.ts";
import { COSTS } from "./costs.ts";
import {
  copyMemory,
  gridSide,
  type SideSizes,
  type Sides,
  smallerChunks,
  storeReservedBytes,
} from "./memory.ts";
import type {
  Alternative,
  ArrayJob,
  Driver,
  GridSide,
  PlannedConversion,
  ScratchPass,
  StoreProfiles,
} from "./plan.ts";
import type { Change, HierarchyPlanRequest, SourceNode } from "./request.ts";
import {
  type Arrays,
  cheapestCandidate,
  type MissingCount,
  mayMiss,
  type Strategy,
  strategies,
  whyNotSameFill,
} from "./strategies.ts";
import { assertCountable } from "./task.ts";

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
    inRemoteObject: request.source.store.kind === "zip-value",
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

export interface JobsInBudget extends ExpandedJobs {
  /** Bytes of the budget that the stores reserve. */
  readonly reserved: number;
}

/** Sizes the tasks of all arrays to the budget. @throws `budget-too-small`, `resource-limit`. */
export function jobsInBudget(chosen: readonly ChosenJob[], request: HierarchyPlanRequest): JobsInBudget {
  const { maxMemory } = request;
  const sides = chosen.map(({ alike }) => alike.choice.sides);
  const reserved = storeReservedBytes(request, sides, maxMemory);
  assertAllFit(chosen, reserved, request);
  const templates = new Map<AlikeArrays, JobTemplate>();
  const named = chosen.map(({ alike, ...names }): NamedJob => {
    const { job, choice } = alike;
    const template = templates.get(alike) ?? sizeJob({ ...job, maxMemory: maxMemory - reserved }, choice);
    templates.set(alike, template);
    return { ...names, template };
  });
  return { ...expandTemplates(named), reserved };
}

/** Asserts that the budget fits the array that needs most, and so all others. @throws `budget-too-small` */
function assertAllFit(
  chosen: readonly ChosenJob[],
  reserved: number,
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
  const wayOut = most.collectsShards ? "choose smaller shards, or index_location: end" : most.wayOut;
  assertBudget(most.leastBytes + reserved, maxMemory, most.path, wayOut);
}

/** The parts of a source or target array that planning needs. */
export interface PlannedArray {
  readonly path: string;
  readonly zarrFormat: ZarrFormat;
  readonly metadata: ArrayMetadata;
}

export interface JobRequest {
  readonly source: PlannedArray;
  readonly target: PlannedArray;
  readonly selection: Selection;
  /** Present if values of the source are converted as they are read. */
  readonly conversion?: PlannedConversion | undefined;
  readonly maxMemory: number;
  readonly concurrency: number;
  /** Memory that an open writer of the target's store needs. */
  readonly writerBytes: number;
  /** True if verbatim arrays are copied key by key, without tasks. */
  readonly keysToCopy: boolean;
  /** Threads that run tasks, and tasks that run concurrently. */
  readonly threads: number;
  readonly tasksAtOnce: number;
  readonly driver: Driver;
  readonly profiles: StoreProfiles;
  /** Strategy for arrays whose grid changes; by default the cheapest. */
  readonly strategy?: GridStrategy | undefined;
  /**
   * Missing chunks, which are written out with the source's fill value; present if the target's fill value differs.
   */
  readonly missing?: MissingCount | undefined;
}

/** The choice of strategies for one array, before the size of its tasks is known. */
export interface JobChoice {
  /** Strategies that can make the target: one that keeps the grid, or several that change it. */
  readonly possible: readonly Strategy[];
  /** The other strategies, with reasons. */
  readonly notTaken: readonly Alternative[];
  readonly sides: Sides;
  /** True if a shard of the target can be written only once it is complete. */
  readonly collectsShards: boolean;
  /** The smallest budget that allows any of the strategies. */
  readonly leastBytes: number;
}

/**
 * Finds the strategies that can make one array.
 *
 * @throws `unsupported-codec` when chunks must be decoded and cannot be, with the array's path.
 */
export async function chooseJob(request: JobRequest): Promise<JobChoice> {
  try {
    const choice = await possibleStrategies(request);
    const collectsShards = choice.sides.target.shardShape !== undefined && hasIndexAtStart(request.target);
    const leastBytes = isCopiedByKey(request, choice)
      ? pooledSize(1)
      : (choice.possible[0]?.leastBytes({ ...request, ...choice, collectsShards }) ?? 0);
    return { ...choice, collectsShards, leastBytes };
  } catch (error) {
    if (isZarrflowError(error)) error.addContext({ path: request.source.path });
    throw error;
  }
}

/**
 * Chooses the cheapest strategy, with tasks as large as is useful within the budget.
 *
 * @throws `resource-limit` for more chunks or items than a run can process.
 */
export function sizeJob(request: JobRequest, choice: JobChoice): JobTemplate {
  const { sides } = choice;
  const { dataType, dimensionNames } = request.target.metadata;
  const grid = gridShape(sides.target.shape, sides.target.chunkShape);
  const chunksWritten = product(grid);
  const isVariable = !isFixed(dataType);
  const { strategy, windows, passes, cost, alternatives } = cheapestCandidate(choice.possible, {
    ...request,
    ...choice,
    strategy: request.strategy,
    isVariable,
    chunksWritten,
  });
  const hasTasks = !isCopiedByKey(request, choice);
  if (hasTasks) {
    const chunks = Math.max(windows.chunksRead, chunksWritten);
    assertCountable({ items: product(request.selection.shape), chunks }, request.source.path);
  }
  return {
    dataType: describeDataType(dataType),
    ...(dimensionNames && { dimensionNames }),
    strategy,
    ...(request.conversion && { conversion: request.conversion }),
    ...sides,
    selection: request.selection,
    ...windows,
    ...(passes && { passes }),
    tasks: hasTasks ? product(gridShape(grid, windows.window)) : 0,
    chunksWritten,
    ...(mayMiss(request.missing) && { missingChunks: request.missing?.chunks ?? 0 }),
    ...(cost && { cost }),
    notTaken: [...choice.notTaken, ...alternatives],
  };
}

/** True if the keys of the array are copied without tasks. */
function isCopiedByKey(
  { keysToCopy }: JobRequest,
  { possible, sides }: Pick<JobChoice, "possible" | "sides">,
): boolean {
  const isByKey = sides.source.shardShape === undefined && sides.target.shardShape === undefined;
  return keysToCopy && possible.every(({ decodes }) => !decodes) && isByKey;
}

function hasIndexAtStart({ metadata }: PlannedArray): boolean {
  return withinShards(metadata)?.sharding.configuration.index_location === "start";
}

/** @param chunks the array at the level of the chunks that are read or written */
function sideOf({ zarrFormat, metadata }: PlannedArray, chunks: ArrayMetadata, sizes: SideSizes): GridSide {
  const { chunkShape } = chunks.chunkGrid;
  const shardShape = chunks === metadata ? undefined : metadata.chunkGrid.chunkShape;
  return gridSide({ zarrFormat, metadata, chunkShape, shardShape }, sizes);
}

/** Estimates the size of stored chunks that are not decoded, so their codecs may be unknown. */
function storedSizes(metadata: ArrayMetadata): SideSizes {
  const { chunkGrid, dataType } = metadata;
  const items = product(chunkGrid.chunkShape);
  const decodedSize = items * expectedItemSize(dataType);
  const innerChunks = items / product(byInnermost(metadata).chunkGrid.chunkShape);
  const around = innerChunks > 1 ? innerChunks * INNER_CHUNK_OVERHEAD : 0;
  const maxEncodedSize = Math.ceil(decodedSize * 1.05) + 1024 + around;
  return { decodedSize, maxEncodedSize, scratchSize: 0, pooledScratchSize: 0 };
}

/** Bytes of the index entry and of codec headers per chunk of a shard. */
const INNER_CHUNK_OVERHEAD = 64;

/**
 * Finds the possible strategies. With the same grid and codecs, stored bytes are copied; with the same grid, chunks
 * are recoded one by one; otherwise windows are assembled. Chunks in shards are processed one by one, unless whole
 * shards can be copied.
 */
async function possibleStrategies(
  request: JobRequest,
): Promise<Pick<JobChoice, "possible" | "notTaken" | "sides">> {
  const { source, target, selection, missing, keysToCopy, maxMemory } = request;
  const whole = { from: source.metadata, to: target.metadata, selection, missing };
  const sizes = storedSizes(source.metadata);
  const moving = strategies.filter(({ decodes }) => !decodes);
  const mover = moving.find((strategy) => strategy.whyNot(whole) === undefined);
  if (mover && (keysToCopy || pooledSize(sizes.maxEncodedSize) <= maxMemory)) {
    const sides = {
      source: sideOf(source, source.metadata, sizes),
      target: sideOf(target, target.metadata, sizes),
    };
    return { possible: [mover], notTaken: [], sides };
  }
  const from = byInnermost(source.metadata);
  const to = withinShards(target.metadata)?.inner ?? target.metadata;
  const sidesOf = (read: SideSizes, written: SideSizes): Sides => ({
    source: sideOf(source, from, read),
    target: sideOf(target, to, written),
  });
  const arrays = { ...whole, from, to };
  const innerMover = moving.find((strategy) => strategy.whyNot(arrays) === undefined);
  if (innerMover) {
    const inner = storedSizes(from);
    return { possible: [innerMover], notTaken: [], sides: sidesOf(inner, inner) };
  }
  const reading = await createPipeline(from.codecs, chunkSpecOf(from));
  const writing = await targetPipeline(to, request);
  return { ...amongAll({ ...arrays, pipelines: { reading, writing } }), sides: sidesOf(reading, writing) };
}

/** Returns the first strategy that keeps the grid and can make the target; otherwise all that change the grid. */
function amongAll(arrays: Arrays): Pick<JobChoice, "possible" | "notTaken"> {
  const notTaken: Alternative[] = [];
  const possible: Strategy[] = [];
  for (const strategy of strategies) {
    const reason = strategy.whyNot(arrays);
    if (reason !== undefined) notTaken.push({ strategy: strategy.name, reason });
    else if (!strategy.changesGrid) return { possible: [strategy], notTaken };
    else possible.push(strategy);
  }
  return { possible, notTaken };
}

/** @throws `invalid-option` for a requested codec that cannot be created. */
async function targetPipeline(chunks: ArrayMetadata, { source, target }: JobRequest): Promise<CodecPipeline> {
  try {
    return await createPipeline(chunks.codecs, chunkSpecOf(chunks), { isWritten: true });
  } catch (error) {
    const asked = target.metadata.codecs !== source.metadata.codecs;
    if (!asked || !isZarrflowError(error, "invalid-metadata")) throw error;
    throw new ZarrflowError("invalid-option", error.reason, error.details, { cause: error });
  }
}

/** A job without its names and task numbers. Arrays that differ only in name share it. */
export interface JobTemplate extends Omit<ArrayJob, "path" | "targetPath" | "firstTask" | "passes"> {
  readonly passes?: readonly Omit<ScratchPass, "firstTask">[];
}

export interface NamedJob extends Pick<ArrayJob, "path" | "targetPath"> {
  readonly template: JobTemplate;
}

/** Jobs in the order of their tasks, and the number of tasks per stage. */
export interface ExpandedJobs {
  readonly jobs: readonly ArrayJob[];
  readonly stages: readonly number[];
}

/** Adds names and task numbers to templates. */
export function expandTemplates(arrays: readonly NamedJob[]): ExpandedJobs {
  const stages: number[] = [];
  const jobs = arrays.map(({ path, targetPath, template }): ArrayJob => {
    const { passes, ...rest } = template;
    const numbered = passes?.map((pass, stage) => ({ ...pass, firstTask: stages[stage] ?? 0 }));
    const firstTask = stages[passes?.length ?? 0] ?? 0;
    for (const [stage, { tasks }] of [...(passes ?? []), template].entries()) {
      stages[stage] = (stages[stage] ?? 0) + tasks;
    }
    return { path, targetPath, ...rest, ...(numbered && { passes: numbered }), firstTask };
  });
  return { jobs, stages };
}

/** Returns a job without its names and task numbers. */
export function templateOf({
  path: _,
  targetPath: _target,
  firstTask: _first,
  passes,
  ...rest
}: ArrayJob): JobTemplate {
  return { ...rest, ...(passes && { passes: passes.map(({ firstTask: _, ...pass }) => pass) }) };
}
