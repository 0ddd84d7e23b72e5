import type { GridStrategy } from "../../hierarchy/read-options.ts";
import { gridShape } from "../../meta/array-metadata.ts";
import { ZarrflowError } from "../../util/errors.ts";
import { product } from "../../util/shape.ts";
import { chooseStrategy } from "./choose-strategy.ts";
import { countTouched } from "./chunk-visits.ts";
import { costOf } from "./costs.ts";
import { usefulThreads } from "./execution.ts";
import type { Alternative, ArrayJob, Cost } from "./plan.ts";
import type { Candidate, Strategy, StrategyRequest } from "./strategies/strategy.ts";
import { itemBytes, type Sides } from "./task-memory.ts";
import type { Windows } from "./windows.ts";

/**
 * Direct windows are accepted without comparison if they decode at most this multiple of the fewest possible
 * chunks, and give work to every thread.
 */
const GOOD_ENOUGH = 1.05;
/** Candidates within this multiple of the lowest cost count as equal; the one with less memory is taken. */
const NEARLY = 1.1;

/**
 * Returns the candidate of the only possible strategy, or the one with the lowest predicted time.
 *
 * @param request.strategy the only strategy to consider
 * @throws `invalid-option` if this strategy does not fit the budget.
 */
export function cheapestCandidate(
  possible: readonly Strategy[],
  request: StrategyRequest & { readonly strategy?: GridStrategy | undefined },
): Candidate & Pick<ArrayJob, "strategy" | "cost"> & { readonly alternatives: readonly Alternative[] } {
  const [first] = possible;
  const alone = first?.changesGrid === false ? [...first.candidates(request)][0] : undefined;
  if (first && alone) {
    const [candidate = alone] = first.decodes ? rated([alone], request) : [];
    return { ...candidate, strategy: first.name, alternatives: [] };
  }
  const rivals = possible.map((strategy) => ({
    name: strategy.name,
    candidates: () => rated(strategy.candidates(request), request),
  }));
  const isEmpty = product(request.selection.shape) === 0;
  const asked = isEmpty ? undefined : request.strategy;
  const choice = chooseStrategy(rivals, {
    asked,
    nearly: NEARLY,
    whyEnough: ({ windows, passes }) => (passes ? undefined : whyEnough(request, windows)),
  });
  if (choice) return { ...choice.best, strategy: choice.strategy, alternatives: choice.notTaken };
  throw new ZarrflowError("invalid-option", `the ${asked} strategy does not fit the memory budget`, {
    found: `${request.maxMemory} bytes`,
    hint: "Allow more memory, or let the planner choose the strategy.",
  });
}

function* rated(
  candidates: Iterable<Candidate>,
  request: StrategyRequest,
): Generator<Candidate & { cost: Cost }> {
  const items = product(request.selection.shape);
  const chunksTouched = fewestReads(request);
  for (const sized of candidates) {
    yield {
      ...sized,
      cost: costOf({ ...request, ...sized, items, chunksTouched, tasks: windowCount(request.sides, sized) }),
    };
  }
}

/** Returns the reason why direct windows are good enough; undefined if another strategy may be better. */
function whyEnough(request: StrategyRequest, windows: Windows): string | undefined {
  const visits = windows.chunksRead / Math.max(1, fewestReads(request));
  if (visits > GOOD_ENOUGH || !isBusy(request, windows)) return undefined;
  return `without it source chunks are read ${visits.toFixed(2)} times`;
}

/**
 * True if there is a window for each thread that is worth starting. Always true for remote stores, where tasks
 * mostly wait for responses.
 */
function isBusy(request: StrategyRequest, windows: Windows): boolean {
  const { sides, selection, chunksWritten, threads, profiles } = request;
  if (profiles.source || profiles.target) return true;
  const bytes = product(selection.shape) * itemBytes(sides.source);
  const useful = usefulThreads(fewestReads(request) + chunksWritten, bytes);
  return windowCount(sides, { windows }) >= Math.min(threads, useful);
}

/** Number of tasks that make target chunks, one per window. */
function windowCount({ target }: Sides, { windows }: Pick<Candidate, "windows">): number {
  return product(gridShape(gridShape(target.shape, target.chunkShape), windows.window));
}

/** Number of chunks that contain any selected item. */
function fewestReads({ selection, sides }: StrategyRequest): number {
  return countTouched(selection, sides.source.chunkShape);
}
