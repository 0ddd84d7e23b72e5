import type { ShardIndex } from "../codecs/array-to-bytes/sharding/entries.ts";
import type { WritableStore } from "../stores/store.ts";
import { throwIfAborted } from "../util/abort.ts";
import { plainBuffers } from "../util/buffers.ts";
import { ZarrflowError } from "../util/errors.ts";
import { type EncodedChunk, type ShardedPlace, withChunkContext } from "./chunk.ts";
import { collectedShard, type ShardOutput, streamedShard } from "./shard-output.ts";
import type { ChunkSink, WriteChunksOptions } from "./write-options.ts";

/** Initial buffer for a shard with its index at the start, unless the caller gives a size. */
const FIRST_BUFFER = 2 ** 20;

/** A shard that lacks chunks. */
interface OpenShard {
  readonly key: string;
  readonly index: ShardIndex;
  readonly output: ShardOutput;
  /** Chunks still to come. */
  left: number;
  /** True once a chunk with bytes has come. */
  isStored: boolean;
}

/**
 * `writeChunks` for chunks in shards. Appends each chunk to its shard as it comes and stores a shard when all of its
 * chunks have come. A shard whose chunks are all left out is itself left out or removed.
 */
export function shardSink(place: ShardedPlace<WritableStore>, options: WriteChunksOptions): ChunkSink {
  const { buffers = plainBuffers, onWritten, onStored } = options;
  const open = new Map<string, OpenShard>();

  const shardAt = async (coords: readonly number[]): Promise<OpenShard> => {
    const key = place.chunkKey(coords);
    const known = open.get(key);
    if (known) return known;
    const begun = await begin(place, coords, options);
    open.set(key, begun);
    return begun;
  };
  const put = async (shard: OpenShard, { bytes, coords }: EncodedChunk): Promise<void> => {
    shard.left--;
    if (bytes === undefined) return;
    const offset = await shard.output.append(bytes);
    shard.index.set(place.shards.entryOf(coords), { offset, length: bytes.length });
    shard.isStored = true;
  };
  const finish = async (shard: OpenShard): Promise<void> => {
    if (shard.isStored) {
      const stored = await shard.output.finish(shard.index);
      onStored?.(stored);
    } else if (options.removeMissing) await place.store.delete(shard.key, { signal: options.signal });
    open.delete(shard.key);
  };
  const abort = async (reason: unknown): Promise<void> => {
    const shards = [...open.values()];
    open.clear();
    await Promise.all(shards.map(({ output }) => output.abort(reason)));
  };

  return {
    async write(chunk) {
      const { bytes, coords } = chunk;
      const key = place.chunkKey(coords);
      try {
        throwIfAborted(options.signal);
        const shard = await shardAt(coords);
        await put(shard, chunk);
        onWritten?.({ ...chunk, key });
        if (shard.left === 0) await finish(shard);
      } catch (error) {
        await abort(error).catch(() => {});
        throw withChunkContext(error, place, { coords, key });
      } finally {
        if (bytes) buffers.give(bytes);
        chunk.release?.();
      }
    },
    async close() {
      const [first] = open.values();
      if (first === undefined) return;
      const error = lacksChunks(first, open.size);
      await abort(error);
      throw error;
    },
    abort,
  };
}

async function begin(
  place: ShardedPlace<WritableStore>,
  coords: readonly number[],
  { buffers = plainBuffers, shardBuffer, checksums = true, signal }: WriteChunksOptions,
): Promise<OpenShard> {
  const { shards, store } = place;
  const key = place.chunkKey(coords);
  const format = await shards.format();
  const target = { store, key, format, checksums, signal };
  const capacity = shardBuffer ?? (format.indexLocation === "start" ? FIRST_BUFFER : undefined);
  return {
    key,
    index: format.emptyIndex(),
    output: capacity === undefined ? streamedShard(target) : collectedShard(target, { buffers, capacity }),
    left: shards.chunksIn(shards.shardOf(coords)),
    isStored: false,
  };
}

function lacksChunks({ key, left }: OpenShard, shards: number): ZarrflowError {
  return new ZarrflowError("invalid-option", `${shards} shards lack chunks`, {
    key,
    found: `${left} too few`,
    hint: "Write every chunk of a shard once, including empty ones.",
  });
}
