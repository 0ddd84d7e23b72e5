import type { ChunkData } from "../codecs/chunk-data.ts";
import { openKernelHeap, WORTH_A_HEAP } from "../codecs/kernels/kernels.ts";
import { mostStoredBytes } from "../codecs/limits.ts";
import type { ZarrArray } from "../hierarchy/node.ts";
import { gridShape } from "../meta/array-metadata.ts";
import type { StoreSpec } from "../stores/store.ts";
import { BufferPool } from "../streams/buffer-pool.ts";
import { ByteBudget } from "../streams/byte-budget.ts";
import type { ChunkRef, DecodedChunk, EncodedChunk, Region } from "../streams/chunk.ts";
import { type ChunkDecoder, chunkDecoder } from "../streams/decode-chunks.ts";
import { partRefs } from "../streams/part-refs.ts";
import { readChunks } from "../streams/read-chunks.ts";
import { regridder } from "../streams/regrid.ts";
import { chunkRegion, type Selection, selectionWithin } from "../streams/selection.ts";
import { coordsOf, cStrides, product } from "../util/shape.ts";
import { fillData } from "./fill-data.ts";
import { chunkRefs } from "./plan/chunk-refs.ts";
import { chunksHit } from "./plan/chunk-visits.ts";
import { planSlabs } from "./plan/slab-plan.ts";
import { openScratch, possibleStrategy } from "./scratch/open-scratch.ts";
import type { Scratch } from "./scratch/scratch.ts";
import { shuffledSlabs } from "./scratch/shuffled-slabs.ts";
import type { SlabChunks, SlabReading } from "./slab-reading.ts";

export interface ReadSlabsOptions {
  readonly maxMemory: number;
  readonly io: number;
  /** How slabs are made; by default whichever is predicted to take less time. */
  readonly strategy?: "direct" | "shuffle" | undefined;
  /** Where scratch objects go; the system's folder for temporary files by default. */
  readonly scratch?: StoreSpec | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** A slab of a selection; `data` is in C order, without gaps, and valid until the next one is asked for. */
export interface Slab {
  /** In coordinates of the selection's result. */
  readonly region: Region;
  readonly data: ChunkData;
}

/**
 * Reads a selection as slabs in C order, within a memory budget; the next one is read while one is used. Where chunks
 * would be decoded too often, all of them go through scratch objects before the first slab.
 *
 * @throws what reading and decoding throw; `no-space` where scratch objects do not fit.
 */
export async function* readSlabs(
  source: ZarrArray,
  selection: Selection,
  { maxMemory, io, scratch: place, signal, ...options }: ReadSlabsOptions,
): AsyncGenerator<Slab> {
  if (product(selection.shape) === 0) return;
  const array = source.innerChunks();
  const pipeline = await array.pipeline();
  const strategy = possibleStrategy(options.strategy, place);
  const plan = planSlabs({ array, pipeline, selection, maxMemory, io, strategy });
  const open = plan.chunksRead * pipeline.decodedSize >= WORTH_A_HEAP ? openKernelHeap() : undefined;
  const buffers = new BufferPool(maxMemory, { source: open?.heap });
  const stop = new AbortController();
  const combined = signal ? AbortSignal.any([signal, stop.signal]) : stop.signal;
  const reading = {
    array,
    pipeline,
    selection,
    plan,
    buffers,
    io,
    signal: combined,
    stop: () => stop.abort(),
  };
  const { shuffle } = plan;
  let scratch: Scratch | undefined;
  try {
    if (shuffle) scratch = await openScratch({ place, bytes: shuffle.cost.scratchBytes });
    const read = shuffle && scratch ? await shuffledSlabs(shuffle, scratch, reading) : directSlabs(reading);
    yield* slabsInOrder(read, reading);
  } finally {
    stop.abort();
    open?.close();
    await scratch?.remove();
  }
}

/** Slabs straight from the source. */
function directSlabs({ array, pipeline, selection, plan, buffers, io, signal }: SlabReading): SlabChunks {
  const concurrency = Math.min(io, plan.readAhead);
  const maxEncodedSize = mostStoredBytes(pipeline);
  const { readAhead, bytesPerChunk } = plan;
  const inFlight = { budget: new ByteBudget(readAhead * bytesPerChunk), bytesPerChunk };
  return (_, region) => {
    const part = selectionWithin(selection, region);
    const options = { concurrency, inFlight, maxEncodedSize, buffers, signal };
    const chunks = readChunks(array, partRefs(chunksOf(array, part), part, pipeline), options);
    return { chunks: decoded(chunks, chunkDecoder(array, { buffers })), part };
  };
}

async function* decoded(
  chunks: AsyncIterable<EncodedChunk>,
  decode: ChunkDecoder,
): AsyncGenerator<DecodedChunk> {
  for await (const chunk of chunks) yield await decode(chunk);
}

async function* slabsInOrder(chunksOfSlab: SlabChunks, reading: SlabReading): AsyncGenerator<Slab> {
  const { pipeline, selection, plan, buffers } = reading;
  const read = async (coords: readonly number[]): Promise<Slab> => {
    const region = chunkRegion(coords, plan.slabShape, selection.shape);
    const slab = { ...pipeline.spec, shape: region.shape };
    const { chunks, part } = chunksOfSlab(coords, region);
    const { add, end } = regridder(
      { shape: region.shape, chunk: slab, strides: cStrides(region.shape) },
      { selection: part, buffers },
    );
    let data: ChunkData | undefined;
    for await (const chunk of chunks) for (const whole of add(chunk)) data = whole.data;
    end();
    return { region, data: data ?? fillData(slab, buffers) };
  };

  let next: Promise<Slab> | undefined;
  const start = (coords: readonly number[] | undefined) => {
    next = coords && read(coords);
    next?.catch(() => {});
  };
  try {
    const slabs = coordsOf(gridShape(selection.shape, plan.slabShape));
    start(slabs.next().value ?? undefined);
    while (next) {
      const slab: Slab = await next;
      next = undefined;
      if (plan.slabsHeld > 1) start(slabs.next().value ?? undefined);
      yield slab;
      buffers.give(slab.data.bytes);
    }
  } finally {
    reading.stop();
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
