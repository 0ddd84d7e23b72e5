import type { ChunkData } from "../../codecs/chunk-data.ts";
import type { CodecPipeline } from "../../codecs/codec.ts";
import { fillData } from "../../codecs/filled-data.ts";
import type { ZarrArray } from "../../hierarchy/node.ts";
import { gridShape } from "../../meta/array-metadata.ts";
import type { BufferPool } from "../../streams/buffer-pool.ts";
import type { DecodedChunk, Region } from "../../streams/chunk.ts";
import { regridStage } from "../../streams/regrid.ts";
import { chunkRegion, type Selection } from "../../streams/selection.ts";
import { coordsAt, cStrides } from "../../util/shape.ts";
import type { SlabPlan } from "../plan/slabs.ts";

/** What slabs are read with. */
export interface SlabReading {
  readonly array: ZarrArray;
  readonly pipeline: CodecPipeline;
  readonly selection: Selection;
  readonly plan: SlabPlan;
  readonly buffers: BufferPool;
  readonly io: number;
  readonly signal: AbortSignal;
}

/** A slab of a selection; `data` is in C order, without gaps, and valid until the next one is asked for. */
export interface Slab {
  /** In coordinates of the selection's result. */
  readonly region: Region;
  readonly data: ChunkData;
}

/** Gives the chunks, or pieces, of which a slab is made, and the part of them that the slab is. */
export type SlabChunks = (
  coords: readonly number[],
  region: Region,
) => { readonly chunks: AsyncIterable<DecodedChunk>; readonly part: Selection };

/** Reads one slab, by its number in C order, into a buffer of the reading's. */
export type SlabReader = (number: number) => Promise<Slab>;

/** The items of the slab of that number. */
export function slabRegion({ selection, plan }: Pick<SlabReading, "selection" | "plan">, number: number) {
  const coords = coordsAt(number, gridShape(selection.shape, plan.slabShape));
  return { coords, region: chunkRegion(coords, plan.slabShape, selection.shape) };
}

export function slabReader(chunksOfSlab: SlabChunks, reading: SlabReading): SlabReader {
  const { pipeline, buffers } = reading;
  return async (number) => {
    const { coords, region } = slabRegion(reading, number);
    const slab = { ...pipeline.spec, shape: region.shape };
    const { chunks, part } = chunksOfSlab(coords, region);
    const { push, end } = regridStage(
      { shape: region.shape, chunk: slab, strides: cStrides(region.shape) },
      { selection: part, buffers },
    );
    let data: ChunkData | undefined;
    for await (const chunk of chunks) for (const whole of push(chunk)) data = whole.data;
    end();
    return { region, data: data ?? fillData(slab, buffers) };
  };
}
