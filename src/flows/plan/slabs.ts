import type { CodecPipeline } from "../../codecs/codec.ts";
import { type ArrayMetadata, gridShape, type ZarrFormat } from "../../meta/array-metadata.ts";
import { describeDataType } from "../../meta/describe.ts";
import type { Store } from "../../stores/store.ts";
import type { Selection } from "../../streams/selection.ts";
import { product } from "../../util/shape.ts";
import type { ArrayJob, Cost } from "./plan.ts";
import type { Sides } from "./task-memory.ts";

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
