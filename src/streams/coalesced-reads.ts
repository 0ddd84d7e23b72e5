import type { AdjacentReads, StoreOptions, ValuePlace } from "../stores/store.ts";
import { MAX_TOGETHER, type MergedRange, mergeRanges } from "../util/byte-range.ts";
import { plainBuffers } from "../util/bytes.ts";
import { type ReadableStream, streamFrom, TransformStream } from "../util/web-streams.ts";
import { BufferScope, pooledSize } from "./buffer-pool.ts";
import {
  type ChunkRef,
  type ChunkSizes,
  type ChunkStore,
  type EncodedChunk,
  encodedChunk,
  inChunk,
} from "./chunk.ts";
import { chunkReader, type ReadChunksOptions } from "./chunk-reader.ts";
import { mapConcurrent } from "./map-concurrent.ts";

/** A chunk and the place of its bytes. */
export interface LocatedChunk {
  readonly ref: ChunkRef;
  /** Bytes of a shard or of a remote object. Absent if the chunk is not stored, or must be read on its own. */
  readonly range?: Pick<ValuePlace, "offset" | "length"> & Partial<ValuePlace>;
}

/** Chunks that may be adjacent in one value or object, and how several of them are read in one request. */
export interface AdjacentChunks<C extends LocatedChunk> {
  /** The most chunks that are located together. */
  readonly mostLocated: number;
  /** Name of what contains a chunk. Only consecutive chunks in the same container are located together. */
  containerOf(ref: ChunkRef): string;
  /** Finds the places of chunks in the same container. */
  locate(refs: readonly ChunkRef[], context: StoreOptions): Promise<readonly C[]>;
  /**
   * Reads chunks that are close to each other, or one on its own; undefined for those that are not stored. Each is in
   * a buffer of its own, because codecs work in place. After a failure the caller gives all buffers back.
   *
   * @param range contains all chunks; empty for one without a range
   */
  read(
    chunks: readonly C[],
    range: Pick<MergedRange<C>, "offset" | "length">,
    options: ReadAdjacentOptions,
  ): Promise<readonly (Uint8Array | undefined)[]>;
}

export interface ReadAdjacentOptions extends StoreOptions {
  readonly buffers: BufferScope;
}

/** Runs of chunks that are located ahead: the shards whose indexes are read. */
export const RUNS_AHEAD = 4;

/** `readChunks` for chunks that may be adjacent: reads those that are close to each other in one request. */
export function readCoalesced<C extends LocatedChunk>(
  place: ChunkStore,
  refs: Iterable<ChunkRef> | AsyncIterable<ChunkRef>,
  adjacent: AdjacentChunks<C>,
  { buffers = plainBuffers, concurrency = 16, inFlight, onRead, signal }: ReadChunksOptions,
): ReadableStream<EncodedChunk> {
  const isRemote = place.store.getSync === undefined;
  const { fits, leasesFor } = coalescingPolicy({ inFlight, isRemote });

  const requestsFor = async (run: readonly ChunkRef[], context: StoreOptions): Promise<MergedRange<C>[]> => {
    const located = await adjacent.locate(run, context);
    const alone = located.filter(({ range }) => range === undefined);
    const placed = located.filter((chunk): chunk is C & Placed => chunk.range !== undefined);
    return [
      ...alone.map((chunk) => ({ offset: 0, length: 0, parts: [chunk] })),
      ...mergeRanges(placed, { fits, mostTogether: Number.POSITIVE_INFINITY }),
    ];
  };
  const read = async ({ parts, ...range }: MergedRange<C>, context: { readonly signal: AbortSignal }) => {
    const count = leasesFor(parts, range.length);
    const leases = (await inFlight?.budget.acquireEach(count, inFlight.bytesPerChunk, context.signal)) ?? [];
    const taken = new BufferScope(buffers);
    try {
      const bytes = await adjacent.read(parts, range, { buffers: taken, signal: context.signal });
      for (const surplus of leases.splice(parts.length)) surplus.release();
      return parts.map(({ ref }, i) => {
        const chunk = encodedChunk(ref, bytes[i], place.chunkKey(ref.coords), leases[i]?.release);
        onRead?.(chunk);
        return chunk;
      });
    } catch (error) {
      taken.giveAll();
      for (const lease of leases) lease.release();
      throw error;
    }
  };
  const discard = (chunks: readonly EncodedChunk[]) => {
    for (const { bytes, release } of chunks) {
      if (bytes) buffers.give(bytes);
      release?.();
    }
  };
  return streamFrom(runsOf(refs, adjacent))
    .pipeThrough(mapConcurrent(requestsFor, { concurrency: RUNS_AHEAD, signal }))
    .pipeThrough(flatten<MergedRange<C>>())
    .pipeThrough(mapConcurrent(read, { concurrency, signal, discard }))
    .pipeThrough(flatten<EncodedChunk>());
}

type Placed = LocatedChunk & Required<Pick<LocatedChunk, "range">>;

/** Yields runs of consecutive chunks in the same container. */
async function* runsOf<C extends LocatedChunk>(
  refs: Iterable<ChunkRef> | AsyncIterable<ChunkRef>,
  { mostLocated, containerOf }: AdjacentChunks<C>,
): AsyncGenerator<readonly ChunkRef[]> {
  let run: ChunkRef[] = [];
  let last = "";
  for await (const ref of refs) {
    const container = containerOf(ref);
    if (run.length === mostLocated || (run.length > 0 && container !== last)) {
      yield run;
      run = [];
    }
    last = container;
    run.push(ref);
  }
  if (run.length > 0) yield run;
}

/** Flattens a stream of lists into a stream of their items. */
function flatten<T>(): TransformStream<readonly T[], T> {
  return new TransformStream<readonly T[], T>({
    transform(items, controller) {
      for (const item of items) controller.enqueue(item);
    },
  });
}

/** Chunks among which adjacent ones are searched; a zip may store them in any order. */
export const MOST_IN_OBJECT = 1024;

/**
 * Chunks whose values may be adjacent in one remote object, such as a zip in S3. One request brings several, then each
 * is read as usual from its bytes. The usual read also reports entries that are wrong.
 */
export function chunksInObject(
  place: ChunkStore,
  adjacentReads: AdjacentReads,
  { maxEncodedSize }: Pick<ReadChunksOptions, "maxEncodedSize">,
): AdjacentChunks<LocatedChunk> {
  const placeOf = ({ coords, part }: ChunkRef): ValuePlace | undefined => {
    const found = part?.range ? undefined : adjacentReads.placeOf(place.chunkKey(coords));
    return found && found.bytesTaken <= (maxEncodedSize ?? Number.POSITIVE_INFINITY) ? found : undefined;
  };
  return {
    mostLocated: MOST_IN_OBJECT,
    containerOf: () => "",
    locate: async (refs) =>
      refs.map((ref) => {
        const range = placeOf(ref);
        return range ? { ref, range } : { ref };
      }),
    async read(chunks, { offset, length }, { buffers, signal }) {
      const [first] = chunks;
      const readOne = chunkReader(place, { buffers, maxEncodedSize });
      const readEach = async () => {
        const read = await Promise.allSettled(chunks.map(({ ref }) => readOne(ref, { signal })));
        return read.map((result) => {
          if (result.status === "rejected") throw result.reason;
          return result.value.bytes;
        });
      };
      if (first === undefined || chunks.length === 1) return readEach();
      const part = buffers.take(length);
      const letGo = await inChunk(place, first.ref, () => adjacentReads.hold(part, offset, { signal }));
      try {
        return await readEach();
      } finally {
        letGo();
        buffers.give(part);
      }
    },
  };
}

/** Chunks that are looked up in one shard at a time. */
export const MOST_IN_SHARD = 256;
/** The most bytes of one request to a remote store; larger requests are no faster. */
const MAX_REMOTE_BYTES = 8 * 2 ** 20;
/** The most chunks of a request of more than `MAX_TOGETHER` bytes; beyond that, more concurrent requests are faster. */
const MAX_REMOTE_CHUNKS = 16;
/** Requests above `MAX_TOGETHER` take at most the budget divided by this, so that others can run beside them. */
const REQUESTS_AT_ONCE = 4;

interface CoalescingOptions {
  readonly inFlight: ReadChunksOptions["inFlight"];
  /** True if each request is a round trip over a network. */
  readonly isRemote: boolean;
}

/** Decides which chunks are read in one request, and counts the leases for it. */
export interface CoalescingPolicy {
  /** True if chunks in a range of `length` bytes may be read in one request. */
  fits(chunks: readonly Pick<LocatedChunk, "range">[], length: number): boolean;
  /**
   * Leases for the bytes read and a copy of each chunk: at least one for each chunk. Their share for the decoded chunk
   * can be used too, since nothing is decoded yet.
   */
  leasesFor(chunks: readonly Pick<LocatedChunk, "range">[], length: number): number;
}

export function coalescingPolicy({ inFlight, isRemote }: CoalescingOptions): CoalescingPolicy {
  const leasesFor: CoalescingPolicy["leasesFor"] = (chunks, length) => {
    if (inFlight === undefined || chunks.length === 1) return chunks.length;
    let bytes = pooledSize(length);
    for (const { range } of chunks) bytes += pooledSize(range?.bytesTaken ?? range?.length ?? 0);
    return Math.max(chunks.length, Math.ceil(bytes / inFlight.bytesPerChunk));
  };
  const fits: CoalescingPolicy["fits"] = (chunks, length) => {
    const isLong = length > MAX_TOGETHER;
    const isFew = chunks.length <= MAX_REMOTE_CHUNKS && length <= MAX_REMOTE_BYTES;
    if (isLong && !(isRemote && isFew && inFlight)) return false;
    if (inFlight === undefined) return true;
    const { budget, bytesPerChunk } = inFlight;
    const wanted = leasesFor(chunks, length);
    if (!isRemote && wanted > chunks.length) return false;
    return wanted * bytesPerChunk <= budget.limit / (isLong ? REQUESTS_AT_ONCE : 1);
  };
  return { fits, leasesFor };
}

/** The most chunks that one request reads, if chunks may be read together. */
export function chunksPerRequest(
  { maxEncodedSize }: Pick<ChunkSizes, "maxEncodedSize">,
  isRemote: boolean,
): number {
  const within = (bytes: number) => Math.floor(bytes / maxEncodedSize);
  const few = isRemote ? Math.min(MAX_REMOTE_CHUNKS, within(MAX_REMOTE_BYTES)) : 0;
  return Math.max(1, few, Math.min(MOST_IN_SHARD, within(MAX_TOGETHER)));
}
