import type { ZarrFormat } from "../../../meta/array-metadata.ts";
import type { FormatOptions } from "../../../meta/formats.ts";
import type { StoreSpec } from "../../../stores/store.ts";
import type { Selection } from "../../../streams/selection.ts";
import type { SlabPlan } from "../../plan/slabs.ts";

/** What a thread that reads slabs begins with. */
export interface SlabStart {
  readonly source: StoreSpec;
  /** What distinguishes the source from one that takes its place, where its store can tell. */
  readonly sourceVersion: string | undefined;
  /** The array's, with the documents that describe it. */
  readonly path: string;
  readonly documents: ReadonlyMap<string, Uint8Array>;
  readonly reading: FormatOptions & { readonly zarrFormat: ZarrFormat };
  readonly selection: Selection;
  readonly plan: SlabPlan;
  readonly slabs: number;
  readonly maxMemory: number;
  readonly io: number;
  /** The number of the slab that is read next, by whichever thread. */
  readonly next: Int32Array;
}

/** What it tells the thread that wants them. */
export type SlabMessage =
  /** A slab's items, the begin of a buffer that comes back. */
  | { readonly type: "slab"; readonly number: number; readonly bytes: Uint8Array<ArrayBuffer> }
  | { readonly type: "failed"; readonly error: unknown }
  | { readonly type: "done" };

/** What it is told: a buffer comes back; nobody wants more. */
export type SlabCall = { readonly type: "taken"; readonly buffer: ArrayBuffer } | { readonly type: "stop" };

/** Slabs that a thread has read and that were not taken yet. */
export const MAX_WAITING = 2;
