import { createPipeline } from "../codecs/chain/codec-chain.ts";
import { type CodecPipeline, chunkSpecOf } from "../codecs/codec.ts";
import type { GridStrategy } from "../hierarchy/read-options.ts";
import { type ArrayMetadata, gridShape, type ZarrFormat } from "../meta/array-metadata.ts";
import { expectedItemSize, isFixed } from "../meta/data-type.ts";
import { describeDataType } from "../meta/describe.ts";
import { byInnermost, withinShards } from "../meta/shards.ts";
import { pooledSize } from "../streams/buffer-pool.ts";
import type { Selection } from "../streams/selection.ts";
import { isZarrflowError, ZarrflowError } from "../util/errors.ts";
import { product } from "../util/shape.ts";
import { costOf } from "./costs.ts";
import { usefulThreads } from "./execution.ts";
import { itemBytes, type Sides } from "./memory.ts";
import type {
  Alternative,
  ArrayJob,
  Cost,
  Driver,
  GridSide,
  PlannedConversion,
  ScratchPass,
  StoreProfiles,
} from "./plan.ts";
import { assertCountable } from "./same-arrays.ts";
import { gridSide, type SideSizes } from "./slabs.ts";
import {
  type Arrays,
  type Candidate,
  chooseStrategy,
  type MissingCount,
  mayMiss,
  type Strategy,
  type StrategyRequest,
  strategies,
} from "./strategies.ts";
import { countTouched, type Windows } from "./windows.ts";

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
export function kindOfChoice(request: JobRequest, choice: JobChoice): JobKind {
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

/**
 * Direct windows are accepted without comparison if they decode at most this multiple of the fewest possible
 * chunks, and give work to every thread.
 */
const GOOD_ENOUGH = 1.05;
/** Candidates within this multiple of the lowest cost count as equal; the one with less memory is taken. */
const NEARLY = 1.1;

/**
 * Returns the candidate of the only possible strategy, or the one with the lowest predicted time.
 *
 * @param request.strategy the only strategy to consider
 * @throws `invalid-option` if this strategy does not fit the budget.
 */
export function cheapestCandidate(
  possible: readonly Strategy[],
  request: StrategyRequest & { readonly strategy?: GridStrategy | undefined },
): Candidate & Pick<ArrayJob, "strategy" | "cost"> & { readonly alternatives: readonly Alternative[] } {
  const [first] = possible;
  const alone = first?.changesGrid === false ? [...first.candidates(request)][0] : undefined;
  if (first && alone) {
    const [candidate = alone] = first.decodes ? rated([alone], request) : [];
    return { ...candidate, strategy: first.name, alternatives: [] };
  }
  const rivals = possible.map((strategy) => ({
    name: strategy.name,
    candidates: () => rated(strategy.candidates(request), request),
  }));
  const isEmpty = product(request.selection.shape) === 0;
  const asked = isEmpty ? undefined : request.strategy;
  const choice = chooseStrategy(rivals, {
    asked,
    nearly: NEARLY,
    whyEnough: ({ windows, passes }) => (passes ? undefined : whyEnough(request, windows)),
  });
  if (choice) return { ...choice.best, strategy: choice.strategy, alternatives: choice.notTaken };
  throw new ZarrflowError("invalid-option", `the ${asked} strategy does not fit the memory budget`, {
    found: `${request.maxMemory} bytes`,
    hint: "Allow more memory, or let the planner choose the strategy.",
  });
}

function* rated(
  candidates: Iterable<Candidate>,
  request: StrategyRequest,
): Generator<Candidate & { cost: Cost }> {
  const items = product(request.selection.shape);
  const chunksTouched = fewestReads(request);
  for (const sized of candidates) {
    yield {
      ...sized,
      cost: costOf({ ...request, ...sized, items, chunksTouched, tasks: windowCount(request.sides, sized) }),
    };
  }
}

/** Returns the reason why direct windows are good enough; undefined if another strategy may be better. */
function whyEnough(request: StrategyRequest, windows: Windows): string | undefined {
  const visits = windows.chunksRead / Math.max(1, fewestReads(request));
  if (visits > GOOD_ENOUGH || !isBusy(request, windows)) return undefined;
  return `without it source chunks are read ${visits.toFixed(2)} times`;
}

/**
 * True if there is a window for each thread that is worth starting. Always true for remote stores, where tasks
 * mostly wait for responses.
 */
function isBusy(request: StrategyRequest, windows: Windows): boolean {
  const { sides, selection, chunksWritten, threads, profiles } = request;
  if (profiles.source || profiles.target) return true;
  const bytes = product(selection.shape) * itemBytes(sides.source);
  const useful = usefulThreads(fewestReads(request) + chunksWritten, bytes);
  return windowCount(sides, { windows }) >= Math.min(threads, useful);
}

/** Number of tasks that make target chunks, one per window. */
function windowCount({ target }: Sides, { windows }: Pick<Candidate, "windows">): number {
  return product(gridShape(gridShape(target.shape, target.chunkShape), windows.window));
}

/** Number of chunks that contain any selected item. */
function fewestReads({ selection, sides }: StrategyRequest): number {
  return countTouched(selection, sides.source.chunkShape);
}

/** A job without its names and task numbers. Arrays that differ only in name share it. */
export interface JobKind extends Omit<ArrayJob, "path" | "targetPath" | "firstTask" | "passes"> {
  readonly passes?: readonly Omit<ScratchPass, "firstTask">[];
}

export interface JobOfKind extends Pick<ArrayJob, "path" | "targetPath"> {
  readonly kind: JobKind;
}

/** Builds the jobs of arrays, in the order of their tasks, and counts the tasks of each stage. */
export function jobsOfKinds(arrays: readonly JobOfKind[]): {
  readonly jobs: readonly ArrayJob[];
  readonly stages: readonly number[];
} {
  const stages: number[] = [];
  const jobs = arrays.map(({ path, targetPath, kind }): ArrayJob => {
    const { passes, ...rest } = kind;
    const numbered = passes?.map((pass, stage) => ({ ...pass, firstTask: stages[stage] ?? 0 }));
    const firstTask = stages[passes?.length ?? 0] ?? 0;
    for (const [stage, { tasks }] of [...(passes ?? []), kind].entries()) {
      stages[stage] = (stages[stage] ?? 0) + tasks;
    }
    return { path, targetPath, ...rest, ...(numbered && { passes: numbered }), firstTask };
  });
  return { jobs, stages };
}

export function kindOf({
  path: _,
  targetPath: _target,
  firstTask: _first,
  passes,
  ...rest
}: ArrayJob): JobKind {
  return { ...rest, ...(passes && { passes: passes.map(({ firstTask: _, ...pass }) => pass) }) };
}
