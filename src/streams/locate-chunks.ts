import type { InnerRange } from "../codecs/array-to-bytes/sharding/entries.ts";
import { corrupt } from "../codecs/failures.ts";
import type { StoreOptions } from "../stores/store.ts";
import { sourceChanged } from "../stores/version.ts";
import type { ZarrflowError } from "../util/errors.ts";
import { mergeRanges } from "../util/merge-ranges.ts";
import {
  type ChunkRef,
  type ChunkStore,
  type ShardedPlace,
  type ShardGrid,
  withChunkContext,
} from "./chunk.ts";
import { mapConcurrent } from "./map-concurrent.ts";
import { tooLarge } from "./read-options.ts";
import { MAX_CHUNKS } from "./read-together.ts";
import { type ReadableStream, streamFrom, TransformStream } from "./web.ts";

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
 * Looks up chunks in the indexes of their shards and merges neighbouring chunks of a shard into requests.
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
    if (range && range.length > maxEncodedSize) throw tooLarge(range.length, maxEncodedSize);
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
  throw corrupt("the length of the chunk differs from its shape and data type", {
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
