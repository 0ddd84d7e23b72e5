import type { CodecPipeline } from "../codecs/codec.ts";
import type { ZarrArray } from "../hierarchy/node.ts";
import type { BufferPool } from "../streams/buffer-pool.ts";
import type { DecodedChunk, Region } from "../streams/chunk.ts";
import type { Selection } from "../streams/selection.ts";
import type { SlabPlan } from "./plan/slab-plan.ts";

/** What slabs are read with. */
export interface SlabReading {
  readonly array: ZarrArray;
  readonly pipeline: CodecPipeline;
  readonly selection: Selection;
  readonly plan: SlabPlan;
  readonly buffers: BufferPool;
  readonly io: number;
  readonly signal: AbortSignal;
  /** Ends all reading. */
  readonly stop: () => void;
}

/** Gives the chunks, or pieces, of which a slab is made, and the part of them that the slab is. */
export type SlabChunks = (
  coords: readonly number[],
  region: Region,
) => { readonly chunks: AsyncIterable<DecodedChunk>; readonly part: Selection };
