import type { CodecPipeline } from "../codecs/codec.ts";
import type { ZarrArray } from "../hierarchy/node.ts";
import type { GridStrategy } from "../hierarchy/read-options.ts";
import { gridShape } from "../meta/array-metadata.ts";
import { isFixed } from "../meta/data-type.ts";
import { describeDataType } from "../meta/data-type-name.ts";
import { assertBudget } from "../streams/budget-too-small.ts";
import { largestPooled, pooledSize } from "../streams/buffer-pool.ts";
import { MOST_IN_OBJECT } from "../streams/coalesced-reads.ts";
import { axesOver, type Selection } from "../streams/selection.ts";
import { product } from "../util/shape.ts";
import { bytesInFlight, bytesPerItem, decodedInFlight, gridSide } from "./memory.ts";
import type { ArrayJob, GridSide } from "./plan.ts";
import { stagedWindows } from "./staged-windows.ts";
import { chooseStrategy, type RatedCandidate, rate, type StrategyRequest } from "./strategies.ts";
import { assertCountable } from "./task.ts";
import { chunkVisits, countTouched, readAheadWithin } from "./windows.ts";

/**
 * Reading items in C order is planned like any other change of the grid. The chunks of the target grid are slabs:
 * runs of items in C order, without codecs. Each is the window of one task, so only their shape has to be found.
 */

/** An array at the level of the chunks that are read. */
export type SlabArray = Pick<ZarrArray, "path" | "store" | "metadata" | "layout" | "shards">;

export interface SlabRequest {
  readonly array: SlabArray;
  readonly pipeline: CodecPipeline;
  readonly selection: Selection;
  readonly maxMemory: number;
  readonly concurrency: number;
  /** The only strategy to consider. */
  readonly strategy?: GridStrategy | undefined;
}

/** Plan for reading a selection in C order, slab by slab. */
export interface SlabPlan {
  /** Shape of a slab: whole trailing dimensions, part of one, and single items of those before it. */
  readonly slabShape: readonly number[];
  /** Slabs that are made concurrently in one thread, while the caller uses the previous one. */
  readonly slabsAtOnce: number;
  /**
   * A job with slabs as target chunks, one per task. With passes, chunks are read once and slabs are made of
   * scratch objects.
   */
  readonly job: ArrayJob;
  /** Number of tasks per stage; those of the last stage make slabs. */
  readonly stages: readonly number[];
  /** Source chunks read by all slabs together. A chunk counts once for each slab that touches it. */
  readonly chunksRead: number;
  /** Predicted maximum bytes of all buffers. */
  readonly predictedPeak: number;
}

/** A way to make slabs. */
interface SlabCandidate
  extends RatedCandidate,
    Pick<SlabPlan, "slabShape" | "slabsAtOnce" | "predictedPeak"> {}

/**
 * Direct slabs are accepted without comparison if they decode at most this multiple of the chunks that they touch.
 */
const GOOD_ENOUGH = 1.2;

/**
 * Plans slabs with the strategy of the lowest predicted time.
 *
 * @throws `budget-too-small` with the smallest budget that works; `resource-limit`.
 */
export function planSlabs(request: SlabRequest): SlabPlan {
  const { array, pipeline, selection, maxMemory } = request;
  assertBudget(smallestSlabBudget(array, pipeline), maxMemory, array.path);
  const straight = directSlabs(request);
  const touched = countTouched(selection, array.metadata.chunkGrid.chunkShape);
  const candidates: Record<GridStrategy, () => Iterable<SlabCandidate>> = {
    direct: () => [straight],
    staged: () => stagedSlabs(request),
  };
  const rivals = Object.entries(candidates).map(([name, candidates]) => ({ name, candidates }));
  const choice = chooseStrategy(rivals, {
    asked: request.strategy,
    whyEnough: ({ windows }) =>
      windows.chunksRead <= GOOD_ENOUGH * touched ? "few chunks are read twice" : undefined,
  });
  return slabPlan(request, choice?.strategy ?? "direct", choice?.best ?? straight);
}

/** The smallest budget for reading an array in slabs: one chunk in flight, and slabs of the smallest size. */
export function smallestSlabBudget({ shards }: SlabArray, pipeline: CodecPipeline): number {
  const perChunk = decodedInFlight({ ...pipeline, shardShape: shards?.chunksPerShard });
  return bytesInFlight(perChunk, 1) + 2 * pooledSize(slabItemBytes(pipeline));
}

function slabPlan(request: SlabRequest, strategy: string, chosen: SlabCandidate): SlabPlan {
  const { array, selection } = request;
  const { slabShape, slabsAtOnce, windows, passes, cost, predictedPeak } = chosen;
  const { sides } = windowRequest(request, slabShape);
  const tasks = product(gridShape(selection.shape, slabShape));
  const job: ArrayJob = {
    path: array.path,
    targetPath: array.path,
    dataType: describeDataType(array.metadata.dataType),
    strategy,
    ...sides,
    selection,
    ...windows,
    ...(passes && { passes: passes.map((pass) => ({ ...pass, firstTask: 0 })), cost }),
    firstTask: 0,
    tasks,
    chunksWritten: 0,
    notTaken: [],
  };
  const stages = [...(passes ?? []).map((pass) => pass.tasks), tasks];
  return { slabShape, slabsAtOnce, job, stages, chunksRead: windows.chunksRead, predictedPeak };
}

/** Returns the request for windows of slabs of a given shape. One thread reads chunks and writes none. */
function windowRequest(request: SlabRequest, slabShape: readonly number[]): StrategyRequest {
  const { pipeline, selection, maxMemory, concurrency } = request;
  const source = sourceSide(request);
  const { shardShape: _, decodesParts: __, ...plain } = source;
  const target: GridSide = {
    ...plain,
    shape: selection.shape,
    chunkShape: slabShape,
    codecs: [],
    decodedSize: Math.ceil(product(slabShape) * slabItemBytes(pipeline)),
    maxEncodedSize: 0,
    scratchSize: 0,
    pooledScratchSize: 0,
  };
  return {
    sides: { source, target },
    selection,
    maxMemory,
    concurrency,
    writerBytes: 0,
    collectsShards: false,
    isVariable: !isFixed(pipeline.spec.dataType),
    chunksWritten: 0,
    threads: 1,
    tasksAtOnce: 1,
    profiles: {},
  };
}

function sourceSide({ array: { metadata, shards, layout }, pipeline }: SlabRequest): GridSide {
  const { chunkShape } = metadata.chunkGrid;
  const shardShape = shards && chunkShape.map((n, d) => n * (shards.chunksPerShard[d] ?? 1));
  return gridSide({ zarrFormat: layout.zarrFormat, metadata, chunkShape, shardShape }, pipeline);
}

/** Decoded bytes per item; an estimate for variable-length data. */
function slabItemBytes({ decodedSize, spec }: CodecPipeline): number {
  return bytesPerItem({ decodedSize, chunkShape: spec.shape });
}

/**
 * For stores without synchronous reads, the chunks in flight are spread over this many slabs. The reads of the next
 * slabs then continue while the last chunks of a slab arrive.
 */
const SLABS_IN_FLIGHT = 4;

/**
 * Returns slabs that are read straight from the source, which always fit: with the largest shape that fits, or a
 * smaller one that needs no more reads.
 */
function directSlabs(request: SlabRequest): SlabCandidate {
  const { array, pipeline, selection, maxMemory } = request;
  const source = sourceSide(request);
  const itemSize = slabItemBytes(pipeline);
  const perChunk = decodedInFlight(source);
  const inRemoteObject = array.store.adjacentReads !== undefined;
  const aheadOf = { ...request, sides: { source }, inRemoteObject };
  const inFlight = readAheadWithin(aheadOf, perChunk, maxMemory);
  const left = maxMemory - bytesInFlight(perChunk, inFlight);
  const isWholeInOne = pooledSize(product(selection.shape) * itemSize) <= left;
  const maxItems = Math.floor(largestPooled(isWholeInOne ? left : left / 2) / Math.max(1, itemSize));
  const { slabShape, chunksRead } = bestShape(request, maxItems, smallestSlab(request, inFlight));
  assertCountable({ items: product(selection.shape), chunks: chunksRead }, array.path);
  const slabs = product(gridShape(selection.shape, slabShape));
  const slabBytes = pooledSize(product(slabShape) * itemSize);
  const isAwaited = array.store.getSync === undefined;
  const readAhead = isAwaited ? Math.min(inFlight, Math.ceil(chunksRead / Math.max(1, slabs))) : inFlight;
  const leaseBytes = bytesInFlight(perChunk, readAhead) + slabBytes;
  const inBudget = Math.floor((maxMemory - (slabs > 1 ? slabBytes : 0)) / leaseBytes);
  const wantedAtOnce = isAwaited ? Math.ceil(inFlight / readAhead) + 1 : 1;
  const slabsAtOnce = Math.max(1, Math.min(slabs, inBudget, wantedAtOnce));
  const window = slabShape.map(() => 1);
  const windows = { window, readAhead, leaseBytes, expectedBytes: leaseBytes, chunksRead };
  return {
    ...rate({ windows }, windowRequest(request, slabShape)),
    slabShape,
    slabsAtOnce,
    predictedPeak: slabsAtOnce * leaseBytes + (slabs > slabsAtOnce ? slabBytes : 0),
  };
}

/** Lower bounds of a slab's size, unless the budget requires less. */
interface SmallestSlab {
  readonly bytes: number;
  readonly chunks: number;
}

/** @param inFlight chunks that are read concurrently */
function smallestSlab({ array: { store } }: SlabRequest, inFlight: number): SmallestSlab {
  if (store.adjacentReads) return { bytes: 2 ** 20, chunks: MOST_IN_OBJECT };
  if (store.getSync === undefined) return { bytes: 2 ** 16, chunks: inFlight / SLABS_IN_FLIGHT };
  return { bytes: 2 ** 20, chunks: 2 * inFlight };
}

/** Finds the smallest slab that needs no more reads than the largest. Small slabs reuse memory better. */
function bestShape(
  { array, pipeline, selection }: SlabRequest,
  maxItems: number,
  smallest: SmallestSlab,
): Pick<SlabPlan, "slabShape" | "chunksRead"> {
  const { chunkShape } = array.metadata.chunkGrid;
  const axes = axesOver(selection, chunkShape);
  const measured = (items: number) => {
    const slabShape = largestSlab(selection, chunkShape, items);
    return { slabShape, chunksRead: product(axes.map((axis, d) => chunkVisits(axis, slabShape[d] ?? 1))) };
  };
  const largest = measured(maxItems);
  const itemSize = Math.max(1, slabItemBytes(pipeline));
  for (let items = Math.ceil(smallest.bytes / itemSize); items < maxItems; items *= 2) {
    const smaller = measured(items);
    const slabs = product(gridShape(selection.shape, smaller.slabShape));
    if (smaller.chunksRead === largest.chunksRead && smaller.chunksRead >= slabs * smallest.chunks)
      return smaller;
  }
  return largest;
}

/**
 * Returns the largest C-order slab of at most `maxItems`. A slab of more than one source chunk ends at a chunk
 * border.
 */
export function largestSlab(
  { shape, step }: Selection,
  chunkShape: readonly number[],
  maxItems: number,
): number[] {
  const slab = shape.map(() => 1);
  let items = Math.max(1, maxItems);
  for (let d = shape.length - 1; d >= 0; d--) {
    const n = Math.max(1, shape[d] ?? 1);
    const fits = Math.min(n, items);
    const chunk = Math.max(1, Math.floor((chunkShape[d] ?? 1) / (step[d] ?? 1)));
    slab[d] = fits < n && fits > chunk ? fits - (fits % chunk) : fits;
    if (fits < n) break;
    items = Math.floor(items / n);
    if (items <= 1) break;
  }
  return slab;
}

/** Fractions of the budget, as divisors, to try for a slab made of scratch objects. */
const SLABS_IN_BUDGET = [5, 12, 30];

/** Yields ways to make slabs of scratch objects that fit the budget. */
function* stagedSlabs(request: SlabRequest): Generator<SlabCandidate> {
  const { array, pipeline, selection, maxMemory } = request;
  for (const parts of SLABS_IN_BUDGET) {
    const maxItems = Math.floor(largestPooled(maxMemory / parts) / Math.max(1, slabItemBytes(pipeline)));
    const slabShape = largestSlab(selection, array.metadata.chunkGrid.chunkShape, maxItems);
    const search = windowRequest(request, slabShape);
    const slabBytes = pooledSize(search.sides.target.decodedSize);
    // The caller uses one slab while the next is made.
    const within = { ...search, maxMemory: maxMemory - slabBytes, volume: slabBytes };
    for (const candidate of stagedWindows(within)) {
      const { passes, windows } = candidate;
      const leases = [...passes.map((pass) => pass.leaseBytes), windows.leaseBytes + slabBytes];
      yield {
        ...rate(candidate, search),
        slabShape,
        slabsAtOnce: 1,
        predictedPeak: Math.max(...leases),
      };
    }
  }
}
