import { gridShape } from "../../meta/array-metadata.ts";
import { buildMemory, MAX_S3_PARTS, readerMemory } from "../../stores/store-memory.ts";
import { product } from "../../util/shape.ts";
import type { GridSide, Plan } from "./plan.ts";

/** The fraction of the budget that an open target may hold. */
const MAX_HELD = 1 / 8;

/**
 * Estimates the size of a target's values: all chunks of its arrays, decoded, which is rarely too low. It may be
 * far too high for an array of mostly fill values, so it is limited to an S3 upload whose parts fit the budget.
 */
export function expectedSize(sides: readonly { readonly target: GridSide }[], maxMemory: number): number {
  const chunks = ({ shape, chunkShape }: GridSide) => product(gridShape(shape, chunkShape));
  const decoded = sides.reduce((sum, { target }) => sum + chunks(target) * target.decodedSize, 0);
  return Math.min(decoded, maxMemory * MAX_HELD * MAX_S3_PARTS);
}

/** Bytes of the budget that both stores hold during the whole run, and tasks cannot use. */
export function storeReservedBytes(
  { source, target }: Pick<Plan, "source" | "target">,
  sides: Parameters<typeof expectedSize>[0],
  maxMemory: number,
): number {
  return readerMemory(source.store) + targetMemory(target, sides, maxMemory);
}

/** Bytes of the budget that a target holds during the whole run. */
export function targetMemory(
  target: Plan["target"],
  sides: Parameters<typeof expectedSize>[0],
  maxMemory: number,
): number {
  return buildMemory(target.store, expectedSize(sides, maxMemory), maxMemory * MAX_HELD);
}

/** Bytes of the budget that are left for tasks. */
export function memoryForTasks(plan: Pick<Plan, "source" | "target" | "jobs" | "budget">): number {
  const { maxMemory } = plan.budget;
  return maxMemory - storeReservedBytes(plan, plan.jobs, maxMemory);
}
