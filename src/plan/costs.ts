import { type CostClass, slowestOf } from "../codecs/descriptor.ts";
import { bytesPerItem, type Sides } from "./memory.ts";
import type { Cost, GridSide, ScratchPass, StoreProfile, StoreProfiles } from "./plan.ts";
import type { Windows } from "./windows.ts";

/**
 * Costs of the parts of a run, in seconds of one thread, as measured by `npm run calibrate`. Only their ratios
 * affect the choice of a strategy, so it is the same on a machine that is twice as fast.
 */
export const COSTS = {
  /** A chunk, or a piece of one, in all stages, including the calls that read or write a local file. */
  chunk: 65e-6,
  /** A task, from its first read to its last write. */
  task: 500e-6,
  /** A byte read from a file in the system's cache, and a byte written to a new file. */
  read: 0.12e-9,
  written: 0.5e-9,
  /** A byte moved to its place in another grid. */
  scattered: 1e-9,
  /** A byte written to a scratch object, and a byte read back. */
  scratchWritten: 0.35e-9,
  scratchRead: 0.12e-9,
  /** A decoded byte, by the compressor of its chunk. */
  decoded: { none: 0, lz4: 0.6e-9, zstd: 1.4e-9, deflate: 5e-9, other: 50e-9 },
  /** An encoded byte, by compressor. */
  encoded: { none: 0, lz4: 0.9e-9, zstd: 3.3e-9, deflate: 27e-9, other: 200e-9 },
  /** Processing time of a request to a store over a network, without waiting for the response. */
  request: 0.8e-3,
} as const;

/**
 * The fraction of the shorter of work and waiting that does not overlap with the other, such as the first and last
 * requests.
 */
const NOT_OVERLAPPED = 0.5;

export interface CostRequest {
  readonly sides: Sides;
  /** Items of the selected part. */
  readonly items: number;
  /** Source chunks that contain any of these items. */
  readonly chunksTouched: number;
  readonly chunksWritten: number;
  readonly windows: Windows;
  readonly passes?: readonly Omit<ScratchPass, "firstTask">[];
  /** Pieces that are read from scratch objects. */
  readonly pieces?: number;
  readonly scratchBytes?: number;
  /** Tasks that make target chunks. */
  readonly tasks: number;
  readonly maxMemory: number;
  readonly tasksAtOnce: number;
  readonly threads: number;
  readonly concurrency: number;
  readonly profiles: StoreProfiles;
}

/** Predicts the cost of regridding an array with the given windows and passes. */
export function costOf(request: CostRequest): Cost {
  const { chunksWritten, windows, concurrency, profiles } = request;
  const { passes = [], pieces = 0, scratchBytes = 0 } = request;
  const { reading, writing, between, logical, decoded, objects } = workOf(request);
  const stages = [...passes, { ...windows, tasks: request.tasks }];
  // Work between reading and writing is divided equally between the first and the last stage.
  const work =
    (reading + between / 2) / atOnce(request, stages[0]) +
    (writing + between / 2) / atOnce(request, stages.at(-1));
  const waits =
    waitOf(profiles.source, windows.chunksRead, decoded * STORED, concurrency) +
    waitOf(profiles.scratch, objects + pieces, 2 * passes.length * logical, concurrency) +
    waitOf(profiles.target, chunksWritten, logical * STORED, concurrency);
  return {
    seconds: overlapped(work, waits),
    timesDecoded: windows.chunksRead / Math.max(1, request.chunksTouched),
    requests: windows.chunksRead + objects + pieces + chunksWritten,
    scratchBytes,
    peak: Math.max(...stages.map((stage) => admitted(request, stage) * stage.expectedBytes)),
  };
}

/** Returns the seconds that work and waiting take together, as they mostly overlap. */
export function overlapped(work: number, waits: number): number {
  return Math.max(work, waits) + NOT_OVERLAPPED * Math.min(work, waits);
}

/** The load of all tasks of a stage. */
export interface StageLoad {
  /** Seconds of one thread. */
  readonly work: number;
  readonly gets: number;
  readonly puts: number;
  readonly bytesRead: number;
  readonly bytesWritten: number;
}

/** Computes the load of each stage of an array. The last stage makes the target chunks. */
export function loadsOf(request: CostRequest): StageLoad[] {
  const { passes = [], pieces = 0, windows, chunksWritten } = request;
  const { reading, writing, between, logical, decoded } = workOf(request);
  const last = passes.length;
  return Array.from({ length: last + 1 }, (_, stage) => ({
    work: (stage === 0 ? reading : 0) + (stage === last ? writing : 0) + between / (last + 1),
    gets: stage === 0 ? windows.chunksRead : pieces / last,
    puts: stage === last ? chunksWritten : (passes[stage]?.tasks ?? 0),
    bytesRead: stage === 0 ? decoded * STORED : logical,
    bytesWritten: stage === last ? logical * STORED : logical,
  }));
}

/**
 * Computes the seconds of one thread for reading and decoding, for encoding and writing, and for everything in
 * between.
 */
function workOf(request: CostRequest) {
  const { sides, items, chunksWritten, windows, profiles } = request;
  const { passes = [], pieces = 0 } = request;
  const { source, target } = sides;
  const logical = items * bytesPerItem(source);
  const decoded = windows.chunksRead * source.decodedSize;
  const objects = passes.reduce((sum, { tasks }) => sum + tasks, 0);
  const passCount = passes.length;
  const reading =
    windows.chunksRead * callOf(profiles.source) +
    decoded * (COSTS.read + COSTS.decoded[classOf(source)] * (passCount > 0 ? 1 : partDecoded(request)));
  const writing =
    chunksWritten * callOf(profiles.target) + logical * (COSTS.written + COSTS.encoded[classOf(target)]);
  const moving = (passCount + 1) * logical * COSTS.scattered;
  const staging =
    objects + pieces > 0
      ? (objects + pieces) * callOf(profiles.scratch) + passCount * logical * SCRATCH_BYTE
      : 0;
  const starting = (objects + request.tasks) * COSTS.task;
  return { reading, writing, between: moving + staging + starting, logical, decoded, objects };
}

/** Cost of a chunk in all stages, including the call that reads or writes it. */
function callOf(profile: StoreProfile | undefined): number {
  return profile === undefined ? COSTS.chunk : COSTS.chunk + COSTS.request;
}

/** Seconds of waiting for responses of a store, with `concurrency` requests in flight. */
function waitOf(
  profile: StoreProfile | undefined,
  requests: number,
  bytes: number,
  concurrency: number,
): number {
  if (profile === undefined) return 0;
  return (requests * profile.latency) / concurrency + bytes / profile.bytesPerSecond;
}

/** The class of the slowest codec. */
function classOf({ codecs }: GridSide): CostClass {
  return slowestOf(codecs.map(({ costClass }) => costClass));
}

/** Estimated stored bytes per decoded byte. */
const STORED = 0.5;
const SCRATCH_BYTE = COSTS.scratchWritten + COSTS.scratchRead;

type StageSize = Pick<ScratchPass, "tasks" | "leaseBytes" | "expectedBytes">;

/** Tasks of a stage that the budget admits concurrently. */
export function admitted(
  { maxMemory, tasksAtOnce }: Pick<CostRequest, "maxMemory" | "tasksAtOnce">,
  { tasks, leaseBytes }: Pick<StageSize, "tasks" | "leaseBytes">,
): number {
  return Math.max(1, Math.min(tasksAtOnce, tasks, Math.floor(maxMemory / Math.max(1, leaseBytes))));
}

/** Average number of threads that a stage keeps busy. */
function atOnce(request: CostRequest, stage: StageSize | undefined): number {
  if (stage === undefined || stage.tasks === 0) return 1;
  const most = Math.min(request.threads, admitted(request, stage));
  return stage.tasks / Math.ceil(stage.tasks / most);
}

/**
 * The fraction of a chunk that must be decoded to read a band of it. LZ4 decodes everything up to the end of the
 * band, wherever it begins.
 */
function partDecoded({ sides: { source, target }, windows }: CostRequest): number {
  if (!source.decodesParts) return 1;
  const d = source.chunkShape.findIndex((n) => n > 1);
  const band = ((windows.window[d] ?? 1) * (target.chunkShape[d] ?? 1)) / (source.chunkShape[d] ?? 1);
  return band <= 0.5 ? (1 + band) / 2 : 1;
}

/** Number of threads that are worth starting for this many chunks, read and written, and decoded bytes. */
export function usefulThreads(chunks: number, decodedBytes: number): number {
  return Math.floor((chunks * CHUNK_MS + decodedBytes * BYTE_MS) / (2 * START_MS)) + 1;
}

/** Milliseconds to start a thread, before its first task. */
const START_MS = 40;
/** Rough costs of a chunk and of a decoded byte. They only decide whether a thread is worth starting. */
const CHUNK_MS = 0.03;
const BYTE_MS = 1.5e-6;
