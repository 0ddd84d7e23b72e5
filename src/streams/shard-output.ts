import type { ShardIndex } from "../codecs/array-to-bytes/sharding/entries.ts";
import { ENTRY_SIZE } from "../codecs/array-to-bytes/sharding/entry-size.ts";
import type { ShardFormat } from "../codecs/array-to-bytes/sharding/format.ts";
import type { StoredValue, StoreWriter, WritableStore } from "../stores/store.ts";
import type { Buffers } from "../util/buffers.ts";
import { crc32 } from "../util/crc32.ts";
import { product } from "../util/shape.ts";
import { chunksPerShard, type ShardSizes } from "./chunk-sizes.ts";
import { pooledSize } from "./pooled-size.ts";

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
  return chunksOf(sizes) * (sizes.maxEncodedSize + ENTRY_SIZE) + CHECKSUM_SIZE;
}

/** Bytes that a shard takes while it is built in memory: its buffer and its index. */
export function collectedFootprint(sizes: ShardSizes): number {
  return pooledSize(maxShardSize(sizes)) + chunksOf(sizes) * ENTRY_SIZE;
}

/** Bytes of the index of a shard that is written, both filled and encoded. */
export function writtenIndexFootprint(sizes: ShardSizes): number {
  return sizes.shardShape ? 3 * ENTRY_SIZE * chunksOf(sizes) : 0;
}

function chunksOf(sizes: ShardSizes): number {
  return product(chunksPerShard(sizes) ?? []);
}
