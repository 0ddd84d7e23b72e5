import type { ZarrArray } from "../hierarchy/node.ts";
import { groupInPlace, isOpenNode, type OpenSource } from "../hierarchy/open/open.ts";
import {
  assertNotOpening,
  READ_OPTIONS,
  type ReadOptions,
  type SlabOptions,
} from "../hierarchy/read-options.ts";
import { LABEL_OPTIONS, type LabelOptions, type SliceOption } from "../hierarchy/slice-option.ts";
import { gridShape } from "../meta/array-metadata.ts";
import type { SlabPlan } from "../plan/slabs.ts";
import { planSlabs } from "../plan/slabs.ts";
import { countTouched } from "../plan/windows.ts";
import { possibleStrategy } from "../run/scratch/open-scratch.ts";
import { parseScratch } from "../run/scratch/scratch.ts";
import { memoryLimit } from "../streams/byte-budget.ts";
import { throwIfAborted } from "../util/abort.ts";
import { checkedOptions, type OptionNames } from "../util/options.ts";
import { product } from "../util/shape.ts";
import type { TakenItems } from "./request/labels/found-labels.ts";
import { openSource } from "./request/open-source.ts";
import { resolveLabeledSlice } from "./request/slice-indices.ts";
import { sliceConcurrency } from "./request/store-settings.ts";

/** Plan and cost of reading a part of an array in C order. */
export interface SlicePlan extends SlabPlan {
  readonly dataType: string;
  /** Shape of the slice in items; a dimension selected by an index has length 1. */
  readonly shape: readonly number[];
  /**
   * Number of slabs that are made. `slabs()` delivers a slab of a store without blocking calls in parts, each once it is
   * complete.
   */
  readonly slabs: number;
  /** Source chunks that contain selected items. */
  readonly chunksTouched: number;
  /** Chunks read divided by chunks touched: how often each is decoded on average. */
  readonly readAmplification: number;
  readonly maxMemory: number;
  /** Items taken along each dimension that the slice names. */
  readonly taken: readonly TakenItems[];
}

/** Options that affect how a slice is read. */
export interface PlanSliceOptions extends ReadOptions, Omit<SlabOptions, "threads">, LabelOptions {}

const PLAN_SLICE_OPTIONS: OptionNames<PlanSliceOptions> = {
  ...READ_OPTIONS,
  ...LABEL_OPTIONS,
  strategy: true,
  scratch: true,
};

/**
 * Plans how `slice` and `digest` read items in C order.
 *
 * @throws `invalid-selection`; `budget-too-small` with the smallest budget that works.
 */
export async function planSlice(
  source: OpenSource,
  option: SliceOption = {},
  given: PlanSliceOptions = {},
): Promise<SlicePlan> {
  const options = checkedOptions(given, PLAN_SLICE_OPTIONS);
  throwIfAborted(options.signal);
  if (isOpenNode(source)) assertNotOpening(options, "array");
  const { root, close } = await openSource(source, options, { kind: "array" });
  try {
    if (root.kind === "group") throw groupInPlace(root);
    return await planOf(root, option, options);
  } finally {
    await close();
  }
}

async function planOf(array: ZarrArray, option: SliceOption, options: PlanSliceOptions): Promise<SlicePlan> {
  const inner = array.innerChunks();
  const { metadata } = inner;
  const maxMemory = memoryLimit(options);
  const { selection, taken } = await resolveLabeledSlice(option, array, options);
  const { concurrency } = sliceConcurrency(inner, options.concurrency, maxMemory);
  const strategy = possibleStrategy(options.strategy, parseScratch(options.scratch));
  const pipeline = await inner.pipeline();
  const plan = planSlabs({ array: inner, pipeline, selection, maxMemory, concurrency, strategy });
  const touched = countTouched(selection, metadata.chunkGrid.chunkShape);
  return {
    ...plan,
    dataType: array.dataType,
    shape: selection.shape,
    slabs: product(gridShape(selection.shape, plan.slabShape)),
    chunksTouched: touched,
    readAmplification: plan.chunksRead / Math.max(1, touched),
    maxMemory,
    taken,
  };
}
