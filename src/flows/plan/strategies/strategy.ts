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
  /**
   * Returns the ways to read items in C order that are worth comparing; absent if the strategy has none.
   *
   * @param straight slabs that are read straight from the source, which always fit
   */
  slabs?(request: SlabRequest, straight: SlabCandidate): Iterable<SlabCandidate>;
  /** Returns the stages of a task. */
  stages(task: Task): readonly StageName[];
}

/** `gather` sorts items into a scratch object; `regrid` moves them into target chunks. */
export type StageName = "decode" | "gather" | "regrid" | "encode";

/** Missing chunks of a source array that are written out because the target's fill value differs. */
export interface MissingChunks {
  /** Their number. If `isCertain` is false: an upper bound for stores that cannot list, a lower bound for shards. */
  readonly chunks: number;
  readonly isCertain: boolean;
}

/** Both arrays, at the level of the chunks that are read and written. */
export interface Arrays {
  readonly from: ArrayMetadata;
  readonly to: ArrayMetadata;
  readonly selection: Selection;
  readonly missing?: MissingChunks | undefined;
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

/** Memory limits of a task to try: a thread's share of the budget, then the whole budget. */
export function shares({ maxMemory, threads }: StrategyRequest): number[] {
  return threads > 1 ? [Math.floor(maxMemory / threads), maxMemory] : [maxMemory];
}

/** True if there may be missing chunks to write out. */
export function mayMiss(missing: MissingChunks | undefined): boolean {
  return missing !== undefined && (missing.chunks > 0 || !missing.isCertain);
}
