import type { CodecPipeline } from "../../codecs/codec.ts";
import { type ArrayMetadata, gridShape, type ZarrFormat } from "../../meta/array-metadata.ts";
import { describeDataType } from "../../meta/describe.ts";
import type { Store } from "../../stores/store.ts";
import type { Selection } from "../../streams/selection.ts";
import { product } from "../../util/shape.ts";
import type { ArrayJob, Cost } from "./plan.ts";
import type { Sides } from "./task-memory.ts";

/** An array by the chunks that are read of it. */
export interface SlabArray {
  readonly path: string;
  readonly store?: Pick<Store, "neighbours" | "getSync">;
  readonly metadata: ArrayMetadata;
  readonly layout: { readonly zarrFormat: ZarrFormat };
  readonly shards?: { readonly chunksPerShard: readonly number[] } | undefined;
}

/** How a selection is read in C order: slabs, one after the other, each of the largest shape that fits. */
export interface SlabPlan {
  /** Shape of a slab: whole trailing dimensions, a part of one, single items of those before it. */
  readonly slabShape: readonly number[];
  /** Slabs that one thread makes at one time, while the one before is taken. */
  readonly slabsAtOnce: number;
  /** The slabs as target chunks: a task makes one. With passes, chunks are read once, and slabs made of scratch objects. */
  readonly job: ArrayJob;
  /** Tasks of each stage; those of the last make slabs. */
  readonly stages: readonly number[];
  /** Source chunks read by all slabs together: one that several slabs touch counts for each. */
  readonly chunksRead: number;
  /** Bytes that all buffers may take at one time. */
  readonly predictedPeak: number;
}

export interface SlabRequest {
  readonly array: SlabArray;
  readonly pipeline: CodecPipeline;
  readonly selection: Selection;
  readonly maxMemory: number;
  readonly concurrency: number;
}

/** A way to make slabs, and what it is predicted to take. */
export interface SlabCandidate {
  readonly plan: SlabPlan;
  readonly cost: Cost;
}

/** What a strategy decides of a job of slabs. */
type SlabSplit = Pick<ArrayJob, "strategy" | "readAhead" | "leaseBytes" | "expectedBytes" | "chunksRead"> &
  Pick<ArrayJob, "passes" | "cost">;

/** A job whose target chunks are slabs. @param sides the array, and the slabs of its selection */
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

/** Decoded bytes of an item; of variable data an estimate. */
export function slabItemBytes({ decodedSize, spec }: CodecPipeline): number {
  return decodedSize / Math.max(1, product(spec.shape));
}

/** The largest C-order slab of at most `maxItems`, cut between source chunks where it holds more than one. */
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
