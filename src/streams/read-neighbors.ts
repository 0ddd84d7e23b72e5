import type { Neighbors, StoreOptions, ValuePlace } from "../stores/store.ts";
import { mergeRanges } from "../util/byte-range.ts";
import { plainBuffers } from "../util/bytes.ts";
import { type ReadableStream, streamFrom } from "../util/web-streams.ts";
import { type ChunkRef, type ChunkStore, type EncodedChunk, withChunkContext } from "./chunk.ts";
import { mapConcurrent } from "./map-concurrent.ts";
import { type ReadChunksOptions, together } from "./read-options.ts";
import { flatten } from "./read-shards.ts";

/** Chunks among which neighbors are searched; a zip may store them in any order. */
export const MAX_LOOKED_AT = 1024;

/** A chunk and the position of its value. */
interface PlacedChunk {
  readonly ref: ChunkRef;
  readonly range: ValuePlace;
}

/** Chunks that are read in one request. */
interface Neighborhood {
  readonly offset: number;
  readonly length: number;
  readonly refs: readonly ChunkRef[];
  /** Leases that the request takes. */
  readonly leases: number;
}

/** Reads one chunk without taking a lease. */
type ReadOne = (ref: ChunkRef, context: StoreOptions) => Promise<EncodedChunk>;

/**
 * `readChunks` for chunks that may be neighbors in one remote object. Reads neighboring chunks in one request, then
 * reads each chunk as usual, from the bytes that the request brought. The usual read also reports entries that are
 * wrong.
 */
export function readNeighbors(
  place: ChunkStore,
  neighbors: Neighbors,
  refs: Iterable<ChunkRef> | AsyncIterable<ChunkRef>,
  { readOne, ...options }: ReadChunksOptions & { readonly readOne: ReadOne },
): ReadableStream<EncodedChunk> {
  const { buffers = plainBuffers, concurrency = 16, inFlight, maxEncodedSize, signal } = options;
  const reading = together<PlacedChunk>({ inFlight, isFar: true, bytesOf: ({ range }) => range.bytesTaken });

  const discard = (chunks: readonly EncodedChunk[]) => {
    for (const { bytes, release } of chunks) {
      if (bytes) buffers.give(bytes);
      release?.();
    }
  };
  const readEach = async (refs: readonly ChunkRef[], context: StoreOptions): Promise<EncodedChunk[]> => {
    const read = await Promise.allSettled(refs.map((ref) => readOne(ref, context)));
    const failed = read.find((result) => result.status === "rejected");
    const chunks = read.flatMap((result) => (result.status === "fulfilled" ? [result.value] : []));
    if (failed === undefined) return chunks;
    for (const { bytes } of chunks) if (bytes) buffers.give(bytes);
    throw failed.reason;
  };
  const readTogether = async ({ offset, length, refs }: Neighborhood, context: StoreOptions) => {
    const part = buffers.take(length);
    let letGo = () => {};
    try {
      letGo = await neighbors.hold(part, offset, context).catch((error) => {
        const coords = refs[0]?.coords ?? [];
        throw withChunkContext(error, place, { coords, key: place.chunkKey(coords) });
      });
      return await readEach(refs, context);
    } finally {
      letGo();
      buffers.give(part);
    }
  };
  const read = async (near: Neighborhood, context: { readonly signal: AbortSignal }) => {
    const { refs, leases: count } = near;
    const leases = (await inFlight?.budget.acquireEach(count, inFlight.bytesPerChunk, context.signal)) ?? [];
    const leased = refs.map((ref, i) => ({ ...ref, release: leases[i]?.release ?? ref.release }));
    try {
      const all = { ...near, refs: leased };
      return await (refs.length === 1 ? readEach(leased, context) : readTogether(all, context));
    } catch (error) {
      for (const lease of leases.slice(0, refs.length)) lease.release();
      throw error;
    } finally {
      for (const lease of leases.slice(refs.length)) lease.release();
    }
  };
  const group = (run: readonly ChunkRef[]): Neighborhood[] => {
    const placed: PlacedChunk[] = [];
    const alone: Neighborhood[] = [];
    for (const ref of run) {
      const range = neighbors.placeOf(place.chunkKey(ref.coords));
      const isWhole = ref.part?.range === undefined;
      if (range && isWhole && range.bytesTaken <= (maxEncodedSize ?? Number.POSITIVE_INFINITY)) {
        placed.push({ ref, range });
      } else alone.push({ offset: 0, length: 0, refs: [ref], leases: 1 });
    }
    const merged = mergeRanges(placed, { fits: reading.fits, mostTogether: Number.POSITIVE_INFINITY });
    const near = merged.map(({ parts, offset, length }) => {
      return { offset, length, refs: parts.map(({ ref }) => ref), leases: reading.leases(parts, length) };
    });
    return [...alone, ...near];
  };
  return streamFrom(groupsOf(refs, group))
    .pipeThrough(mapConcurrent(read, { concurrency, signal, discard }))
    .pipeThrough(flatten<EncodedChunk>());
}

/** Groups chunks in the order of `refs`, a limited number at a time. */
async function* groupsOf(
  refs: Iterable<ChunkRef> | AsyncIterable<ChunkRef>,
  group: (run: readonly ChunkRef[]) => Neighborhood[],
): AsyncGenerator<Neighborhood> {
  let run: ChunkRef[] = [];
  for await (const ref of refs) {
    run.push(ref);
    if (run.length < MAX_LOOKED_AT) continue;
    yield* group(run);
    run = [];
  }
  yield* group(run);
}
