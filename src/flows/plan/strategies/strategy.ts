import type { CodecPipeline } from "../../../codecs/codec.ts";
import type { ArrayMetadata } from "../../../meta/array-metadata.ts";
import type { Selection } from "../../../streams/selection.ts";
import type { InFlight } from "../in-flight-bytes.ts";
import type { SlabCandidate, SlabRequest } from "../slabs.ts";
import type { StagedWindows } from "../staged-windows.ts";
import type { StoreProfiles } from "../store-profile.ts";
import type { Task } from "../task.ts";
import type { Sides } from "../task-memory.ts";
import type { WindowRequest, Windows } from "../windows.ts";

/** One way in which an array's chunks get to the target. */
export interface Strategy<Name extends string = string, ChangesGrid extends boolean = boolean> {
  readonly name: Name;
  /** What it does with chunks, for people. */
  readonly summary: string;
  /** Whether chunks are decoded; else stored bytes are moved, and no codec needs to be known. */
  readonly decodes: boolean;
  /** Whether target chunks are put together of parts of source chunks. Such strategies compete by predicted cost. */
  readonly changesGrid: ChangesGrid;
  /** Why it cannot make the target; undefined where it can. */
  whyNot(arrays: Arrays): string | undefined;
  /** What source chunks hold between their read and their release. */
  inFlight(sides: Sides): InFlight;
  /** The smallest budget within which it can be done. */
  leastBytes(request: Omit<WindowRequest, "maxMemory">): number;
  /** The ways that are worth trying to split the work into tasks; none where none fits the budget. */
  candidates(request: StrategyRequest): Iterable<Candidate>;
  /**
   * The ways that are worth trying to give items in C order; absent where it gives none.
   *
   * @param straight slabs that are read straight from the source, which always fit
   */
  slabs?(request: SlabRequest, straight: SlabCandidate): Iterable<SlabCandidate>;
  /** What each item of a task goes through. */
  stages(task: Task): readonly StageName[];
}

/** `gather` sorts items into a scratch object; `regrid` moves them into the target's chunks. */
export type StageName = "decode" | "gather" | "regrid" | "encode";

/** Chunks of a source array that are missing, and written out as the target's fill value is another. */
export interface MissingChunks {
  /** How many; where that is not certain what a listing shows, or the most that there can be. */
  readonly chunks: number;
  readonly isCertain: boolean;
}

/** The two arrays, by the chunks that are read of one and written of the other. */
export interface Arrays {
  readonly from: ArrayMetadata;
  readonly to: ArrayMetadata;
  readonly selection: Selection;
  readonly missing?: MissingChunks | undefined;
  /** Given to strategies that decode. */
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

/** What a task may take of the budget: a thread's share; all of it, where that is too little. */
export function shares({ maxMemory, threads }: StrategyRequest): number[] {
  return threads > 1 ? [Math.floor(maxMemory / threads), maxMemory] : [maxMemory];
}

/** Whether chunks may be missing that have to be written out. */
export function mayMiss(missing: MissingChunks | undefined): boolean {
  return missing !== undefined && (missing.chunks > 0 || !missing.isCertain);
}
