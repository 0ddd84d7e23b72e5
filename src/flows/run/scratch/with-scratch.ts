import type { Plan } from "../../plan/plan.ts";
import { openScratch } from "./open-scratch.ts";
import type { Scratch } from "./scratch.ts";

/**
 * Runs what needs a place for the scratch objects of a plan, if there are any, and removes that place whatever comes of
 * it.
 *
 * @throws what `run` throws; as `openScratch`.
 */
export async function withScratch(plan: Plan, run: (scratch?: Scratch) => Promise<void>): Promise<void> {
  if (plan.stages.length < 2) return run();
  const scratch = await openScratch({ place: plan.scratch, bytes: plan.totals.scratchBytes });
  try {
    await run(scratch);
  } catch (error) {
    await scratch.remove().catch(() => {});
    throw error;
  }
  await scratch.remove();
}
