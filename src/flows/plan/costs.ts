import { type CostClass, slowestOf } from "../../codecs/descriptor.ts";
import type { Cost, GridSide, ScratchPass } from "./plan.ts";
import type { StoreProfile, StoreProfiles } from "./store-profile.ts";
import { itemBytes, type Sides } from "./task-memory.ts";
import type { Windows } from "./windows.ts";

/**
 * What a run is made of, in seconds of one thread, as `npm run calibrate` measures it. Only ratios matter to the choice
 * between strategies; a machine twice as fast chooses the same.
 */
export const COSTS = {
  /** A chunk, or a piece of one, on its way through the stages, with the calls that read or write a local file. */
  chunk: 65e-6,
  /** A task, from its first read to its last write. */
  task: 500e-6,
  /** A byte read from a file that the system has at hand, and one written to a new file. */
  read: 0.12e-9,
  written: 0.5e-9,
  /** A byte moved to its place in another grid. */
  scattered: 1e-9,
  /** A byte written to a scratch object, and one read back. */
  scratchWritten: 0.35e-9,
  scratchRead: 0.12e-9,
  /** A decoded byte, by what compressed it. */
  decoded: { none: 0, lz4: 0.6e-9, zstd: 1.4e-9, deflate: 5e-9, other: 50e-9 },
  /** The same, encoded. */
  encoded: { none: 0, lz4: 0.9e-9, zstd: 3.3e-9, deflate: 27e-9, other: 200e-9 },
  /** A request to a store over a network: what the program has to do for it, without the wait for its answer. */
  request: 0.8e-3,
} as const;

/** The part of the shorter one of work and waits that adds to the longer one, as the first and the last requests do. */
const NOT_OVERLAPPED = 0.5;

export interface CostRequest {
  readonly sides: Sides;
  /** Items of the part that is taken. */
  readonly items: number;
  /** Source chunks that hold any of these. */
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

/** What it takes to make an array of another grid, in the windows and passes that are given. */
export function costOf(request: CostRequest): Cost {
  const { chunksWritten, windows, concurrency, profiles } = request;
  const { passes = [], pieces = 0, scratchBytes = 0 } = request;
  const { reading, writing, between, logical, decoded, objects } = workOf(request);
  const stages = [...passes, { ...windows, tasks: request.tasks }];
  // Half of what is between reading and writing is done by tasks that read, half by tasks that write.
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

/** Seconds of work and of waits that overlap. */
export function overlapped(work: number, waits: number): number {
  return Math.max(work, waits) + NOT_OVERLAPPED * Math.min(work, waits);
}

/** What all tasks of a stage have to do together. */
export interface StageLoad {
  /** Seconds of one thread. */
  readonly work: number;
  readonly gets: number;
  readonly puts: number;
  readonly bytesRead: number;
  readonly bytesWritten: number;
}

/** What each stage of an array has to do, the last of them makes the target's chunks. */
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

/** Seconds of one thread: to read and decode, to encode and write, and for all that is between. */
function workOf(request: CostRequest) {
  const { sides, items, chunksWritten, windows, profiles } = request;
  const { passes = [], pieces = 0 } = request;
  const { source, target } = sides;
  const logical = items * itemBytes(source);
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

/** A chunk on its way through the stages, and the call that reads or writes it. */
function callOf(profile: StoreProfile | undefined): number {
  return profile === undefined ? COSTS.chunk : COSTS.chunk + COSTS.request;
}

/** Seconds of waiting for answers of a store, so many requests at a time. */
function waitOf(
  profile: StoreProfile | undefined,
  requests: number,
  bytes: number,
  concurrency: number,
): number {
  if (profile === undefined) return 0;
  return (requests * profile.latency) / concurrency + bytes / profile.bytesPerSecond;
}

/** The class of the codec that takes the most time. */
function classOf({ codecs }: GridSide): CostClass {
  return slowestOf(codecs.map(({ costClass }) => costClass));
}

/** A guess at stored bytes by decoded bytes. */
const STORED = 0.5;
const SCRATCH_BYTE = COSTS.scratchWritten + COSTS.scratchRead;

type StageSize = Pick<ScratchPass, "tasks" | "leaseBytes" | "expectedBytes">;

/** Tasks of a stage that the budget admits at one time. */
export function admitted(
  { maxMemory, tasksAtOnce }: Pick<CostRequest, "maxMemory" | "tasksAtOnce">,
  { tasks, leaseBytes }: Pick<StageSize, "tasks" | "leaseBytes">,
): number {
  return Math.max(1, Math.min(tasksAtOnce, tasks, Math.floor(maxMemory / Math.max(1, leaseBytes))));
}

/** Threads that a stage keeps busy. */
function atOnce(request: CostRequest, stage: StageSize | undefined): number {
  if (stage === undefined || stage.tasks === 0) return 1;
  const most = Math.min(request.threads, admitted(request, stage));
  return stage.tasks / Math.ceil(stage.tasks / most);
}

/** What of a chunk a window decodes that takes a band of it: of LZ4 all up to the band's end, wherever that lies. */
function partDecoded({ sides: { source, target }, windows }: CostRequest): number {
  if (!source.decodesParts) return 1;
  const d = source.chunkShape.findIndex((n) => n > 1);
  const band = ((windows.window[d] ?? 1) * (target.chunkShape[d] ?? 1)) / (source.chunkShape[d] ?? 1);
  return band <= 0.5 ? (1 + band) / 2 : 1;
}
