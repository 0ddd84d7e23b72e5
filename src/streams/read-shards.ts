import { corrupt } from "../codecs/limits.ts";
import type { InnerRange } from "../codecs/sharding/entries.ts";
import type { StoreOptions } from "../stores/store.ts";
import { sourceChanged } from "../stores/version.ts";
import { mergeRanges } from "../util/byte-range.ts";
import { plainBuffers } from "../util/bytes.ts";
import { isZarrflowError, type ZarrflowError } from "../util/errors.ts";
import { type ReadableStream, streamFrom, TransformStream } from "../util/web-streams.ts";
import { BufferScope } from "./buffer-pool.ts";
import {
  type ChunkRef,
  type ChunkStore,
  type EncodedChunk,
  type ShardedPlace,
  type ShardGrid,
  withChunkContext,
} from "./chunk.ts";
import { mapConcurrent } from "./map-concurrent.ts";
import { chunkTooLarge, MAX_CHUNKS, type ReadChunksOptions, together } from "./read-options.ts";

/** `readChunks` for chunks in shards. */
export function readInnerChunks(
  place: ShardedPlace,
  refs: Iterable<ChunkRef> | AsyncIterable<ChunkRef>,
  options: ReadChunksOptions,
): ReadableStream<EncodedChunk> {
  const { buffers = plainBuffers, concurrency = 16, inFlight, maxEncodedSize, onRead, signal } = options;

  const reading = together<LocatedChunk>({
    inFlight,
    isFar: place.store.getSync === undefined,
    bytesOf: ({ range }) => range.length,
  });
  const read = async (request: ChunkRequest, context: { signal: AbortSignal }): Promise<EncodedChunk[]> => {
    const { key, parts, range } = request;
    const count = reading.leases(parts, range?.length ?? 0);
    const leases = (await inFlight?.budget.acquireEach(count, inFlight.bytesPerChunk, context.signal)) ?? [];
    const taken = new BufferScope(buffers);
    try {
      const bytes = await readParts(place, request, taken, context.signal).catch((error: unknown) => {
        if (!isZarrflowError(error, "source-changed") || !mayBeRenewed(place, request)) throw error;
        taken.giveAll();
        return renewed(place, parts, taken, { maxEncodedSize, signal: context.signal });
      });
      for (const more of leases.slice(parts.length)) more.release();
      return parts.map(({ ref }, i) => {
        const lease = leases[i];
        const chunk = { ...ref, key, bytes: bytes[i], ...(lease && { release: lease.release }) };
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
  return locateChunks(place, refs, { fits: reading.fits, maxEncodedSize, signal })
    .pipeThrough(mapConcurrent(read, { concurrency, signal, discard }))
    .pipeThrough(flatten<EncodedChunk>());
}

/**
 * True if the chunks of a request were located by an earlier reading, so that their shard may have been replaced since.
 * Forgets that location.
 */
function mayBeRenewed({ shards }: ShardedPlace, { parts: [first], version }: ChunkRequest): boolean {
  return first !== undefined && shards.forget(first.ref.coords, version);
}

/** Locates each of these chunks of a shard again, and reads it on its own. */
async function renewed(
  place: ShardedPlace,
  parts: readonly LocatedChunk[],
  buffers: BufferScope,
  { signal, ...options }: { readonly signal: AbortSignal; readonly maxEncodedSize: number | undefined },
): Promise<(Uint8Array | undefined)[]> {
  const all: (Uint8Array | undefined)[] = [];
  for (const { ref } of parts) {
    const { key, version, range } = await locateChunk(place, ref, { ...options, signal });
    const request = { key, version, range, parts: range ? [{ ref, range }] : [] };
    all.push((await readParts(place, request, new BufferScope(buffers), signal))[0]);
  }
  return all;
}

/** Reads the bytes of each part of a request into its own buffer, because codecs work in place. */
async function readParts(
  place: ShardedPlace,
  { key, range, version, parts }: ChunkRequest,
  buffers: BufferScope,
  signal: AbortSignal,
): Promise<(Uint8Array | undefined)[]> {
  const [first] = parts;
  if (range === undefined || first === undefined) return parts.map(() => undefined);
  // Called again when the store retries.
  const allocate = (byteLength: number) => {
    buffers.giveAll();
    return buffers.take(byteLength);
  };
  const options = { range, allocate, ifVersion: version, signal };
  const found = (await inChunk(place, first.ref, () => place.store.get(key, options))) ?? new Uint8Array(0);
  place.shards.confirm(first.ref.coords, version);
  if (!buffers.has(found)) buffers.giveAll();
  const bytes: Uint8Array[] = [];
  for (const { ref, range: own } of parts) {
    await inChunk(place, ref, async () => {
      const start = own.offset - range.offset;
      if (start + own.length > found.length)
        throw beyond(own.offset + own.length, range.offset + found.length);
      if (parts.length === 1) bytes.push(found);
      else bytes.push(copyOf(found.subarray(start, start + own.length), buffers));
    });
  }
  if (parts.length > 1) buffers.give(found);
  return bytes;
}

function copyOf(bytes: Uint8Array, buffers: BufferScope): Uint8Array {
  const copy = buffers.take(bytes.length);
  copy.set(bytes);
  return copy;
}

function beyond(end: number, size: number): Error {
  return corrupt("the inner chunk extends beyond its shard", {
    expected: `an end within ${size} bytes`,
    found: `${end}`,
  });
}

/** A chunk and its byte range within the value of its key. */
export interface LocatedChunk {
  readonly ref: ChunkRef;
  readonly range: InnerRange;
}

/** One request and the chunks that it reads. Without a range the chunks are not stored. */
export interface ChunkRequest {
  readonly key: string;
  readonly range: InnerRange | undefined;
  /** The version that the value must have, if the store has versions. */
  readonly version: string | undefined;
  readonly parts: readonly LocatedChunk[];
}

interface LocateOptions {
  /** True if these chunks may be read together as one range of `length` bytes. */
  readonly fits: (parts: readonly LocatedChunk[], length: number) => boolean;
  readonly maxEncodedSize: number | undefined;
  readonly signal: AbortSignal | undefined;
}

/** Shards whose indexes are read ahead. */
export const SHARDS_AHEAD = 4;

/**
 * Looks up chunks in the indexes of their shards and merges neighboring chunks of a shard into requests.
 *
 * @throws `resource-limit` for a chunk above `maxEncodedSize`; otherwise as `ShardGrid.locate`, with path, coords and
 *   key.
 */
export function locateChunks(
  place: ShardedPlace,
  refs: Iterable<ChunkRef> | AsyncIterable<ChunkRef>,
  { fits, maxEncodedSize, signal }: LocateOptions,
): ReadableStream<ChunkRequest> {
  const requestsFor = async (run: readonly ChunkRef[], context: StoreOptions): Promise<ChunkRequest[]> => {
    const requests: ChunkRequest[] = [];
    const stored: (LocatedChunk & Pick<ChunkRequest, "key" | "version">)[] = [];
    for (const ref of run) {
      const { key, version, range } = await locateChunk(place, ref, { ...context, maxEncodedSize });
      if (range) stored.push({ ref, key, version, range });
      else requests.push({ key, version, range, parts: [{ ref, range: { offset: 0, length: 0 } }] });
    }
    const { key = "", version } = stored[0] ?? {};
    assertOneVersion(stored);
    return [
      ...requests,
      ...mergeRanges(stored, { fits, mostTogether: Number.POSITIVE_INFINITY }).map(({ parts, ...range }) => ({
        key,
        version,
        range,
        parts,
      })),
    ];
  };
  return streamFrom(runsOf(place.shards, refs))
    .pipeThrough(mapConcurrent(requestsFor, { concurrency: SHARDS_AHEAD, signal }))
    .pipeThrough(flatten<ChunkRequest>());
}

/**
 * Looks up one chunk in the index of its shard. Without a range the chunk is not stored.
 *
 * @throws as `locateChunks`
 */
export function locateChunk(
  place: ShardedPlace,
  ref: ChunkRef,
  { maxEncodedSize = Number.POSITIVE_INFINITY, signal }: StoreOptions & Pick<LocateOptions, "maxEncodedSize">,
): Promise<Pick<ChunkRequest, "key" | "version" | "range">> {
  return inChunk(place, ref, async () => {
    const found = await place.shards.locate(ref.coords, { signal });
    const { key = place.chunkKey(ref.coords), range, version } = found ?? {};
    if (range && range.length > maxEncodedSize) throw chunkTooLarge(range.length, maxEncodedSize);
    return { key, version, range: range && partOf(range, ref) };
  });
}

/**
 * Checks that all chunks were found in one version: an index that was forgotten and read again may be newer.
 *
 * @throws `source-changed`
 */
function assertOneVersion(stored: readonly Pick<ChunkRequest, "key" | "version">[]): void {
  const [first] = stored;
  const other = stored.find(({ version }) => version !== first?.version);
  if (other) throw shardReplaced().addContext({ key: other.key });
}

/** The error for reading parts of two versions of a shard. */
export function shardReplaced(): ZarrflowError {
  return sourceChanged("the shard was replaced while it was read");
}

/** The byte range of the requested part of a chunk. */
function partOf(range: InnerRange, { part }: ChunkRef): InnerRange {
  if (part?.range === undefined) return range;
  const { offset, length, size } = part.range;
  if (range.length === size) return { offset: range.offset + offset, length };
  throw corrupt("the length of the chunk does not match its shape and data type", {
    expected: size,
    found: range.length,
  });
}

/** Calls `run` and adds the chunk to its errors. */
export async function inChunk<T>(place: ChunkStore, ref: ChunkRef, run: () => Promise<T>): Promise<T> {
  try {
    return await run();
  } catch (error) {
    const { coords } = ref;
    throw withChunkContext(error, place, { coords, key: place.chunkKey(coords) });
  }
}

/** Yields runs of consecutive chunks of one shard. */
async function* runsOf(
  shards: ShardGrid,
  refs: Iterable<ChunkRef> | AsyncIterable<ChunkRef>,
): AsyncGenerator<readonly ChunkRef[]> {
  let run: ChunkRef[] = [];
  let last = "";
  for await (const ref of refs) {
    const shard = shards.shardOf(ref.coords).join();
    if (run.length === MAX_CHUNKS || (run.length > 0 && shard !== last)) {
      yield run;
      run = [];
    }
    last = shard;
    run.push(ref);
  }
  if (run.length > 0) yield run;
}

/** Flattens a stream of lists into a stream of their items. */
export function flatten<T>(): TransformStream<readonly T[], T> {
  return new TransformStream<readonly T[], T>({
    transform(items, controller) {
      for (const item of items) controller.enqueue(item);
    },
  });
}
