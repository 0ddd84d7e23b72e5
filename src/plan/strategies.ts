import type { CodecPipeline } from "../codecs/codec.ts";
import type { GridStrategy } from "../hierarchy/read-options.ts";
import { type ArrayMetadata, type CodecConfig, gridShape } from "../meta/array-metadata.ts";
import { sameDataType, sameFieldOrders } from "../meta/data-type.ts";
import { pooledSize } from "../streams/buffer-pool.ts";
import { readFootprint } from "../streams/chunk-reader.ts";
import { encodeFootprint } from "../streams/encode-chunks.ts";
import type { Selection } from "../streams/selection.ts";
import { ZarrflowError } from "../util/errors.ts";
import { jsonEqual } from "../util/json-value.ts";
import { sameNumbers } from "../util/numbers.ts";
import { product } from "../util/shape.ts";
import { costOf, usefulThreads } from "./costs.ts";
import { directWindows, leastDirectBytes } from "./direct-windows.ts";
import { bytesPerItem, decodedInFlight, type InFlight, type Sides } from "./memory.ts";
import type { Alternative, ArrayJob, Cost, ScratchPass, StoreProfiles } from "./plan.ts";
import { pieceFootprint, type StagedWindows, stagedWindows } from "./staged-windows.ts";
import { lastStage, type Task } from "./task.ts";
import {
  countTouched,
  leastSameGridBytes,
  sameGridWindows,
  type WindowRequest,
  type Windows,
} from "./windows.ts";

/** A method to make the target chunks of an array. */
export interface Strategy<Name extends string = string, ChangesGrid extends boolean = boolean> {
  readonly name: Name;
  /** Describes the processing of chunks, for users. */
  readonly summary: string;
  /** True if chunks are decoded. Otherwise stored bytes are copied, and codecs may be unknown. */
  readonly decodes: boolean;
  /** True if target chunks are assembled from parts of source chunks. Such strategies compete by predicted cost. */
  readonly changesGrid: ChangesGrid;
  /** Returns the reason why it cannot make the target; undefined if it can. */
  whyNot(arrays: Arrays): string | undefined;
  /** Returns the memory of source chunks between read and release. */
  inFlight(sides: Sides): InFlight;
  /** Returns the smallest budget that it needs. */
  leastBytes(request: Omit<WindowRequest, "maxMemory">): number;
  /** Returns the ways to split the work into tasks that are worth comparing; none if nothing fits the budget. */
  candidates(request: StrategyRequest): Iterable<Candidate>;
  /** Returns the stages of a task. */
  stages(task: Task): readonly StageName[];
}

/** `gather` sorts items into a scratch object; `regrid` moves them into target chunks. */
export type StageName = "decode" | "gather" | "regrid" | "encode";

/** Missing chunks of a source array that are written out because the target's fill value differs. */
export interface MissingCount {
  /** Their number. If `isCertain` is false: an upper bound for stores that cannot list, a lower bound for shards. */
  readonly chunks: number;
  readonly isCertain: boolean;
}

/** Both arrays, at the level of the chunks that are read and written. */
export interface Arrays {
  readonly from: ArrayMetadata;
  readonly to: ArrayMetadata;
  readonly selection: Selection;
  readonly missing?: MissingCount | undefined;
  /** Present for strategies that decode. */
  readonly pipelines?: { readonly reading: CodecPipeline; readonly writing: CodecPipeline };
}

export interface StrategyRequest extends WindowRequest {
  readonly isVariable: boolean;
  readonly chunksWritten: number;
  readonly threads: number;
  readonly tasksAtOnce: number;
  readonly profiles: StoreProfiles;
}

/** A way to split the work into tasks. */
export type Candidate = { readonly windows: Windows } & Partial<StagedWindows>;

export type RatedCandidate = Candidate & { readonly cost: Cost };

/** Memory limits of a task to try: a thread's share of the budget, then the whole budget. */
export function shares({ maxMemory, threads }: StrategyRequest): number[] {
  return threads > 1 ? [Math.floor(maxMemory / threads), maxMemory] : [maxMemory];
}

/** True if there may be missing chunks to write out. */
export function mayMiss(missing: MissingCount | undefined): boolean {
  return missing !== undefined && (missing.chunks > 0 || !missing.isCertain);
}

const storedInFlight = ({ source }: Sides): InFlight => ({
  waiting: readFootprint(source, source.shardShape !== undefined),
  working: 0,
});

/** Keeps the grid and codecs. */
export const verbatim: Strategy<"verbatim", false> = {
  name: "verbatim",
  summary: "copy stored bytes unchanged",
  decodes: false,
  changesGrid: false,
  whyNot({ from, to, selection, missing }) {
    const notSame = whyNotSameGrid(from, to, selection) ?? whyNotSameCoding(from, to);
    if (notSame !== undefined) return notSame;
    if (mayMiss(missing)) return "missing chunks are written, because the fill values differ";
    return missing === undefined ? whyNotSameFill(from, to) : undefined;
  },
  inFlight: storedInFlight,
  leastBytes: (request) => leastSameGridBytes(request, storedInFlight),
  candidates: (request) => [{ windows: sameGridWindows(request, storedInFlight) }],
  stages: () => [],
};

/** Memory of a chunk, which waits as read or as encoded; in between it is decoded and encoded. */
function transcodeInFlight({ source, target }: Sides): InFlight {
  const { waiting, working } = decodedInFlight(source);
  return {
    waiting: Math.max(waiting, pooledSize(target.maxEncodedSize)),
    working: Math.max(working, pooledSize(target.decodedSize) + encodeFootprint(target)),
  };
}

/** Keeps the grid and changes codecs. */
export const transcode: Strategy<"transcode", false> = {
  name: "transcode",
  summary: "decode and encode each chunk",
  decodes: true,
  changesGrid: false,
  whyNot: ({ from, to, selection, pipelines }) =>
    whyNotSameGrid(from, to, selection) ??
    (pipelines && whyNotSameLayout(pipelines.reading, pipelines.writing)),
  inFlight: transcodeInFlight,
  leastBytes: (request) => leastSameGridBytes(request, transcodeInFlight),
  candidates: (request) => [{ windows: sameGridWindows(request, transcodeInFlight) }],
  stages: () => ["decode", "encode"],
};

/** Changes the grid in windows. A source chunk that several windows touch is decoded for each of them. */
export const direct: Strategy<"direct", true> = {
  name: "direct",
  summary: "read source chunks and assemble windows of whole target chunks",
  decodes: true,
  changesGrid: true,
  whyNot: () => undefined,
  inFlight: ({ source }) => decodedInFlight(source),
  leastBytes: leastDirectBytes,
  *candidates(request) {
    for (const maxMemory of shares(request)) {
      const windows = directWindows({ ...request, maxMemory });
      const isLast = maxMemory === request.maxMemory;
      if (isLast || windows.leaseBytes <= maxMemory) yield { windows };
    }
  },
  stages: () => ["decode", "regrid", "encode"],
};

/**
 * Number of volumes of scratch objects and windows to try. The first is the largest that may fit; each next one is
 * a third.
 */
const VOLUMES = 6;
const VOLUME_STEP = 3;
const LARGEST_VOLUME = 2 ** 29;

/** Changes the grid with scratch objects, in which each source chunk stores the items of each window. */
export const staged: Strategy<"staged", true> = {
  name: "staged",
  summary: "read each source chunk once into scratch objects, from which windows are read",
  decodes: true,
  changesGrid: true,
  whyNot: () => undefined,
  inFlight: ({ source }) => decodedInFlight(source),
  leastBytes: leastDirectBytes,
  *candidates(request) {
    for (const maxMemory of shares(request)) {
      let fits = false;
      let volume = Math.min(LARGEST_VOLUME, Math.floor(maxMemory / 2));
      for (let i = 0; i < VOLUMES; i++, volume = Math.floor(volume / VOLUME_STEP)) {
        for (const sized of stagedWindows({ ...request, maxMemory, volume })) {
          fits = true;
          yield sized;
        }
      }
      if (fits) return;
    }
  },
  stages(task) {
    if (task.kind === "target") return ["regrid", "encode"];
    return task.pass === 0 ? ["decode", "gather"] : ["gather"];
  },
};

const listed = [verbatim, transcode, direct, staged] as const;
type Listed = (typeof listed)[number];

/** Names of strategies in plans. */
export type StrategyName = Listed["name"];

/**
 * All strategies. The first that keeps the grid and can make the target is taken; otherwise the cheapest of the
 * others.
 */
export const strategies: readonly Strategy<StrategyName>[] = listed;

const byName = new Map<string, Strategy>(strategies.map((strategy) => [strategy.name, strategy]));

export function strategyNamed(name: string): Strategy {
  const strategy = byName.get(name);
  if (strategy === undefined) throw new RangeError(`the strategy ${name} does not exist`);
  return strategy;
}

/**
 * Returns what a task has in flight, source chunks or pieces of scratch objects, and the maximum bytes of a waiting
 * one.
 */
export function inFlightOf(task: Task): {
  readonly isOfSource: boolean;
  readonly readAhead: number;
  readonly bytesPerChunk: number;
} {
  const { job } = task;
  const pass = task.kind === "scratch" ? task.pass : lastStage(job);
  const readAhead = job.passes?.[pass]?.readAhead ?? job.readAhead;
  const isOfSource = pass === 0;
  return {
    isOfSource,
    readAhead,
    bytesPerChunk: isOfSource
      ? strategyNamed(job.strategy).inFlight(job).waiting
      : pieceFootprint(job, pass - 1),
  };
}

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
    const candidate = first.decodes ? rate(alone, request) : alone;
    return { ...candidate, strategy: first.name, alternatives: [] };
  }
  const rivals = possible.map((strategy) => ({
    name: strategy.name,
    candidates: () => [...strategy.candidates(request)].map((candidate) => rate(candidate, request)),
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
    hint: "Allow more memory, or omit the strategy.",
  });
}

/** Adds the predicted cost to a candidate. */
export function rate(candidate: Candidate, request: StrategyRequest): RatedCandidate {
  const items = product(request.selection.shape);
  const tasks = windowCount(request.sides, candidate);
  const cost = costOf({ ...request, ...candidate, items, chunksTouched: fewestReads(request), tasks });
  return { ...candidate, cost };
}

/** Returns the reason why direct windows are good enough; undefined if another strategy may be better. */
function whyEnough(request: StrategyRequest, windows: Windows): string | undefined {
  const visits = windows.chunksRead / Math.max(1, fewestReads(request));
  if (visits > GOOD_ENOUGH || !isBusy(request, windows)) return undefined;
  return `without staging, source chunks are read ${visits.toFixed(2)} times`;
}

/**
 * True if there is a window for each thread that is worth starting. Always true for remote stores, where tasks
 * mostly wait for responses.
 */
function isBusy(request: StrategyRequest, windows: Windows): boolean {
  const { sides, selection, chunksWritten, threads, profiles } = request;
  if (profiles.source || profiles.target) return true;
  const bytes = product(selection.shape) * bytesPerItem(sides.source);
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
/** A possible strategy and its candidates. */
export interface Rival<C extends Rated> {
  readonly name: string;
  candidates(): Iterable<C>;
}

/** The properties of candidates that are compared. */
export interface Rated {
  readonly cost: Cost;
  readonly passes?: readonly Pick<ScratchPass, "box">[] | undefined;
}

export interface ChoiceOptions<C> {
  /** The only strategy to consider. */
  readonly asked?: string | undefined;
  /**
   * Candidates within this multiple of the lowest cost count as equal; those with few passes and a low peak are
   * preferred. By default the first with the lowest cost is taken.
   */
  readonly nearly?: number;
  /**
   * Returns the reason why no other strategy needs to be tried, given the best candidate of one; undefined if they
   * do.
   */
  whyEnough(candidate: C): string | undefined;
}

export interface StrategyChoice<C> {
  readonly strategy: string;
  readonly best: C;
  /** The other strategies, with reasons. */
  readonly notTaken: readonly Alternative[];
}

/** Chooses the strategy with the lowest predicted time; undefined if none has a candidate. */
export function chooseStrategy<C extends Rated>(
  rivals: readonly Rival<C>[],
  { asked, nearly, whyEnough }: ChoiceOptions<C>,
): StrategyChoice<C> | undefined {
  const reasons = new Map<string, string>();
  const found = new Map<C, string>();
  let enough: string | undefined;
  for (const { name, candidates } of rivals) {
    const reason = asked && name !== asked ? `${asked} was asked for` : enough;
    const best = reason === undefined ? cheapest(candidates(), nearly) : undefined;
    if (best === undefined) {
      reasons.set(name, reason ?? "no layout fits the memory budget");
    } else {
      found.set(best, name);
      enough = whyEnough(best);
    }
  }
  const best = cheapest(found.keys(), nearly);
  const strategy = best && found.get(best);
  if (best === undefined || strategy === undefined) return undefined;
  const costs = new Map([...found].map(([{ cost }, name]) => [name, cost]));
  const notTaken = rivals
    .filter(({ name }) => name !== strategy)
    .map(({ name }): Alternative => {
      const cost = costs.get(name);
      if (cost === undefined) return { strategy: name, reason: reasons.get(name) ?? "" };
      const times = (cost.seconds / best.cost.seconds).toFixed(1);
      return { strategy: name, reason: `it would take ${times} times as long`, cost };
    });
  return { strategy, best, notTaken };
}

/**
 * Returns the candidate with the lowest predicted time; of several that are nearly equal, one with few passes and a
 * low peak.
 */
function cheapest<C extends Rated>(candidates: Iterable<C>, nearly: number | undefined): C | undefined {
  const all = [...candidates];
  const least = all.reduce((seconds, { cost }) => Math.min(seconds, cost.seconds), Number.POSITIVE_INFINITY);
  if (nearly === undefined) return all.find(({ cost }) => cost.seconds === least);
  return all
    .filter(({ cost }) => cost.seconds <= nearly * least)
    .sort((a, b) => morePasses(a) - morePasses(b) || a.cost.peak - b.cost.peak)[0];
}

/** Number of passes after the first. */
function morePasses({ passes = [] }: Rated): number {
  return Math.max(0, passes.length - 1);
}

/** Returns the reason why chunks of the arrays do not match; undefined if they do. */
export function whyNotSameGrid(
  from: ArrayMetadata,
  to: ArrayMetadata,
  selection: Selection,
): string | undefined {
  if (
    selection.start.some((n) => n !== 0) ||
    selection.step.some((n) => n !== 1) ||
    !sameNumbers(selection.shape, from.shape)
  ) {
    return "only a part of the array is selected";
  }
  if (selection.shift) return "values are shifted";
  const { chunkShape, innerChunkShape = [] } = from.chunkGrid;
  if (!sameNumbers(chunkShape, to.chunkGrid.chunkShape)) return "the chunk shapes differ";
  if (!sameNumbers(innerChunkShape, to.chunkGrid.innerChunkShape ?? []))
    return "the inner chunk shapes differ";
  return undefined;
}

/** Returns the reason why stored bytes do not mean the same in both arrays; undefined if they do. */
export function whyNotSameCoding(from: ArrayMetadata, to: ArrayMetadata): string | undefined {
  if (!sameDataType(from.dataType, to.dataType)) return "the data types differ";
  if (!sameFieldOrders(from.dataType, to.dataType)) return "the byte orders of fields differ";
  const bare = (codecs: readonly CodecConfig[]) =>
    codecs.map(({ name, configuration }) => [name, configuration]);
  return jsonEqual(bare(from.codecs), bare(to.codecs)) ? undefined : "the codecs differ";
}

/** Returns the reason why missing chunks do not mean the same in both arrays; undefined if they do. */
export function whyNotSameFill(from: ArrayMetadata, to: ArrayMetadata): string | undefined {
  const isSame = sameNumbers(from.fillValue.bytes ?? [], to.fillValue.bytes ?? []);
  return isSame ? undefined : "the fill values differ";
}

/** Returns the reason why decoded chunks of one array cannot be encoded by the other; undefined if they can. */
export function whyNotSameLayout(from: CodecPipeline, to: CodecPipeline): string | undefined {
  return sameNumbers(from.strides, to.strides) ? undefined : "the order of items within chunks differs";
}
