import { gridShape } from "../../meta/array-metadata.ts";
import { buildMemory, MAX_S3_PARTS, readerMemory } from "../../stores/store-memory.ts";
import { product } from "../../util/shape.ts";
import type { GridSide, Plan } from "./plan.ts";

/** The part of the budget that may be held for a target while it is built. */
const MAX_HELD = 1 / 8;

/**
 * Bytes that the values of a target are expected to have: all chunks of its arrays, decoded, which is seldom too few. Of
 * an array that is mostly fill value it may be far too many: no more than what parts within `maxMemory` could hold.
 */
export function expectedSize(sides: readonly { readonly target: GridSide }[], maxMemory: number): number {
  const chunks = ({ shape, chunkShape }: GridSide) => product(gridShape(shape, chunkShape));
  const decoded = sides.reduce((sum, { target }) => sum + chunks(target) * target.decodedSize, 0);
  return Math.min(decoded, maxMemory * MAX_HELD * MAX_S3_PARTS);
}

/** Bytes of the budget that the two stores hold from begin to end, so that tasks cannot have them. */
export function storeReservedBytes(
  { source, target }: Pick<Plan, "source" | "target">,
  sides: Parameters<typeof expectedSize>[0],
  maxMemory: number,
): number {
  return readerMemory(source.store) + targetMemory(target, sides, maxMemory);
}

/** Bytes of the budget that a target holds from begin to end. */
export function targetMemory(
  target: Plan["target"],
  sides: Parameters<typeof expectedSize>[0],
  maxMemory: number,
): number {
  return buildMemory(target.store, expectedSize(sides, maxMemory), maxMemory * MAX_HELD);
}

/** Bytes of the budget that are left to tasks. */
export function memoryForTasks(plan: Pick<Plan, "source" | "target" | "jobs" | "budget">): number {
  const { maxMemory } = plan.budget;
  return maxMemory - storeReservedBytes(plan, plan.jobs, maxMemory);
}
