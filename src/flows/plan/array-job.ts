import { createPipeline } from "../../codecs/chain/pipeline.ts";
import { chunkSpecOf } from "../../codecs/chunk-spec.ts";
import type { CodecPipeline } from "../../codecs/codec.ts";
import type { GridStrategy } from "../../hierarchy/read-options.ts";
import { type ArrayMetadata, gridShape, type ZarrFormat } from "../../meta/array-metadata.ts";
import { expectedItemSize, isFixed } from "../../meta/data-type.ts";
import { describeDataType } from "../../meta/describe.ts";
import { byInnermost, withinShards } from "../../meta/inner-array.ts";
import { pooledSize } from "../../streams/pooled-size.ts";
import type { Selection } from "../../streams/selection.ts";
import { isZarrflowError, ZarrflowError } from "../../util/errors.ts";
import { product } from "../../util/shape.ts";
import { assertCountable } from "./assert-countable.ts";
import { cheapestCandidate } from "./cheapest-candidate.ts";
import { gridSide, type SideSizes } from "./grid-side.ts";
import type { JobKind } from "./jobs-of-kinds.ts";
import type { Alternative, Driver, GridSide, PlannedConversion } from "./plan.ts";
import type { StoreProfiles } from "./store-profile.ts";
import { strategies } from "./strategies/strategies.ts";
import { type Arrays, type MissingChunks, mayMiss, type Strategy } from "./strategies/strategy.ts";
import type { Sides } from "./task-memory.ts";

/** An array of the source or the target, as far as planning needs it. */
export interface PlannedArray {
  readonly path: string;
  readonly zarrFormat: ZarrFormat;
  readonly metadata: ArrayMetadata;
}

export interface JobRequest {
  readonly source: PlannedArray;
  readonly target: PlannedArray;
  readonly selection: Selection;
  /** Given where the values of the source are converted as they are read. */
  readonly conversion?: PlannedConversion | undefined;
  readonly maxMemory: number;
  readonly concurrency: number;
  /** Bytes that a writer of the target's store holds while it is open. */
  readonly writerBytes: number;
  /** Whether the keys of verbatim arrays are copied as they are, so that these have no tasks. */
  readonly keysToCopy: boolean;
  /** Threads that run tasks, and tasks that run at one time. */
  readonly threads: number;
  readonly tasksAtOnce: number;
  readonly driver: Driver;
  readonly profiles: StoreProfiles;
  /** The strategy where the grid changes; the cheaper one by default. */
  readonly strategy?: GridStrategy | undefined;
  /** Given where the target has another fill value: chunks that are written out with the source's. */
  readonly missing?: MissingChunks | undefined;
}

/** How one array will be moved, before its tasks are given their size. */
export interface JobChoice {
  /** Those that can make the target: one that keeps the grid, or several that change it. */
  readonly possible: readonly Strategy[];
  /** Why the others cannot. */
  readonly notTaken: readonly Alternative[];
  readonly sides: Sides;
  /** Whether a shard of the target can be stored only when all of it is known. */
  readonly collectsShards: boolean;
  /** The smallest budget within which it can be done. */
  readonly leastBytes: number;
}

/**
 * Chooses the cheapest strategy for one array.
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
 * How a choice that fits the budget is carried out, its tasks as large as serves and the budget lets them.
 *
 * @throws `resource-limit` for more chunks or items than one run goes through.
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

/** Whether the keys of the array are copied as they are. */
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

/** @param chunks the array by the chunks that are read or written of it. */
function sideOf({ zarrFormat, metadata }: PlannedArray, chunks: ArrayMetadata, sizes: SideSizes): GridSide {
  const { chunkShape } = chunks.chunkGrid;
  const shardShape = chunks === metadata ? undefined : metadata.chunkGrid.chunkShape;
  return gridSide({ zarrFormat, metadata, chunkShape, shardShape }, sizes);
}

/** What stored chunks may weigh that nobody decodes: their codecs need not be known. */
function storedSizes(metadata: ArrayMetadata): SideSizes {
  const { chunkGrid, dataType } = metadata;
  const items = product(chunkGrid.chunkShape);
  const decodedSize = items * expectedItemSize(dataType);
  const innerChunks = items / product(byInnermost(metadata).chunkGrid.chunkShape);
  const around = innerChunks > 1 ? innerChunks * INNER_CHUNK_OVERHEAD : 0;
  const maxEncodedSize = Math.ceil(decodedSize * 1.05) + 1024 + around;
  return { decodedSize, maxEncodedSize, scratchSize: 0, pooledScratchSize: 0 };
}

/** Bytes of a shard's index, and of what codecs put around the data, for each of its chunks. */
const INNER_CHUNK_OVERHEAD = 64;

/**
 * Same grid and codecs: bytes pass untouched. Same grid: chunk by chunk. Else through windows. Chunks in shards are
 * moved one by one, but where whole shards can stay as they are.
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

/** The first strategy that keeps the grid and can make the target; else all that change it. */
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

/** @throws `invalid-option` for a codec that was asked for and cannot be made. */
async function targetPipeline(chunks: ArrayMetadata, { source, target }: JobRequest): Promise<CodecPipeline> {
  try {
    return await createPipeline(chunks.codecs, chunkSpecOf(chunks), { isWritten: true });
  } catch (error) {
    const asked = target.metadata.codecs !== source.metadata.codecs;
    if (!asked || !isZarrflowError(error, "invalid-metadata")) throw error;
    throw new ZarrflowError("invalid-option", error.reason, error.details, { cause: error });
  }
}
