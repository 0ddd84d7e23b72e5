import type { CodecPipeline } from "../codecs/codec.ts";
import { type ArrayMetadata, type CodecConfig, gridShape, type ZarrFormat } from "../meta/array-metadata.ts";
import { costClassOf, decodesParts } from "../meta/codec-traits.ts";
import { describeDataType } from "../meta/describe.ts";
import type { Store } from "../stores/store.ts";
import type { ChunkSizes } from "../streams/chunk.ts";
import type { Selection } from "../streams/selection.ts";
import { toPlain } from "../util/json-value.ts";
import { product } from "../util/shape.ts";
import { costOf } from "./costs.ts";
import { itemBytes, type Sides } from "./memory.ts";
import type { ArrayJob, Cost, GridSide, PlannedCodec } from "./plan.ts";
import { countTouched } from "./windows.ts";

/** An array at the level of the chunks that are read. */
export interface SlabArray {
  readonly path: string;
  readonly store?: Pick<Store, "neighbours" | "getSync">;
  readonly metadata: ArrayMetadata;
  readonly layout: { readonly zarrFormat: ZarrFormat };
  readonly shards?: { readonly chunksPerShard: readonly number[] } | undefined;
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

export interface SlabRequest {
  readonly array: SlabArray;
  readonly pipeline: CodecPipeline;
  readonly selection: Selection;
  readonly maxMemory: number;
  readonly concurrency: number;
}

/** A way to make slabs, and its predicted cost. */
export interface SlabCandidate {
  readonly plan: SlabPlan;
  readonly cost: Cost;
}

/** The parts of a slab job that a strategy decides. */
type SlabSplit = Pick<ArrayJob, "strategy" | "readAhead" | "leaseBytes" | "expectedBytes" | "chunksRead"> &
  Pick<ArrayJob, "passes" | "cost">;

/** Builds a job with slabs as target chunks. @param sides the array, and the slabs of its selection */
export function slabJob(
  { array, selection }: SlabRequest,
  sides: Sides,
  split: SlabSplit,
): Pick<SlabPlan, "job" | "stages"> {
  const { shape, chunkShape } = sides.target;
  const tasks = product(gridShape(shape, chunkShape));
  const job: ArrayJob = {
    path: array.path,
    targetPath: array.path,
    dataType: describeDataType(array.metadata.dataType),
    ...sides,
    selection,
    window: shape.map(() => 1),
    ...split,
    firstTask: 0,
    tasks,
    chunksWritten: 0,
    notTaken: [],
  };
  return { job, stages: [...(split.passes ?? []).map((pass) => pass.tasks), tasks] };
}

/** Decoded bytes per item; an estimate for variable-length data. */
export function slabItemBytes({ decodedSize, spec }: CodecPipeline): number {
  return decodedSize / Math.max(1, product(spec.shape));
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

/** A request for slabs of a given shape. */
export interface ShapedSlabs extends SlabRequest {
  readonly slabShape: readonly number[];
}

/** Predicts the cost of reading slabs straight from the source, which reads `chunksRead` chunks. */
export function costOfSlabs(request: ShapedSlabs, chunksRead: number): Cost {
  const tasks = product(gridShape(request.selection.shape, request.slabShape));
  const memory = { leaseBytes: request.maxMemory, expectedBytes: request.maxMemory };
  const windows = { window: [], readAhead: 1, ...memory, chunksRead };
  return costOf({ ...slabCostRequest(request), windows, tasks });
}

/** Builds the cost request for slabs: one thread that reads chunks and writes none. */
export function slabCostRequest({
  array,
  pipeline,
  selection,
  slabShape,
  maxMemory,
  concurrency,
}: ShapedSlabs) {
  const { metadata, shards, layout } = array;
  const { chunkShape } = metadata.chunkGrid;
  const shardShape = shards && chunkShape.map((n, d) => n * (shards.chunksPerShard[d] ?? 1));
  const source = gridSide({ zarrFormat: layout.zarrFormat, metadata, chunkShape, shardShape }, pipeline);
  const { shardShape: _, decodesParts: __, ...plain } = source;
  const target: GridSide = {
    ...plain,
    shape: selection.shape,
    chunkShape: slabShape,
    codecs: [],
    decodedSize: Math.ceil(product(slabShape) * itemBytes(source)),
    maxEncodedSize: 0,
    scratchSize: 0,
    pooledScratchSize: 0,
  };
  const threads = { maxMemory, tasksAtOnce: 1, threads: 1, concurrency, profiles: {} };
  const chunksTouched = countTouched(selection, chunkShape);
  const items = product(selection.shape);
  return { sides: { source, target }, items, chunksTouched, chunksWritten: 0, ...threads };
}

export type SideSizes = ChunkSizes & Pick<GridSide, "pooledScratchSize">;

/** An array at the level of the chunks that are read or written. */
export interface SideArray {
  readonly zarrFormat: ZarrFormat;
  readonly metadata: ArrayMetadata;
  readonly chunkShape: readonly number[];
  readonly shardShape?: readonly number[] | undefined;
}

export function gridSide(
  { zarrFormat, metadata, chunkShape, shardShape }: SideArray,
  { decodedSize, maxEncodedSize, scratchSize, pooledScratchSize }: SideSizes,
): GridSide {
  return {
    zarrFormat,
    chunkKeyEncoding: metadata.chunkKeyEncoding,
    shape: metadata.shape,
    chunkShape,
    ...(shardShape && { shardShape }),
    codecs: metadata.codecs.map(plannedCodec),
    ...(decodesParts(metadata.codecs) && { decodesParts: true }),
    decodedSize,
    maxEncodedSize,
    scratchSize,
    pooledScratchSize,
  };
}

function plannedCodec(codec: CodecConfig): PlannedCodec {
  const configuration = JSON.parse(JSON.stringify(toPlain(codec.configuration), withoutBigints));
  return { name: codec.name, configuration, costClass: costClassOf(codec) };
}

/** Converts bigints to numbers, as a plan is JSON. */
function withoutBigints(_: string, value: unknown): unknown {
  return typeof value === "bigint" ? Number(value) : value;
}
