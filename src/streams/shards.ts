import { createPipeline } from "../codecs/chain/codec-chain.ts";
import { corrupt } from "../codecs/limits.ts";
import { INDEX_ENTRY_SIZE, type ShardIndex } from "../codecs/sharding/entries.ts";
import type { ShardFormat } from "../codecs/sharding/index-format.ts";
import { gridShape } from "../meta/array-metadata.ts";
import type { ShardedArray } from "../meta/shards.ts";
import type { StoreOptions } from "../stores/store.ts";
import { isZarrflowError } from "../util/errors.ts";
import { indexOf, product } from "../util/shape.ts";
import {
  type ChunkLocation,
  type ChunkStore,
  chunksPerShard,
  type ShardGrid,
  type ShardSizes,
} from "./chunk.ts";
import { SHARDS_AHEAD, shardReplaced } from "./read-shards.ts";
import { chunkRegion } from "./selection.ts";

/** Bytes of decoded indexes to remember. */
const REMEMBERED_INDEXES = 2 ** 20;
/** Indexes to remember, however large. */
const MIN_REMEMBERED = 2;

/** The index of a shard, and the version of the value that it was read from. */
interface ReadIndex {
  readonly index: ShardIndex;
  readonly version: string | undefined;
}

/** Keeps an array's shard indexes between readings: the most recently used, up to a megabyte, but at least one. */
export class ShardIndexes {
  readonly #kept = new Map<string, ReadIndex>();
  #bytes = 0;

  get(place: string): ReadIndex | undefined {
    const kept = this.#kept.get(place);
    if (kept) this.#kept.delete(place);
    if (kept) this.#kept.set(place, kept);
    return kept;
  }

  set(place: string, index: ReadIndex): void {
    this.delete(place);
    this.#kept.set(place, index);
    this.#bytes += sizeOf(index);
    for (const oldest of this.#kept.keys()) {
      if (this.#bytes <= REMEMBERED_INDEXES || this.#kept.size === 1) return;
      this.delete(oldest);
    }
  }

  delete(place: string): void {
    const kept = this.#kept.get(place);
    if (kept) this.#bytes -= sizeOf(kept);
    this.#kept.delete(place);
  }
}

function sizeOf({ index }: ReadIndex): number {
  return index.length * INDEX_ENTRY_SIZE;
}

/** Identifies the value of a shard. */
function placeOf({ key, range }: ChunkLocation): string {
  return range ? `${key} ${range.offset} ${range.length}` : key;
}

/**
 * The shards of an array, for one reading. Reads each index once and remembers it, up to a megabyte of indexes; if the
 * shard exists, later readings can use it too. A shard was replaced if its version is no longer the version that the
 * index was read from.
 */
export class Shards implements ShardGrid {
  readonly chunksPerShard: readonly number[];
  readonly #place: ChunkStore;
  readonly #array: ShardedArray;
  readonly #indexes = new Map<string, Promise<ReadIndex | undefined>>();
  readonly #kept: ShardIndexes;
  /** Versions of the shards that this reading has read from. */
  readonly #read = new Map<string, string | undefined>();
  /** Shards whose kept indexes belong to an older version. */
  readonly #replaced = new Set<string>();
  #format: Promise<ShardFormat> | undefined;

  /**
   * @param place the store of the shards, which may be in shards themselves
   * @param kept indexes of earlier readings
   */
  constructor(place: ChunkStore, array: ShardedArray, kept = new ShardIndexes()) {
    this.#place = place;
    this.#array = array;
    this.#kept = kept;
    this.chunksPerShard = array.chunksPerShard;
  }

  /** True if the shards are in shards themselves. */
  get isNested(): boolean {
    return this.#place.shards !== undefined;
  }

  /** Key of the value that holds the chunk at `coords`. */
  chunkKey(coords: readonly number[]): string {
    return this.#place.chunkKey(this.shardOf(coords));
  }

  shardOf(coords: readonly number[]): number[] {
    return coords.map((c, d) => Math.floor(c / (this.chunksPerShard[d] ?? 1)));
  }

  chunksIn(shard: readonly number[]): number {
    const { shape, chunkGrid } = this.#array.inner;
    const grid = gridShape(shape, chunkGrid.chunkShape);
    return product(chunkRegion(shard, this.chunksPerShard, grid).shape);
  }

  entryOf(coords: readonly number[]): number {
    const { dimensions } = this.#array;
    const grid = dimensions.map((d) => this.chunksPerShard[d] ?? 1);
    return indexOf(
      dimensions.map((d, i) => (coords[d] ?? 0) % (grid[i] ?? 1)),
      grid,
    );
  }

  format(): Promise<ShardFormat> {
    this.#format ??= this.#loadFormat();
    return this.#format;
  }

  async #loadFormat(): Promise<ShardFormat> {
    const { dimensions, sharding, shardShape } = this.#array;
    const shape = dimensions.map((d) => shardShape[d] ?? 1);
    const { shardFormat } = await import("../codecs/sharding/index-format.ts");
    return shardFormat(sharding.configuration, shape, createPipeline);
  }

  async locate(coords: readonly number[], options: StoreOptions = {}): Promise<ChunkLocation | undefined> {
    const shard = this.shardOf(coords);
    const outer = await locationIn(this.#place, shard, options);
    if (outer === undefined) return undefined;
    let found: ReadIndex | undefined;
    try {
      found = await this.#indexAt(shard, outer, options);
    } catch (error) {
      const isOld =
        isZarrflowError(error, "source-changed") && this.#place.shards?.forget(shard, outer.version);
      if (isOld) return this.locate(coords, options);
      throw error;
    }
    const range = found?.index.rangeOf(this.entryOf(coords), outer.range?.length);
    if (range === undefined) return undefined;
    const offset = range.offset + (outer.range?.offset ?? 0);
    return { key: outer.key, range: { ...range, offset }, version: found?.version };
  }

  forget(coords: readonly number[], version: string | undefined): boolean {
    const shard = this.shardOf(coords);
    const name = shard.join();
    if (this.#read.has(name)) return this.#read.get(name) !== version;
    this.#indexes.delete(name);
    this.#replaced.add(name);
    this.#place.shards?.forget(shard, version);
    return true;
  }

  confirm(coords: readonly number[], version: string | undefined): void {
    const name = this.shardOf(coords).join();
    const read = this.#read.get(name);
    if (this.#read.has(name) && read !== version) throw shardReplaced();
    if (this.#indexes.has(name)) this.#read.set(name, version);
  }

  async #indexAt(
    shard: readonly number[],
    outer: ChunkLocation,
    options: StoreOptions,
  ): Promise<ReadIndex | undefined> {
    const name = shard.join();
    const known = this.#indexes.get(name);
    this.#indexes.delete(name);
    const index = known ?? this.#keptOrRead(name, outer, options);
    this.#indexes.set(name, index);
    try {
      const { length = 0 } = (await index)?.index ?? {};
      this.#forgetBeyond(REMEMBERED_INDEXES / Math.max(1, length * INDEX_ENTRY_SIZE));
      return await index;
    } catch (error) {
      if (this.#indexes.get(name) === index) this.#indexes.delete(name);
      // Another reader started this read and may have been aborted.
      if (known && !options.signal?.aborted) return this.#indexAt(shard, outer, options);
      throw error;
    }
  }

  /** Forgets the least recently used indexes. */
  #forgetBeyond(count: number): void {
    for (const name of this.#indexes.keys()) {
      if (this.#indexes.size <= Math.max(MIN_REMEMBERED, count)) return;
      this.#indexes.delete(name);
      this.#read.delete(name);
      this.#replaced.delete(name);
    }
  }

  async #keptOrRead(
    name: string,
    outer: ChunkLocation,
    options: StoreOptions,
  ): Promise<ReadIndex | undefined> {
    const place = placeOf(outer);
    const kept = this.#replaced.has(name) ? undefined : this.#kept.get(place);
    if (kept && (outer.version === undefined || outer.version === kept.version)) return kept;
    const index = await this.#readIndex(outer, options);
    this.#read.set(name, index?.version);
    if (index) this.#kept.set(place, index);
    else this.#kept.delete(place);
    return index;
  }

  async #readIndex(
    { key, range, version: ifVersion }: ChunkLocation,
    { signal }: StoreOptions,
  ): Promise<ReadIndex | undefined> {
    const { indexLocation, indexSize, decodeIndex } = await this.format();
    if (range && range.length < indexSize) {
      throw corrupt("the shard is shorter than its index", { key, expected: indexSize, found: range.length });
    }
    const end = range ? range.offset + range.length : undefined;
    const atStart = { offset: range?.offset ?? 0, length: indexSize };
    const atEnd = end === undefined ? { suffix: indexSize } : { offset: end - indexSize, length: indexSize };
    const place = indexLocation === "start" ? atStart : atEnd;
    let version = ifVersion;
    const onVersion = (of: string) => {
      version = of;
    };
    const bytes = await this.#place.store.get(key, {
      range: place,
      isLeaf: true,
      ifVersion,
      onVersion,
      signal,
    });
    try {
      return bytes && { index: await decodeIndex(bytes), version };
    } catch (error) {
      throw isZarrflowError(error) ? error.addContext({ key }) : error;
    }
  }
}

async function locationIn(
  place: ChunkStore,
  coords: readonly number[],
  options: StoreOptions,
): Promise<ChunkLocation | undefined> {
  return place.shards ? place.shards.locate(coords, options) : { key: place.chunkKey(coords) };
}

/** Bytes of the indexes held while shards are read: remembered indexes, or those looked up ahead. */
export function indexFootprint(sizes: ShardSizes): number {
  const { shape, shardShape } = sizes;
  if (shardShape === undefined) return 0;
  const size = INDEX_ENTRY_SIZE * product(chunksPerShard(sizes) ?? []);
  const held = Math.max((MIN_REMEMBERED + SHARDS_AHEAD) * size, REMEMBERED_INDEXES);
  return Math.min(size * product(gridShape(shape, shardShape)), held);
}
