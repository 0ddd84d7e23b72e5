import type { CostClass } from "../codecs/descriptor.ts";
import type { ChunkKeyEncoding, ZarrFormat } from "../meta/array-metadata.ts";
import type { FormatOptions } from "../meta/formats.ts";
import type { StoreSpec } from "../stores/store.ts";
import type { Selection } from "../streams/selection.ts";
import type { PlannedFilter } from "./key-filter.ts";

/**
 * Planning: computes the work of a flow. Nothing here reads or writes.
 *
 * Terms:
 *
 * - window: the target chunks that one task makes, as a box in the grid of target chunks.
 * - box: a region of items or of coords, with a start and a shape.
 * - split: the division of one dimension into boxes (`task.ts`).
 * - slab: a run of items in C order, for reading a slice as bytes: whole trailing dimensions and part of one. Slabs
 *   are the chunks of a target grid without codecs.
 * - piece: the items that boxes of two stages share; a part of a scratch object, read by range.
 * - task: a unit of work under one lease of memory; it makes a window, or one scratch object.
 * - step: a part of a window. If a window is too large for the budget, its steps are made one after the other.
 * - stage (of a plan): a set of tasks that starts only after all tasks of the previous stage have ended.
 * - stage (of a task): a processing step of each chunk: decode, gather, regrid, encode (`streams/stage.ts`).
 * - pass: a stage of a plan that makes scratch objects, before the stage that makes target chunks.
 * - strategy: a method to make the target chunks of an array (`strategies.ts`).
 * - candidate: a way in which a strategy can split the work.
 */

/**
 * The work of a flow, as JSON. Its size does not depend on the number of chunks, because tasks are computed
 * (`taskAt`) and not listed. Without credentials, so that another process can run it.
 */
export interface Plan {
  readonly format: "zarrflow-plan/1";
  readonly operation: "copy" | "convert" | "rechunk" | "slice";
  readonly source: NodeSpec;
  readonly target: NodeSpec;
  /** Store of scratch objects; by default the system's temporary folder. */
  readonly scratch?: StoreSpec;
  readonly budget: PlanBudget;
  readonly execution: Execution;
  /** One job per array, in the order of their tasks. */
  readonly jobs: readonly ArrayJob[];
  /** Number of tasks per stage. A stage starts when all tasks of the previous one have ended. */
  readonly stages: readonly number[];
  readonly publication: Publication;
  /** Expected speed of the stores over a network; absent if all stores are local. */
  readonly profiles?: StoreProfiles;
  readonly totals: PlanTotals;
  /** Differences that readers of the target may notice, and options without effect. */
  readonly warnings: readonly NodeWarning[];
  /**
   * Arrays that keep their chunks because they have only some of the dimensions that new chunks name; absent if
   * every array changes.
   */
  readonly chunksKept?: readonly KeptChunks[];
}

/** An array with some of the dimensions that new chunks name. */
export interface KeptChunks {
  /** Path of the array in the source store. */
  readonly path: string;
  readonly has: readonly string[];
  readonly lacks: readonly string[];
}

/** Information about a node that is not an error. */
export interface NodeWarning {
  readonly message: string;
  /** Kind of warning, for programs that handle it; absent for most. */
  readonly code?: "option-without-effect" | "nothing-matches";
  /** The option that the warning is about. */
  readonly option?: string;
  /** Path of the node below the node that the flow reads; absent for that node itself. */
  readonly path?: string;
  readonly hint?: string;
}

/** The parts of a plan that determine its tasks and how they run. */
export interface TaskPlan extends Pick<Plan, "jobs" | "stages"> {
  readonly execution: Pick<Execution, "driver" | "tasksAtOnce" | "concurrency">;
}

/** A node in a store. */
export interface NodeSpec {
  readonly store: StoreSpec;
  readonly path: string;
  /** Options for reading its documents, if they differ from the defaults. */
  readonly reading?: FormatOptions;
}

export interface PlanBudget {
  /** Maximum bytes of all buffers together. */
  readonly maxMemory: number;
  /** Bytes of the largest task. */
  readonly leaseBytes: number;
}

/** How chunks of a task pass through its stages: in WHATWG streams, or in a loop of blocking calls. */
export type Driver = "streams" | "loop";

/** How the tasks of a plan run. Decided when the plan is made; executors follow it. */
export interface Execution {
  /** `loop` if both stores are local files; otherwise `streams`. */
  readonly driver: Driver;
  /** Threads that run tasks, including the one that starts the run. */
  readonly threads: number;
  /** The reason for a single thread, if no other thread can run tasks of this plan. */
  readonly singleThreadReason?: string;
  /** Maximum number of concurrent tasks in all threads together. The budget may admit fewer. */
  readonly tasksAtOnce: number;
  /** Maximum number of requests in flight per store, or per server if stores share one, in all threads together. */
  readonly concurrency: number;
  /** True if `concurrency` is only an upper limit, and the run finds the useful number for each server. */
  readonly isAdaptive?: boolean;
  /** The threads that write to the target: each thread what it encoded, or the first thread for all. */
  readonly writer: "each-thread" | "first-thread";
}

export interface ArrayJob {
  /** Path of the array in the source store. */
  readonly path: string;
  /** Path of the array in the target store. */
  readonly targetPath: string;
  readonly dataType: string;
  /** One name per dimension, null for a dimension without name; absent if none has one. */
  readonly dimensionNames?: readonly (string | null)[];
  /**
   * Strategy for making the target chunks. `verbatim` copies stored bytes. `transcode` decodes and encodes chunk by
   * chunk in the same grid. `direct` scatters source chunks into windows of whole target chunks. `staged` reads
   * each source chunk once, and collects the items of each window in scratch objects.
   */
  readonly strategy: string;
  /** Conversion of the values; absent if they stay the same. */
  readonly conversion?: PlannedConversion;
  readonly source: GridSide;
  readonly target: GridSide;
  readonly selection: Selection;
  /** Shape of a task's window, in target chunks; with shards, a multiple of whole shards. */
  readonly window: readonly number[];
  /** Shape of the part of a window that is made at a time, in target chunks; absent if the whole window is. */
  readonly step?: readonly number[];
  /** Bytes of the buffer that collects a shard; absent without shards, or if they are streamed. */
  readonly shardBuffer?: number;
  /**
   * Passes through scratch objects before the target chunks are made, each a stage of its own; absent
   * without scratch objects.
   */
  readonly passes?: readonly ScratchPass[];
  /** Source chunks, or pieces of scratch objects, in flight within a task. */
  readonly readAhead: number;
  /** Number of the job's first task in the stage that makes target chunks. */
  readonly firstTask: number;
  /** Number of tasks that make target chunks; 0 for an array whose keys are copied without tasks. */
  readonly tasks: number;
  /** Maximum bytes that a task may hold. */
  readonly leaseBytes: number;
  /** Expected maximum bytes of a task's buffers. Its lease also covers memory outside buffers. */
  readonly expectedBytes: number;
  /** Chunks read and written by all tasks together. */
  readonly chunksRead: number;
  readonly chunksWritten: number;
  /**
   * Missing source chunks that are written out with the source's fill value, because the target's differs. An upper
   * bound if the source cannot list its keys; does not count chunks missing inside existing shards. Absent if
   * missing chunks stay missing.
   */
  readonly missingChunks?: number;
  /** Predicted cost; absent if stored bytes are copied. */
  readonly cost?: Cost;
  readonly notTaken: readonly Alternative[];
}

/**
 * A pass of the `staged` strategy. Each task makes one scratch object from a box of items, sorted by the boxes of
 * the next stage.
 */
export interface ScratchPass {
  /**
   * Shape of the boxes. The first pass has whole source chunks, in items of the source; later passes are in items
   * of the target.
   */
  readonly box: readonly number[];
  /** Source chunks, or pieces of scratch objects, in flight within a task. */
  readonly readAhead: number;
  /** Number of the pass's first task within its stage. */
  readonly firstTask: number;
  readonly tasks: number;
  /** Maximum bytes that a task may hold. */
  readonly leaseBytes: number;
  /** Expected maximum bytes of a task's buffers. */
  readonly expectedBytes: number;
}

/** Identifies a map that computes values. */
export type PlannedMap =
  /** A module whose default export is the map, and the SHA-256 of its text. */
  | { readonly module: string; readonly hash: string }
  /** A function in the process that makes the plan; a hash of its text. */
  | { readonly function: string };

/** Conversion of array values as chunks are decoded. */
export interface PlannedConversion {
  /** The new data type, as text. */
  readonly dataType: string;
  /** Bytes of the new fill value in Base64; null if it is undefined. */
  readonly fillValue: string | null;
  /** Replaces stored values by decoded ones: scaled, with NaN for missing values. */
  readonly unpack?: true;
  /** Replaces missing values by the new fill value. */
  readonly replaceMissing?: true;
  /** Computes new values. */
  readonly map?: PlannedMap;
  /** Packs values into integers: `(value - offset) / scale`. */
  readonly pack?: { readonly scale: number; readonly offset: number };
  /** Replaces numbers out of the type's range by the nearest number in range. By default they are rejected. */
  readonly overflow?: "clamp";
}

/** One side of a job: a grid, and the size of its chunks in bytes. */
export interface GridSide {
  readonly zarrFormat: ZarrFormat;
  readonly chunkKeyEncoding: ChunkKeyEncoding;
  readonly shape: readonly number[];
  /** Shape of the unit that is read, decoded, encoded and written. */
  readonly chunkShape: readonly number[];
  /** Shape of a shard of such chunks; absent if each chunk has its own key. */
  readonly shardShape?: readonly number[];
  readonly codecs: readonly PlannedCodec[];
  /** True if part of a chunk can be decoded in less time than the whole. */
  readonly decodesParts?: boolean;
  readonly decodedSize: number;
  readonly maxEncodedSize: number;
  /** Memory of codecs besides their input and output, and the part of it in pooled buffers. */
  readonly scratchSize: number;
  readonly pooledScratchSize: number;
}

/** A codec in encoding order, and its cost. */
export interface PlannedCodec {
  readonly name: string;
  readonly configuration: { readonly [name: string]: unknown };
  readonly costClass: CostClass;
}

/** A strategy that was not chosen, the reason, and its cost if it was possible. */
export interface Alternative {
  readonly strategy: string;
  readonly reason: string;
  readonly cost?: Cost;
}

/** Predicted cost of a strategy. */
export interface Cost {
  readonly seconds: number;
  /** How often each source chunk with any selected item is decoded, on average. */
  readonly timesDecoded: number;
  /** Requests to all stores: chunks read and written, scratch objects written, and pieces of them read. */
  readonly requests: number;
  /** Maximum bytes of existing scratch objects. */
  readonly scratchBytes: number;
  /** Maximum bytes of buffers. */
  readonly peak: number;
}

/** The final steps that make the target readable. */
export interface Publication {
  readonly zarrFormat: ZarrFormat;
  /** The source's format. If the target's differs, its documents are not copied. */
  readonly from: ZarrFormat;
  /** Documents in publishing order: copied from a source key, or with their text. */
  readonly documents: readonly PlannedDocument[];
  /** Target groups that get consolidated metadata of the documents above, deepest first. They are written last. */
  readonly consolidate: readonly string[];
  /**
   * True if listed keys of the source are copied unchanged, except the documents above and chunks of jobs with
   * tasks.
   */
  readonly copyKeys: boolean;
  /** Globs of the keys to copy, as paths below the source, and the arrays included with them. */
  readonly filter?: PlannedFilter;
  /** Paths of source nodes that are not copied, including all keys in them. */
  readonly leftOut?: readonly string[];
  /**
   * Present if the target existed when the plan was made and is changed in place: `skip` keeps its nodes, `update`
   * makes it the same as the source.
   */
  readonly existing?: "skip" | "update";
}

export type PlannedDocument =
  | { readonly key: string; readonly from: string }
  | { readonly key: string; readonly text: string };

/**
 * Figures of all tasks together. Keys that are copied without tasks do not count, because they are unknown until
 * they are listed.
 */
export interface PlanTotals {
  readonly arrays: number;
  readonly tasks: number;
  /**
   * Requests for chunks, one per chunk read. An upper bound for chunks in shards, as adjacent ones are read
   * together. Requests for shard indexes do not count.
   */
  readonly chunksRead: number;
  /** Maximum chunks written; chunks that contain only the fill value are omitted. */
  readonly chunksWritten: number;
  /** Missing source chunks that are written out, because the target's fill value differs. */
  readonly missingChunks: number;
  /** Bytes of all decoded chunks that are read, including repeated reads. */
  readonly decodedBytes: number;
  /** Bytes of the selected items. */
  readonly logicalBytes: number;
  /** How often each source chunk with any selected item is read, on average. */
  readonly readAmplification: number;
  /** Bytes of existing scratch objects of all arrays together; 0 without any. */
  readonly scratchBytes: number;
  /** Predicted maximum bytes of all buffers. */
  readonly predictedPeak: number;
  /** Predicted seconds of the run; absent if the cost of an array with tasks is unknown. */
  readonly predictedSeconds?: number;
}

/** Expected speed of a store over a network. */
export interface StoreProfile {
  /** Seconds from a small request to its response. */
  readonly latency: number;
  /** Bytes per second in each direction, for all requests together. */
  readonly bytesPerSecond: number;
  /** Source of the latency: responses to the first requests, the caller, or a default. */
  readonly basis: "measured" | "stated" | "assumed";
}

/** Profiles of a plan's stores over a network. Local stores have none. */
export interface StoreProfiles {
  readonly source?: StoreProfile;
  readonly target?: StoreProfile;
  readonly scratch?: StoreProfile;
}

/** Memory, threads and requests that a run may use. They affect how tasks are divided, not the result. */
export interface PlanPace {
  readonly maxMemory: number;
  /** Requests in flight per store. */
  readonly concurrency: number;
  /** True if `concurrency` is only an upper limit, and the run finds the number itself. */
  readonly isAdaptive?: boolean | undefined;
  /** Threads that run tasks; 1 by default. */
  readonly threads?: number;
  /** The reason for a single thread, if no other thread can run tasks. */
  readonly singleThreadReason?: string | undefined;
  /** True if threads share memory; the default. */
  readonly isMemoryShared?: boolean | undefined;
}

/** The stores that may have a profile in a plan. */
export const SIDES = ["source", "target", "scratch"] as const;

/** True if both profiles have the same figures, whatever their source. */
export function isSameProfiles(a: StoreProfiles = {}, b: StoreProfiles = {}): boolean {
  return SIDES.every(
    (side) => a[side]?.latency === b[side]?.latency && a[side]?.bytesPerSecond === b[side]?.bytesPerSecond,
  );
}

/** Profile of an unmeasured store: as far away as one in another region. */
export const ASSUMED_PROFILE: StoreProfile = { latency: 40e-3, bytesPerSecond: 100e6, basis: "assumed" };
