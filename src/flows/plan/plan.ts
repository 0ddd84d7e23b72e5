/**
 * Planning: what a flow will do, by arithmetic alone. Nothing here reads or writes.
 *
 * The words, each with one meaning:
 *
 * - window: the target chunks that one task makes, as a box in the grid of target chunks.
 * - box: a region of items, or of coords: where it starts, and its shape.
 * - split: how one dimension is divided into boxes (`splits.ts`).
 * - slab: a window of items in C order, for who reads a slice as bytes: whole trailing dimensions, a part of one.
 * - piece: what the boxes of two stages share; a part of a scratch object, read by range.
 * - task: what runs at one time, under one lease of memory: it makes a window, or one scratch object.
 * - step: a part of a window that is made after the one before, where all of the window would be too large.
 * - stage (of a plan): tasks of which none begins before all of the stage before have ended.
 * - stage (of a task): what each chunk goes through: decode, gather, regrid, encode (`streams/stage.ts`).
 * - pass: a stage of a plan that goes through scratch objects, before the stage that makes the target's chunks.
 * - strategy: how one array's chunks get to the target (`strategies/`); candidate: a way for a strategy to split the work.
 */

import type { CostClass } from "../../codecs/descriptor.ts";
import type { ChunkKeyEncoding, ZarrFormat } from "../../meta/array-metadata.ts";
import type { FormatOptions } from "../../meta/formats.ts";
import type { StoreSpec } from "../../stores/store.ts";
import type { Selection } from "../../streams/selection.ts";
import type { PlannedFilter } from "../request/key-filter.ts";
import type { StoreProfiles } from "./store-profile.ts";

/**
 * What a flow will do, as JSON: small whatever the number of chunks, since tasks are computed (`taskAt`), not
 * listed; and without credentials, so that another process can run it.
 */
export interface Plan {
  readonly format: "zarrflow-plan/1";
  readonly operation: "copy" | "convert" | "rechunk" | "slice";
  readonly source: NodeSpec;
  readonly target: NodeSpec;
  /** Where scratch objects go; the system's folder for temporary files by default. */
  readonly scratch?: StoreSpec;
  readonly budget: PlanBudget;
  readonly execution: Execution;
  /** One job an array, in the order of their tasks. */
  readonly jobs: readonly ArrayJob[];
  /** How many tasks each stage has; a stage begins when all tasks of the one before have ended. */
  readonly stages: readonly number[];
  readonly publication: Publication;
  /** What is assumed of the stores that are over a network; absent: none is. */
  readonly profiles?: StoreProfiles;
  readonly totals: PlanTotals;
  /** What readers of the target may take otherwise than those of the source. */
  readonly warnings: readonly NodeWarning[];
  /** Arrays that keep their chunks, as they have only some of the dimensions that new chunks name; absent: none. */
  readonly chunksKept?: readonly KeptChunks[];
}

/** An array with some of the dimensions that new chunks name. */
export interface KeptChunks {
  /** Path of the array in the source store. */
  readonly path: string;
  readonly has: readonly string[];
  readonly lacks: readonly string[];
}

/** What there is to know about a node that no error will say. */
export interface NodeWarning {
  readonly message: string;
  /** The kind of warning that a program tells from others; absent for most. */
  readonly code?: "option-without-effect" | "nothing-matches";
  /** The option that it is about. */
  readonly option?: string;
  /** Its path below the node that the flow reads; absent for that itself. */
  readonly path?: string;
  readonly hint?: string;
}

/** What of a plan says which tasks there are, and how they run. */
export interface TaskPlan extends Pick<Plan, "jobs" | "stages"> {
  readonly execution: Pick<Execution, "driver" | "tasksAtOnce" | "concurrency">;
}

/** A node inside a store. */
export interface NodeSpec {
  readonly store: StoreSpec;
  readonly path: string;
  /** How its documents are read, where that is not the usual way. */
  readonly reading?: FormatOptions;
}

export interface PlanBudget {
  /** Bytes that all buffers together may take. */
  readonly maxMemory: number;
  /** The largest task's bytes. */
  readonly leaseBytes: number;
}

/** How the chunks of a task pass through its stages: in WHATWG streams, or in a plain loop of calls that block. */
export type Driver = "streams" | "loop";

/** How the tasks of a plan run. Decided when the plan is made; what runs the plan obeys it. */
export interface Execution {
  /** `loop` where the files of both stores answer at once; else `streams`. */
  readonly driver: Driver;
  /** Threads that run tasks, the one that starts the run among them. */
  readonly threads: number;
  /** Why it is one thread, where others cannot run tasks of this plan. */
  readonly singleThreadReason?: string;
  /** The most tasks that run at one time, of all threads together, as far as the budget admits them. */
  readonly tasksAtOnce: number;
  /** Requests in flight for each store, of all threads together: at servers for each of these, sources and targets. */
  readonly concurrency: number;
  /** Whether so many are the most, and how many are of use at a server is found while the plan runs. */
  readonly isAdaptive?: boolean;
  /** Who writes the target: each thread what it encoded, or the first thread what all of them encoded. */
  readonly writer: "each-thread" | "first-thread";
}

export interface ArrayJob {
  /** Path of the array in the source store. */
  readonly path: string;
  /** Path of the array in the target store. */
  readonly targetPath: string;
  readonly dataType: string;
  /** A name a dimension, null where it has none; absent where none has. */
  readonly dimensionNames?: readonly (string | null)[];
  /**
   * How its chunks get to the target: `verbatim` moves stored bytes; `transcode` decodes and encodes chunk by chunk on
   * the same grid; `direct` scatters source chunks into windows of whole target chunks; `staged` reads each source chunk
   * once, and leaves what belongs to each window in scratch objects.
   */
  readonly strategy: string;
  /** What becomes of the values; absent: they stay as they are. */
  readonly conversion?: PlannedConversion;
  readonly source: GridSide;
  readonly target: GridSide;
  readonly selection: Selection;
  /** Shape of a task's window, in target chunks; whole shards, where there are any. */
  readonly window: readonly number[];
  /** Shape of the part of a window that is made at one time, in target chunks; absent: all of it. */
  readonly step?: readonly number[];
  /** Bytes of the buffer in which a shard is put together; absent: it is streamed, or there are no shards. */
  readonly shardBuffer?: number;
  /** Passes through scratch objects, each a stage of its own, before the target's chunks are made; absent: none. */
  readonly passes?: readonly ScratchPass[];
  /** Source chunks, or pieces of scratch objects, in flight within a task. */
  readonly readAhead: number;
  /** Number of its first task that makes target chunks, within the stage of these. */
  readonly firstTask: number;
  /** How many tasks make target chunks; 0 for an array whose keys are copied without tasks. */
  readonly tasks: number;
  /** Bytes that a task may hold at one time. */
  readonly leaseBytes: number;
  /** Bytes of buffers that a task is expected to hold at one time; a task may hold more beside them. */
  readonly expectedBytes: number;
  /** Chunks read and written by all tasks together. */
  readonly chunksRead: number;
  readonly chunksWritten: number;
  /**
   * Source chunks that are missing and are written out with the source's fill value, as the target has another: the most
   * that there can be where the source cannot list its keys, without those of shards that are there. Absent: missing
   * chunks stay missing.
   */
  readonly missingChunks?: number;
  /** What it takes; absent where stored bytes are moved as they are. */
  readonly cost?: Cost;
  readonly notTaken: readonly Alternative[];
}

/** A pass of the `staged` strategy. Each task makes one scratch object of a box of items, sorted by the boxes that come next. */
export interface ScratchPass {
  /** Shape of the boxes: in the first pass whole source chunks, in items of the source; later in items of the target. */
  readonly box: readonly number[];
  /** Source chunks, or pieces of scratch objects, in flight within a task. */
  readonly readAhead: number;
  /** Number of its first task within its stage. */
  readonly firstTask: number;
  readonly tasks: number;
  /** Bytes that a task may hold at one time. */
  readonly leaseBytes: number;
  /** Bytes of buffers that a task is expected to hold at one time. */
  readonly expectedBytes: number;
}

/** What a plan says of a map that computes values. */
export type PlannedMap =
  /** A module whose default export is the map, and the SHA-256 of its text. */
  | { readonly module: string; readonly hash: string }
  /** A function of the process that plans; a hash of its text. */
  | { readonly function: string };

/** How the values of an array become others as its chunks are decoded. */
export interface PlannedConversion {
  /** The new data type, in words. */
  readonly dataType: string;
  /** Bytes of the new fill value in Base64; null where it is undefined. */
  readonly fillValue: string | null;
  /** Whether stored values become those that they mean: scaled, those that are missing NaN. */
  readonly unpack?: true;
  /** Whether values that stand for missing items become the new fill value. */
  readonly replaceMissing?: true;
  /** What computes new values. */
  readonly map?: PlannedMap;
  /** How values are packed into integers: `(value - offset) / scale`. */
  readonly pack?: { readonly scale: number; readonly offset: number };
  /** Whether numbers that the type cannot hold become the nearest that it holds; they are refused by default. */
  readonly overflow?: "clamp";
}

/** One side of a job: a grid and what its chunks weigh, in bytes. */
export interface GridSide {
  readonly zarrFormat: ZarrFormat;
  readonly chunkKeyEncoding: ChunkKeyEncoding;
  readonly shape: readonly number[];
  /** Shape of what is read, decoded, encoded and written at one time. */
  readonly chunkShape: readonly number[];
  /** Shape of what one key holds, where that is a shard of such chunks. */
  readonly shardShape?: readonly number[];
  readonly codecs: readonly PlannedCodec[];
  /** Whether a part of a chunk takes less time to decode than all of it. */
  readonly decodesParts?: boolean;
  readonly decodedSize: number;
  readonly maxEncodedSize: number;
  /** What codecs hold at one time besides what they are given and what they give, and what of it lies in buffers. */
  readonly scratchSize: number;
  readonly pooledScratchSize: number;
}

/** A codec in the order of encoding, and how long it takes. */
export interface PlannedCodec {
  readonly name: string;
  readonly configuration: { readonly [name: string]: unknown };
  readonly costClass: CostClass;
}

/** A strategy that was not taken, and why; with what it would have taken, where it can be done. */
export interface Alternative {
  readonly strategy: string;
  readonly reason: string;
  readonly cost?: Cost;
}

/** What a strategy is predicted to take. */
export interface Cost {
  readonly seconds: number;
  /** How often each source chunk that holds any of the items is decoded, on average. */
  readonly timesDecoded: number;
  /** Of all stores: chunks read and written, scratch objects written, pieces of them read. */
  readonly requests: number;
  /** Bytes of scratch objects at one time. */
  readonly scratchBytes: number;
  /** Bytes of buffers at one time. */
  readonly peak: number;
}

/** What makes the target readable, done last. */
export interface Publication {
  readonly zarrFormat: ZarrFormat;
  /** The source's format: where it is another one, its documents are left behind. */
  readonly from: ZarrFormat;
  /** Documents in the order in which they are published: copied from a source key, or with their text. */
  readonly documents: readonly PlannedDocument[];
  /** Target groups whose consolidated metadata are made of the documents above and put last, the deepest first. */
  readonly consolidate: readonly string[];
  /**
   * Whether keys of the source's listing are copied: every key that is neither a document above nor a chunk of a job with
   * tasks is copied as it is.
   */
  readonly copyKeys: boolean;
  /** Globs of the keys that are copied, by their paths below the source, and the arrays that come along. */
  readonly filter?: PlannedFilter;
  /** Paths of source nodes that stay behind, with what keys lie in them. */
  readonly leftOut?: readonly string[];
  /**
   * Present where the target was there when the plan was made, and is added to at its place: `skip` leaves its nodes as
   * they are, `update` makes it what the source is.
   */
  readonly existing?: "skip" | "update";
}

export type PlannedDocument =
  | { readonly key: string; readonly from: string }
  | { readonly key: string; readonly text: string };

/** The figures of all tasks together; keys that are copied without tasks are not counted: they are known when they are listed. */
export interface PlanTotals {
  readonly arrays: number;
  readonly tasks: number;
  /**
   * Requests for chunks; one a chunk read. Of chunks in shards, where near ones are read together, it is the most that
   * there are; those for indexes are not among them.
   */
  readonly chunksRead: number;
  /** The most chunks that are written; those of nothing but the fill value are left out. */
  readonly chunksWritten: number;
  /** Source chunks that are missing and are written out, as the target has another fill value. */
  readonly missingChunks: number;
  /** Bytes of the decoded chunks that are read, repeats included. */
  readonly decodedBytes: number;
  /** Bytes of the selected items. */
  readonly logicalBytes: number;
  /** How often each source chunk that holds any of the selected items is read, on average. */
  readonly readAmplification: number;
  /** Bytes that scratch objects take at one time, of all arrays together; 0 without any. */
  readonly scratchBytes: number;
  /** Bytes that all buffers will take at one time. */
  readonly predictedPeak: number;
  /** Seconds that the run is predicted to take; absent where that of an array with tasks is not known. */
  readonly predictedSeconds?: number;
}
