import type { CodecPipeline } from "../../codecs/codec.ts";
import { gridShape } from "../../meta/array-metadata.ts";
import { largestPooled, pooledSize } from "../../streams/buffer-pool.ts";
import type { Selection } from "../../streams/selection.ts";
import { product } from "../../util/shape.ts";
import { assertCountable } from "./assert-countable.ts";
import { chooseStrategy, type Rival } from "./choose-strategy.ts";
import { axesOver, chunkVisits, countTouched } from "./chunk-visits.ts";
import type { Cost, GridStrategy } from "./plan.ts";
import { costOfSlabs, type StagedSlabs, type StagedSlabsRequest, stagedSlabs } from "./staged-slabs.ts";
import { assertBudget, chunksPerRequest, codingBytes } from "./task-memory.ts";

/** How a selection is read in C order: slabs, one after the other, each of the largest shape that fits. */
export interface SlabPlan {
  /** Shape of a slab: whole trailing dimensions, a part of one, single items of those before it. */
  readonly slabShape: readonly number[];
  /** Slabs held at one time: the one that is taken and, where there are several, the one being read. */
  readonly slabsHeld: 1 | 2;
  /** Source chunks in flight. */
  readonly readAhead: number;
  /** Bytes that one source chunk in flight may hold. */
  readonly bytesPerChunk: number;
  /** Source chunks read by all slabs together: one that several slabs touch counts for each. */
  readonly chunksRead: number;
  /** Bytes that all buffers may take at one time. */
  readonly predictedPeak: number;
  /** Where chunks are read once, and slabs made by way of scratch objects. */
  readonly staged?: StagedSlabs;
}

export interface SlabRequest {
  /** The array by the chunks that are read of it. */
  readonly array: StagedSlabsRequest["array"];
  readonly pipeline: CodecPipeline;
  readonly selection: Selection;
  readonly maxMemory: number;
  readonly io: number;
  /** The only strategy that is wanted; the cheaper one by default. */
  readonly strategy?: GridStrategy | undefined;
}

/** Where slabs decode no more than this times the chunks that they touch, nothing else is tried. */
const GOOD_ENOUGH = 1.2;
/** Smaller slabs are not made without need, nor those of fewer chunks than so many times what is read at one time. */
const MIN_SLAB = 2 ** 20;
const CHUNKS_AHEAD = 2;
/** The parts of the budget that are tried for a slab that is made of scratch objects. */
const SLABS_IN_BUDGET = [5, 12, 30];

/**
 * Slabs that are read straight from the source; or by way of scratch objects, where that takes less time.
 *
 * @throws `budget-too-small` with the smallest budget that works; `resource-limit`.
 */
export function planSlabs(request: SlabRequest): SlabPlan {
  const { selection, array, strategy } = request;
  const direct = planDirect(request);
  if (product(selection.shape) === 0) return direct;
  const touched = countTouched(selection, array.metadata.chunkGrid.chunkShape);
  const cost = costOfSlabs({ ...request, slabShape: direct.slabShape }, direct.chunksRead);
  const rivals: Rival<RatedSlabs>[] = [
    { name: "direct", candidates: () => [{ plan: direct, cost }] },
    { name: "staged", candidates: () => stagedCandidates(request) },
  ];
  const choice = chooseStrategy(rivals, {
    asked: strategy,
    whyEnough: ({ plan: { staged, chunksRead } }) =>
      staged === undefined && chunksRead <= GOOD_ENOUGH * touched ? "few chunks are read twice" : undefined,
  });
  return choice?.best.plan ?? direct;
}

/** A way to make slabs, and what it is predicted to take. */
interface RatedSlabs {
  readonly plan: SlabPlan;
  readonly cost: Cost;
}

function* stagedCandidates(request: SlabRequest): Generator<RatedSlabs> {
  const { pipeline, selection, array, maxMemory } = request;
  for (const parts of SLABS_IN_BUDGET) {
    const maxItems = Math.floor(largestPooled(maxMemory / parts) / Math.max(1, itemBytes(pipeline)));
    const slabShape = largestSlab(selection, array.metadata.chunkGrid.chunkShape, maxItems);
    for (const staged of stagedSlabs({ ...request, slabShape })) {
      const { passes = [], leaseBytes, readAhead, chunksRead, target } = staged.job;
      const slabs = leaseBytes + pooledSize(target.decodedSize);
      const plan = {
        slabShape,
        slabsHeld: 2 as const,
        readAhead,
        bytesPerChunk: staged.bytesPerPiece,
        chunksRead,
        predictedPeak: passes.reduce((most, pass) => Math.max(most, pass.leaseBytes), slabs),
        staged,
      };
      yield { plan, cost: staged.cost };
    }
  }
}

function planDirect(request: SlabRequest): SlabPlan {
  const { array, pipeline, selection, maxMemory, io } = request;
  const { chunkShape } = array.metadata.chunkGrid;
  const itemSize = itemBytes(pipeline);
  const bytesPerChunk = codingBytes(pipeline);
  assertBudget(smallestSlabBudget(pipeline), maxMemory, array.path);

  const wanted = io * chunksPerRequest(pipeline, array.shards !== undefined);
  const readAhead = Math.max(1, Math.min(wanted, Math.floor(maxMemory / 4 / bytesPerChunk)));
  const left = maxMemory - readAhead * bytesPerChunk;
  const whole = product(selection.shape) * itemSize;
  const most = pooledSize(whole) <= left ? left : left / 2;
  const maxItems = Math.floor(largestPooled(most) / Math.max(1, itemSize));
  const { slabShape, chunksRead } = bestSlab(selection, chunkShape, { maxItems, itemSize, readAhead });
  const slabsHeld = product(slabShape) < product(selection.shape) ? 2 : 1;
  assertCountable({ items: product(selection.shape), chunks: chunksRead }, array.path);
  return {
    slabShape,
    slabsHeld,
    readAhead,
    bytesPerChunk,
    chunksRead,
    predictedPeak: readAhead * bytesPerChunk + slabsHeld * pooledSize(product(slabShape) * itemSize),
  };
}

/** The smallest of the slabs for which no chunk is read more often than for the largest: their memory is used again. */
function bestSlab(
  selection: Selection,
  chunkShape: readonly number[],
  { maxItems, itemSize, readAhead }: { maxItems: number; itemSize: number; readAhead: number },
): Pick<SlabPlan, "slabShape" | "chunksRead"> {
  const measured = (items: number) => {
    const slabShape = largestSlab(selection, chunkShape, items);
    return { slabShape, chunksRead: countReads(selection, chunkShape, slabShape) };
  };
  const largest = measured(maxItems);
  const slabs = (slabShape: readonly number[]) => product(gridShape(selection.shape, slabShape));
  for (let items = Math.ceil(MIN_SLAB / Math.max(1, itemSize)); items < maxItems; items *= 2) {
    const smaller = measured(items);
    const isWorthwhile = smaller.chunksRead >= slabs(smaller.slabShape) * CHUNKS_AHEAD * readAhead;
    if (smaller.chunksRead === largest.chunksRead && isWorthwhile) return smaller;
  }
  return largest;
}

/** The smallest budget within which an array can be read in slabs: one chunk in flight, and the smallest slabs. */
export function smallestSlabBudget(pipeline: CodecPipeline): number {
  return codingBytes(pipeline) + 2 * pooledSize(itemBytes(pipeline));
}

function itemBytes({ decodedSize, spec }: CodecPipeline): number {
  return decodedSize / Math.max(1, product(spec.shape));
}

/** The largest C-order slab of at most `maxItems`, cut between source chunks where it holds more than one. */
function largestSlab({ shape, step }: Selection, chunkShape: readonly number[], maxItems: number): number[] {
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

function countReads(selection: Selection, chunkShape: readonly number[], slab: readonly number[]) {
  return product(axesOver(selection, chunkShape).map((axis, d) => chunkVisits(axis, slab[d] ?? 1)));
}
