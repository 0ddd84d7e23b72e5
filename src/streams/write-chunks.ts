import { INDEX_ENTRY_SIZE, type ShardIndex } from "../codecs/sharding/entries.ts";
import type { ShardFormat } from "../codecs/sharding/index-format.ts";
import type { StoredValue, StoreOptions, StoreWriter, WritableStore } from "../stores/store.ts";
import { throwIfAborted } from "../util/abort.ts";
import { type Buffers, plainBuffers } from "../util/bytes.ts";
import { crc32 } from "../util/crc32.ts";
import { ZarrflowError } from "../util/errors.ts";
import { assertKnown, type OptionNames } from "../util/options.ts";
import { product } from "../util/shape.ts";
import { type ReadableStream, WritableStream } from "../util/web-streams.ts";
import { pooledSize } from "./buffer-pool.ts";
import {
  type ChunkStore,
  chunksPerShard,
  type EncodedChunk,
  isSharded,
  type ShardedPlace,
  type ShardSizes,
  withChunkContext,
} from "./chunk.ts";
import { mapConcurrent } from "./map-concurrent.ts";

/**
 * Writes chunks under the keys of `place`: the sink of every flow. Takes ownership of each chunk's bytes; a chunk
 * without bytes is left out or removed. Closing and aborting wait for all writes that have started. A shard is stored
 * when all of its chunks have come.
 *
 * @throws what the store throws, with the array's path and the chunk's coords and key.
 */
export function writeChunks(
  place: ChunkStore<WritableStore>,
  options: WriteChunksOptions = {},
): WritableStream<EncodedChunk> {
  assertKnown(options, WRITE_CHUNKS_OPTIONS);
  const { concurrency = 16, signal } = options;
  const sink = chunkSink(place, options);
  if (isSharded(place)) {
    const write = (chunk: EncodedChunk) => sink.write(chunk, { signal });
    return new WritableStream<EncodedChunk>({ ...sink, write });
  }
  const { readable, writable } = mapConcurrent(sink.write, { concurrency, signal });
  // The writable side reports failures.
  drain(readable).catch(() => {});
  return writable;
}

/** Writes chunks one by one, each under its own key or into its shard. */
export function chunkSink(place: ChunkStore<WritableStore>, options: WriteChunksOptions = {}): ChunkSink {
  if (isSharded(place)) return shardSink(place, options);
  const { buffers = plainBuffers, removeMissing, onWritten, onStored, checksums = true } = options;
  const write = async (chunk: EncodedChunk, { signal }: StoreOptions) => {
    const { index, coords, region, bytes, release } = chunk;
    const key = place.chunkKey(coords);
    // Compute the checksum first: the store may keep or transfer the buffer.
    const stored = bytes &&
      onStored && { key, size: bytes.length, ...(checksums && { crc32: crc32(bytes) }) };
    try {
      if (bytes) await place.store.set(key, bytes, { signal });
      else if (removeMissing) await place.store.delete(key, { signal });
      onWritten?.({ index, coords, region, key, release, bytes });
      if (stored) onStored?.(stored);
    } catch (error) {
      throw withChunkContext(error, place, { coords, key });
    } finally {
      if (bytes) buffers.give(bytes);
      release?.();
    }
  };
  return { write, close: async () => {}, abort: async () => {} };
}

async function drain(readable: ReadableStream<void>): Promise<void> {
  const reader = readable.getReader();
  while (!(await reader.read()).done);
}

/** Writes chunks one by one, without a stream around it. */
export interface ChunkSink {
  /** Takes ownership of the chunk's bytes. For shards, await each write before the next one. */
  write(chunk: EncodedChunk, context: StoreOptions): Promise<void>;
  /** Finishes the output after all chunks were written. */
  close(): Promise<void>;
  abort(reason: unknown): Promise<void>;
}

export interface WriteChunksOptions {
  /** Writes in flight; 16 by default. */
  readonly concurrency?: number | undefined;
  readonly buffers?: Buffers | undefined;
  /** Deletes the key of a chunk without bytes, for targets that may contain an older chunk. */
  readonly removeMissing?: boolean | undefined;
  readonly signal?: AbortSignal | undefined;
  /**
   * Bytes of the buffer in which each shard is built, to be stored in one call. Without it a shard is streamed to the
   * store, unless its index is at the start and must be complete first.
   */
  readonly shardBuffer?: number | undefined;
  /**
   * Called for each written chunk before its bytes are given back; `bytes` is undefined for a chunk that was left out.
   */
  readonly onWritten?: ((chunk: EncodedChunk & { readonly key: string }) => void) | undefined;
  /** Called for each stored value, a chunk or a shard. */
  readonly onStored?: ((value: StoredValue) => void) | undefined;
  /**
   * True if `onStored` receives the CRC-32 of values.
   *
   * @default true
   */
  readonly checksums?: boolean | undefined;
}

export const WRITE_CHUNKS_OPTIONS: OptionNames<WriteChunksOptions> = {
  concurrency: true,
  buffers: true,
  removeMissing: true,
  signal: true,
  shardBuffer: true,
  onWritten: true,
  onStored: true,
  checksums: true,
};

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
  return new ZarrflowError("invalid-option", `${shards} shards are incomplete`, {
    key,
    found: `${left} missing`,
    hint: "Write every chunk of a shard exactly once, including empty ones.",
  });
}

/** A shard that is being written: its chunks one after another, then its index. */
export interface ShardOutput {
  /** Appends a chunk and returns its offset. The caller keeps ownership of the bytes. */
  append(bytes: Uint8Array): Promise<number>;
  /** Stores the shard. */
  finish(index: ShardIndex): Promise<StoredValue>;
  /** Stops writing and removes what was written. */
  abort(reason: unknown): Promise<void>;
}

export interface OutputTarget {
  readonly store: WritableStore;
  readonly key: string;
  readonly format: ShardFormat;
  /** True if the checksum of the stored shard is reported. */
  readonly checksums: boolean;
  readonly signal?: AbortSignal | undefined;
}

/** Streams a shard to the store. Requires an index at the end, because it is written last. */
export function streamedShard({ store, key, format, checksums, signal }: OutputTarget): ShardOutput {
  let writer: StoreWriter | undefined;
  let size = 0;
  let checksum = 0;
  const write = async (bytes: Uint8Array): Promise<number> => {
    writer ??= await store.openWriter(key, { signal });
    const offset = size;
    size += bytes.length;
    if (checksums) checksum = crc32(bytes, checksum);
    await writer.write(bytes);
    return offset;
  };
  return {
    append: write,
    async finish(index) {
      await write(await format.encodeIndex(index));
      await writer?.commit();
      return { key, size, ...(checksums && { crc32: checksum }) };
    },
    abort: async (reason) => writer?.abort(reason),
  };
}

export interface CollectOptions {
  readonly buffers: Buffers;
  /** Initial size of the buffer, in bytes; it grows if that is too small. */
  readonly capacity: number;
}

/** Builds a shard in memory and stores it in one call. */
export function collectedShard(
  { store, key, format, checksums, signal }: OutputTarget,
  { buffers, capacity }: CollectOptions,
): ShardOutput {
  const indexAtStart = format.indexLocation === "start";
  let buffer: Uint8Array | undefined;
  let size = indexAtStart ? format.indexSize : 0;
  const reserve = (length: number): Uint8Array => {
    if (buffer && size + length <= buffer.length) return buffer;
    const larger = buffers.take(Math.max(buffer ? 2 * buffer.length : capacity, size + length));
    if (buffer) {
      larger.set(buffer.subarray(0, size));
      buffers.give(buffer);
    }
    buffer = larger;
    return larger;
  };
  const append = (bytes: Uint8Array): number => {
    reserve(bytes.length).set(bytes, size);
    size += bytes.length;
    return size - bytes.length;
  };
  const release = () => {
    if (buffer) buffers.give(buffer);
    buffer = undefined;
  };
  return {
    append: async (bytes) => append(bytes),
    async finish(index) {
      try {
        const encodedIndex = await format.encodeIndex(index);
        if (indexAtStart) reserve(0).set(encodedIndex);
        else append(encodedIndex);
        const bytes = reserve(0).subarray(0, size);
        await store.set(key, bytes, { signal });
        return { key, size, ...(checksums && { crc32: crc32(bytes) }) };
      } finally {
        release();
      }
    },
    abort: async () => release(),
  };
}

const CHECKSUM_SIZE = 4;

/** The most bytes that an encoded shard may have. */
export function maxShardSize(sizes: ShardSizes): number {
  return chunksOf(sizes) * (sizes.maxEncodedSize + INDEX_ENTRY_SIZE) + CHECKSUM_SIZE;
}

/** Bytes that a shard takes while it is built in memory: its buffer and its index. */
export function collectedFootprint(sizes: ShardSizes): number {
  return pooledSize(maxShardSize(sizes)) + chunksOf(sizes) * INDEX_ENTRY_SIZE;
}

/** Bytes of the index of a shard that is written, both filled and encoded. */
export function writtenIndexFootprint(sizes: ShardSizes): number {
  return sizes.shardShape ? 3 * INDEX_ENTRY_SIZE * chunksOf(sizes) : 0;
}

function chunksOf(sizes: ShardSizes): number {
  return product(chunksPerShard(sizes) ?? []);
}
