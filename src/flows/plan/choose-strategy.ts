import { gridShape } from "../../meta/array-metadata.ts";
import { ZarrflowError } from "../../util/errors.ts";
import { product } from "../../util/shape.ts";
import { chunkVisits } from "./chunk-visits.ts";
import { costOf, type Places } from "./costs.ts";
import type { Alternative, Cost } from "./plan.ts";
import { type StagedWindows, stagedWindows } from "./staged-windows.ts";
import { itemBytes } from "./task-memory.ts";
import { type WindowRequest, type Windows, windowsOf } from "./task-windows.ts";
import { usefulThreads } from "./useful-threads.ts";

export interface StrategyRequest extends Omit<WindowRequest, "strategy"> {
  readonly isVariable: boolean;
  readonly chunksWritten: number;
  readonly threads: number;
  readonly tasksAtOnce: number;
  readonly remote: Places;
  /** The only strategy that is wanted. */
  readonly strategy?: "direct" | "staged" | undefined;
}

/** A way to change an array's grid. */
interface StrategyChoice {
  readonly strategy: "direct" | "staged";
  readonly windows: Windows;
  readonly passes?: StagedWindows["passes"];
  readonly cost: Cost;
}

/** How a job is split into tasks, and what else could have been done. */
export type SizedStrategy = Pick<StrategyChoice, "windows" | "passes"> & {
  readonly alternatives: readonly Alternative[];
};

/** Volumes of scratch objects and windows that are tried: the largest that may fit, and so many of a third each. */
const VOLUMES = 6;
const VOLUME_STEP = 3;
const LARGEST_VOLUME = 2 ** 29;
const MAX_PASSES = 4;
/** Where windows decode no more than this times the fewest chunks, and no thread lacks one, nothing else is tried. */
const GOOD_ENOUGH = 1.05;
/** Of strategies that cost nearly the same, the one that takes less memory is taken. */
const NEARLY = 1.1;

/**
 * The cheaper of the two strategies that change the grid, each split as serves best.
 *
 * @throws `invalid-option` where `staged` is asked for and does not fit the budget.
 */
export function chooseStrategy(request: StrategyRequest): StrategyChoice & SizedStrategy {
  const { strategy } = request;
  const direct = strategy === "staged" ? undefined : cheapest(directChoices(request));
  const visits = (direct?.windows.chunksRead ?? 0) / Math.max(1, fewestReads(request));
  const isFine = direct !== undefined && visits <= GOOD_ENOUGH && isBusy(request, direct.windows);
  const staged = strategy === "direct" || isFine ? undefined : cheapest(stagedChoices(request));
  const best = cheapest([direct, staged].filter((choice) => choice !== undefined));
  if (best === undefined) {
    throw new ZarrflowError("invalid-option", "the staged strategy does not fit the memory budget", {
      found: `${request.maxMemory} bytes`,
      hint: "allow more memory, or leave the choice of the strategy to the planner",
    });
  }
  const other = best === direct ? "staged" : "direct";
  const cost = (best === direct ? staged : direct)?.cost;
  if (strategy) return { ...best, alternatives: [{ strategy: other, reason: `${strategy} was asked for` }] };
  if (cost) {
    const times = (cost.seconds / best.cost.seconds).toFixed(1);
    return {
      ...best,
      alternatives: [{ strategy: other, reason: `it would take ${times} times as long`, cost }],
    };
  }
  const reason = isFine
    ? `without it source chunks are read ${visits.toFixed(2)} times`
    : "none of it fits the memory budget";
  return { ...best, alternatives: [{ strategy: other, reason }] };
}

/** Whether all threads that are worth their start have windows. Of remote stores little else than answers is waited for. */
function isBusy(request: StrategyRequest, windows: Windows): boolean {
  const { sides, selection, chunksWritten, threads, remote } = request;
  if (remote.source || remote.target) return true;
  const bytes = product(selection.shape) * itemBytes(sides.source);
  const useful = usefulThreads(fewestReads(request) + chunksWritten, bytes);
  return tasksOf(request, windows) >= Math.min(threads, useful);
}

function* directChoices(request: StrategyRequest): Generator<StrategyChoice> {
  for (const maxMemory of shares(request)) {
    const windows = windowsOf({ ...request, strategy: "direct", maxMemory });
    const isLast = maxMemory === request.maxMemory;
    if (isLast || windows.leaseBytes <= maxMemory) {
      yield { strategy: "direct", windows, cost: costOfWindows(request, { windows }) };
    }
  }
}

function* stagedChoices(request: StrategyRequest): Generator<StrategyChoice> {
  if (product(request.selection.shape) === 0) return;
  for (const maxMemory of shares(request)) {
    let fits = false;
    let volume = Math.min(LARGEST_VOLUME, Math.floor(maxMemory / 2));
    for (let i = 0; i < VOLUMES; i++, volume = Math.floor(volume / VOLUME_STEP)) {
      for (const sized of stagedWindows({
        ...request,
        strategy: "staged",
        maxMemory,
        volume,
        maxPasses: MAX_PASSES,
      })) {
        fits = true;
        yield { strategy: "staged", ...sized, cost: costOfWindows(request, sized) };
      }
    }
    if (fits) return;
  }
}

/** What a task may take of the budget: a thread's share; all of it, where that is too little. */
function shares({ maxMemory, threads }: StrategyRequest): number[] {
  return threads > 1 ? [Math.floor(maxMemory / threads), maxMemory] : [maxMemory];
}

function costOfWindows(
  request: StrategyRequest,
  sized: { readonly windows: Windows } & Partial<StagedWindows>,
): Cost {
  const tasks = tasksOf(request, sized.windows);
  return costOf({ ...request, ...sized, items: product(request.selection.shape), tasks });
}

/** Tasks that make target chunks: one a window. */
function tasksOf({ sides: { target } }: StrategyRequest, { window }: Windows): number {
  return product(gridShape(gridShape(target.shape, target.chunkShape), window));
}

/** Chunks that hold any of what is taken. */
function fewestReads({ selection, sides }: StrategyRequest): number {
  return product(
    selection.shape.map((count, d) => {
      const sourceChunk = sides.source.chunkShape[d] ?? 1;
      const dimension = { start: selection.start[d] ?? 0, step: selection.step[d] ?? 1, count, sourceChunk };
      return chunkVisits(dimension, Math.max(1, count));
    }),
  );
}

/** The one that takes the least time; of several that take nearly the same, one of few passes and with a low peak. */
function cheapest(choices: Iterable<StrategyChoice>): StrategyChoice | undefined {
  const all = [...choices];
  const least = all.reduce((seconds, { cost }) => Math.min(seconds, cost.seconds), Number.POSITIVE_INFINITY);
  return all
    .filter(({ cost }) => cost.seconds <= NEARLY * least)
    .sort((a, b) => morePasses(a) - morePasses(b) || a.cost.peak - b.cost.peak)[0];
}

/** Passes beyond the first. */
function morePasses({ passes = [] }: StrategyChoice): number {
  return Math.max(0, passes.length - 1);
}
