import type { ChunkData } from "../codecs/chunk-data.ts";
import { mostStoredBytes } from "../codecs/limits.ts";
import type { ZarrArray } from "../hierarchy/node.ts";
import { gridShape } from "../meta/array-metadata.ts";
import { BufferPool } from "../streams/buffer-pool.ts";
import { ByteBudget } from "../streams/byte-budget.ts";
import type { ChunkRef, DecodedChunk, Region } from "../streams/chunk.ts";
import { decodeChunks } from "../streams/decode-chunks.ts";
import { readChunks } from "../streams/read-chunks.ts";
import { regrid } from "../streams/regrid.ts";
import { chunkRegion, type Selection } from "../streams/selection.ts";
import { coordsOf, cStrides, product } from "../util/shape.ts";
import { fillData } from "./fill-data.ts";
import { chunkRefs } from "./plan/chunk-refs.ts";
import { chunksHit } from "./plan/chunk-visits.ts";
import { planSlabs } from "./plan/slab-plan.ts";

export interface ReadSlabsOptions {
  readonly maxMemory: number;
  readonly io: number;
  readonly signal?: AbortSignal | undefined;
}

/** A slab of a selection; `data` is in C order, without gaps, and valid until the next one is asked for. */
export interface Slab {
  /** In coordinates of the selection's result. */
  readonly region: Region;
  readonly data: ChunkData;
}

/** Reads a selection as slabs in C order, within a memory budget; the next one is read while one is used. */
export async function* readSlabs(
  source: ZarrArray,
  selection: Selection,
  { maxMemory, io, signal }: ReadSlabsOptions,
): AsyncGenerator<Slab> {
  if (product(selection.shape) === 0) return;
  const array = source.innerChunks();
  const pipeline = await array.pipeline();
  const plan = planSlabs({ array, pipeline, selection, maxMemory, io });
  const buffers = new BufferPool(maxMemory);
  const stop = new AbortController();
  const combined = signal ? AbortSignal.any([signal, stop.signal]) : stop.signal;
  const grid = gridShape(selection.shape, plan.slabShape);
  const concurrency = Math.min(io, plan.readAhead);
  const maxEncodedSize = mostStoredBytes(pipeline);
  const inFlight = {
    budget: new ByteBudget(plan.readAhead * plan.bytesPerChunk),
    bytesPerChunk: plan.bytesPerChunk,
  };

  const read = async (coords: readonly number[]): Promise<Slab> => {
    const region = chunkRegion(coords, plan.slabShape, selection.shape);
    const part = partOf(selection, region);
    const options = { concurrency, inFlight, maxEncodedSize, buffers, signal: combined };
    const slab = { ...pipeline.spec, shape: region.shape };
    const data = await only(
      readChunks(array, chunksOf(array, part), options)
        .pipeThrough(decodeChunks(array, { buffers }))
        .pipeThrough(
          regrid(
            { shape: region.shape, chunk: slab, strides: cStrides(region.shape) },
            { selection: part, buffers },
          ),
        ),
    );
    return { region, data: data ?? fillData(slab, buffers) };
  };

  let next: Promise<Slab> | undefined;
  const start = (coords: readonly number[] | undefined) => {
    next = coords && read(coords);
    next?.catch(() => {});
  };
  try {
    const slabs = coordsOf(grid);
    start(slabs.next().value ?? undefined);
    while (next) {
      const slab: Slab = await next;
      next = undefined;
      if (plan.slabsHeld > 1) start(slabs.next().value ?? undefined);
      yield slab;
      buffers.give(slab.data.bytes);
    }
  } finally {
    stop.abort();
    await next?.catch(() => {});
  }
}

/** The source chunks that a selection touches, in C order; those in shards shard by shard. */
export function chunksOf(array: ZarrArray, { start, step, shape }: Selection): Generator<ChunkRef> {
  const { chunkShape } = array.metadata.chunkGrid;
  const hit = shape.map((count, d) => {
    const dimension = { start: start[d] ?? 0, step: step[d] ?? 1, count, sourceChunk: chunkShape[d] ?? 1 };
    return chunksHit(dimension, 0, count);
  });
  const shardShape = array.shards && chunkShape.map((n, d) => n * (array.shards?.chunksPerShard[d] ?? 1));
  return chunkRefs({ shape: array.shape, chunkShape, shardShape }, hit);
}

/** The selection of which `region` of the result is made. */
function partOf({ start, step }: Selection, region: Region): Selection {
  return {
    start: start.map((from, d) => from + (step[d] ?? 1) * (region.start[d] ?? 0)),
    step,
    shape: region.shape,
  };
}

/** The data of a stream's one chunk. */
async function only(chunks: ReadableStream<DecodedChunk>): Promise<ChunkData | undefined> {
  let data: ChunkData | undefined;
  for await (const chunk of chunks) data = chunk.data;
  return data;
}
