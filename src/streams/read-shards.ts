import { corrupt } from "../codecs/limits.ts";
import type { InnerRange } from "../codecs/sharding/entries.ts";
import type { StoreOptions } from "../stores/store.ts";
import { isZarrflowError } from "../util/errors.ts";
import { BufferScope } from "./buffer-pool.ts";
import { type ChunkRef, inChunk, type ShardedPlace } from "./chunk.ts";
import { chunkTooLarge, type ReadChunksOptions } from "./chunk-reader.ts";
import {
  type AdjacentChunks,
  type LocatedChunk,
  MOST_IN_SHARD,
  type ReadAdjacentOptions,
} from "./coalesced-reads.ts";
import { shardReplaced } from "./shards.ts";

/** A chunk and its byte range in the value of its shard. Without a range it is not stored. */
export interface InnerChunk extends LocatedChunk {
  readonly key: string;
  /** The version that the value must have, if the store has versions. */
  readonly version: string | undefined;
}

type LocateOptions = StoreOptions & Pick<ReadChunksOptions, "maxEncodedSize">;

/** The chunks of shards, which are looked up in the index of their shard and read by range. */
export function chunksInShards(
  place: ShardedPlace,
  { maxEncodedSize }: Pick<ReadChunksOptions, "maxEncodedSize">,
): AdjacentChunks<InnerChunk> {
  const read: AdjacentChunks<InnerChunk>["read"] = async (chunks, range, { buffers, signal }) => {
    try {
      return await readRange(place, chunks, range, { buffers, signal });
    } catch (error) {
      if (!isZarrflowError(error, "source-changed") || !mayBeRenewed(place, chunks)) throw error;
      buffers.giveAll();
    }
    const bytes: (Uint8Array | undefined)[] = [];
    for (const { ref } of chunks) {
      const chunk = await locateChunk(place, ref, { maxEncodedSize, signal });
      const own = { buffers: new BufferScope(buffers), signal };
      bytes.push(...(await readRange(place, [chunk], chunk.range ?? range, own)));
    }
    return bytes;
  };
  return {
    mostLocated: MOST_IN_SHARD,
    containerOf: ({ coords }) => place.shards.shardOf(coords).join(),
    async locate(refs, context) {
      const chunks: InnerChunk[] = [];
      for (const ref of refs) chunks.push(await locateChunk(place, ref, { ...context, maxEncodedSize }));
      assertOneVersion(chunks);
      return chunks;
    },
    read,
  };
}

/**
 * Looks up one chunk in the index of its shard.
 *
 * @throws `resource-limit` for a chunk above `maxEncodedSize`; otherwise as `ShardGrid.locate`, with path, coords and
 *   key.
 */
export function locateChunk(
  place: ShardedPlace,
  ref: ChunkRef,
  { maxEncodedSize = Number.POSITIVE_INFINITY, signal }: LocateOptions,
): Promise<InnerChunk> {
  return inChunk(place, ref, async () => {
    const found = await place.shards.locate(ref.coords, { signal });
    const { key = place.chunkKey(ref.coords), range, version } = found ?? {};
    if (range && range.length > maxEncodedSize) throw chunkTooLarge(range.length, maxEncodedSize);
    return { ref, key, version, ...(range && { range: partOf(range, ref) }) };
  });
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

/**
 * Checks that all stored chunks were found in one version: an index that was forgotten and read again may be newer.
 *
 * @throws `source-changed`
 */
function assertOneVersion(chunks: readonly InnerChunk[]): void {
  const stored = chunks.filter(({ range }) => range !== undefined);
  const [first] = stored;
  const other = stored.find(({ version }) => version !== first?.version);
  if (other) throw shardReplaced().addContext({ key: other.key });
}

/**
 * True if the chunks of a request were located by an earlier reading, so that their shard may have been replaced since.
 * Forgets that location.
 */
function mayBeRenewed({ shards }: ShardedPlace, [first]: readonly InnerChunk[]): boolean {
  return first !== undefined && shards.forget(first.ref.coords, first.version);
}

/** Reads a range of a shard, and copies the bytes of each chunk to a buffer of its own unless there is only one. */
async function readRange(
  place: ShardedPlace,
  chunks: readonly InnerChunk[],
  range: InnerRange,
  { buffers, signal }: ReadAdjacentOptions,
): Promise<(Uint8Array | undefined)[]> {
  const [first] = chunks;
  if (first?.range === undefined) return chunks.map(() => undefined);
  const { key, version: ifVersion, ref } = first;
  // Called again when the store retries.
  const allocate = (byteLength: number) => {
    buffers.giveAll();
    return buffers.take(byteLength);
  };
  const options = { range, allocate, ifVersion, signal };
  const found = (await inChunk(place, ref, () => place.store.get(key, options))) ?? new Uint8Array(0);
  place.shards.confirm(ref.coords, ifVersion);
  if (!buffers.has(found)) buffers.giveAll();
  const bytes: Uint8Array[] = [];
  for (const { ref, range: own = range } of chunks) {
    await inChunk(place, ref, async () => {
      const start = own.offset - range.offset;
      if (start + own.length > found.length)
        throw beyond(own.offset + own.length, range.offset + found.length);
      if (chunks.length === 1) bytes.push(found);
      else bytes.push(copyOf(found.subarray(start, start + own.length), buffers));
    });
  }
  if (chunks.length > 1) buffers.give(found);
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
