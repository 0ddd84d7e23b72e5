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

export interface RecutRequest extends WindowRequest {
  readonly isVariable: boolean;
  readonly chunksWritten: number;
  readonly threads: number;
  readonly tasksAtOnce: number;
  readonly remote: Places;
  /** The only strategy that is wanted. */
  readonly recutBy?: "direct" | "shuffle" | undefined;
}

/** A way to change an array's grid. */
interface Recut {
  readonly strategy: "direct" | "shuffle";
  readonly windows: Windows;
  readonly rounds?: StagedWindows["rounds"];
  readonly cost: Cost;
}

/** How a job is cut, and what else could have been done. */
export type RecutCuts = Pick<Recut, "windows" | "rounds"> & { readonly alternatives: readonly Alternative[] };

/** Volumes of scratch objects and windows that are tried: the largest that may fit, and so many of a third each. */
const VOLUMES = 6;
const VOLUME_STEP = 3;
const LARGEST_VOLUME = 2 ** 29;
const MAX_ROUNDS = 4;
/** Where windows decode no more than this times the fewest chunks, and no thread lacks one, nothing else is tried. */
const GOOD_ENOUGH = 1.05;
/** Of strategies that cost nearly the same, the one that takes less memory is taken. */
const NEARLY = 1.1;

/**
 * The cheaper of direct windows and a shuffle, each cut as serves best.
 *
 * @throws `invalid-option` where a shuffle is wanted and none fits.
 */
export function chooseRecut(request: RecutRequest): Recut & RecutCuts {
  const { recutBy } = request;
  const direct = recutBy === "shuffle" ? undefined : cheapest(directRecuts(request));
  const visits = (direct?.windows.chunksRead ?? 0) / Math.max(1, fewestReads(request));
  const isFine = direct !== undefined && visits <= GOOD_ENOUGH && isBusy(request, direct.windows);
  const shuffle = recutBy === "direct" || isFine ? undefined : cheapest(shuffleRecuts(request));
  const best = cheapest([direct, shuffle].filter((recut) => recut !== undefined));
  if (best === undefined) {
    throw new ZarrflowError("invalid-option", "no shuffle fits the memory budget", {
      found: `${request.maxMemory} bytes`,
      hint: "allow more memory, or leave the choice of the strategy to the planner",
    });
  }
  const strategy = best === direct ? "shuffle" : "direct";
  const cost = (best === direct ? shuffle : direct)?.cost;
  if (recutBy) return { ...best, alternatives: [{ strategy, reason: `${recutBy} was asked for` }] };
  if (cost) {
    const times = (cost.seconds / best.cost.seconds).toFixed(1);
    return { ...best, alternatives: [{ strategy, reason: `it would take ${times} times as long`, cost }] };
  }
  const reason = isFine
    ? `without it source chunks are read ${visits.toFixed(2)} times`
    : "none of it fits the memory budget";
  return { ...best, alternatives: [{ strategy, reason }] };
}

/** Whether all threads that are worth their start have windows. Of remote stores little else than answers is waited for. */
function isBusy(request: RecutRequest, windows: Windows): boolean {
  const { sides, selection, chunksWritten, threads, remote } = request;
  if (remote.source || remote.target) return true;
  const bytes = product(selection.shape) * itemBytes(sides.source);
  const useful = usefulThreads(fewestReads(request) + chunksWritten, bytes);
  return tasksOf(request, windows) >= Math.min(threads, useful);
}

function* directRecuts(request: RecutRequest): Generator<Recut> {
  for (const maxMemory of shares(request)) {
    const windows = windowsOf({ ...request, strategy: "direct", maxMemory });
    const isLast = maxMemory === request.maxMemory;
    if (isLast || windows.leaseBytes <= maxMemory) {
      yield { strategy: "direct", windows, cost: costOfWindows(request, { windows }) };
    }
  }
}

function* shuffleRecuts(request: RecutRequest): Generator<Recut> {
  if (product(request.selection.shape) === 0) return;
  for (const maxMemory of shares(request)) {
    let fits = false;
    let volume = Math.min(LARGEST_VOLUME, Math.floor(maxMemory / 2));
    for (let i = 0; i < VOLUMES; i++, volume = Math.floor(volume / VOLUME_STEP)) {
      for (const cut of stagedWindows({ ...request, maxMemory, volume, mostRounds: MAX_ROUNDS })) {
        fits = true;
        yield { strategy: "shuffle", ...cut, cost: costOfWindows(request, cut) };
      }
    }
    if (fits) return;
  }
}

/** What a task may take of the budget: a thread's share; all of it, where that is too little. */
function shares({ maxMemory, threads }: RecutRequest): number[] {
  return threads > 1 ? [Math.floor(maxMemory / threads), maxMemory] : [maxMemory];
}

function costOfWindows(
  request: RecutRequest,
  cut: { readonly windows: Windows } & Partial<StagedWindows>,
): Cost {
  const tasks = tasksOf(request, cut.windows);
  return costOf({ ...request, ...cut, items: product(request.selection.shape), tasks });
}

/** Tasks that make target chunks: one a window. */
function tasksOf({ sides: { target } }: RecutRequest, { window }: Windows): number {
  return product(gridShape(gridShape(target.shape, target.chunkShape), window));
}

/** Chunks that hold any of what is taken. */
function fewestReads({ selection, sides }: RecutRequest): number {
  return product(
    selection.shape.map((count, d) => {
      const sourceChunk = sides.source.chunkShape[d] ?? 1;
      const dimension = { start: selection.start[d] ?? 0, step: selection.step[d] ?? 1, count, sourceChunk };
      return chunkVisits(dimension, Math.max(1, count));
    }),
  );
}

/** The one that takes the least time; of several that take nearly the same, one of few rounds and with a low peak. */
function cheapest(recuts: Iterable<Recut>): Recut | undefined {
  const all = [...recuts];
  const least = all.reduce((seconds, { cost }) => Math.min(seconds, cost.seconds), Number.POSITIVE_INFINITY);
  return all
    .filter(({ cost }) => cost.seconds <= NEARLY * least)
    .sort((a, b) => moreRounds(a) - moreRounds(b) || a.cost.peak - b.cost.peak)[0];
}

/** Rounds beyond the first. */
function moreRounds({ rounds = [] }: Recut): number {
  return Math.max(0, rounds.length - 1);
}
