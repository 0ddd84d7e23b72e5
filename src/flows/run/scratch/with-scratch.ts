import type { Plan } from "../../plan/plan.ts";
import { openScratch } from "./open-scratch.ts";
import type { OpenScratchOptions, Scratch } from "./scratch.ts";

export interface WithScratchOptions extends Pick<OpenScratchOptions, "keptBy" | "left" | "joint"> {
  /** Returns true if the scratch objects are kept after this failure. */
  readonly isKept: (error: unknown) => boolean;
}

/**
 * Runs a callback with a place for the scratch objects of a plan, if it needs one, and removes that place afterwards.
 * After a failure it is kept if a later run can use it.
 *
 * @throws what `run` throws; as `openScratch`.
 */
export async function withScratch(
  plan: Plan,
  { isKept, ...options }: WithScratchOptions,
  run: (scratch?: Scratch) => Promise<void>,
): Promise<void> {
  if (plan.stages.length < 2) return run();
  const scratch = await openScratch({ place: plan.scratch, bytes: plan.totals.scratchBytes, ...options });
  try {
    await run(scratch);
  } catch (error) {
    await (isKept(error) ? scratch.keep() : scratch.remove()).catch(() => {});
    throw error;
  }
  await scratch.remove();
}
