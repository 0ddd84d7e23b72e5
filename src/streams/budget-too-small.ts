import { ZarrflowError } from "../util/errors.ts";
import { formatEnoughBytes } from "../util/units.ts";

/** Below this number of bytes, the error assumes that the unit was forgotten. */
const MIN_PLAUSIBLE = 1000;

/**
 * Checks that a plan fits the memory budget.
 *
 * @throws `budget-too-small` naming the smallest budget that works.
 */
export function assertBudget(needed: number, maxMemory: number, path: string, wayOut?: string): void {
  if (needed > maxMemory) throw budgetTooSmall(needed, maxMemory, path, wayOut);
}

/** The error for a budget that no plan fits; it names the smallest budget that works. */
export function budgetTooSmall(
  needed: number,
  maxMemory: number,
  path: string,
  wayOut = "choose smaller chunks",
): ZarrflowError {
  return new ZarrflowError("budget-too-small", "no plan fits the memory budget", {
    path,
    neededBytes: needed,
    expected: `a budget of at least ${needed} bytes (${formatEnoughBytes(needed)})`,
    found: `${maxMemory} bytes`,
    hint:
      maxMemory < MIN_PLAUSIBLE
        ? `Sizes without a unit are in bytes. Did you mean ${maxMemory}MB?`
        : `Allow at least ${formatEnoughBytes(needed)}, or ${wayOut}.`,
  });
}
