import { createPipeline } from "../codecs/chain/codec-chain.ts";
import { corrupt } from "../codecs/limits.ts";
import { INDEX_ENTRY_SIZE, type ShardIndex } from "../codecs/sharding/entries.ts";
import type { ShardFormat } from "../codecs/sharding/index-format.ts";
import { gridShape } from "../meta/array-metadata.ts";
import type { ShardedArray } from "../meta/shards.ts";
import type { StoreOptions } from "../stores/store.ts";
import { sourceChanged } from "../stores/version.ts";
import { isZarrflowError, type ZarrflowError } from "../util/errors.ts";
import { indexOf, product } from "../util/shape.ts";
import {
  type ChunkLocation,
  type ChunkStore,
  chunksPerShard,
  type ShardGrid,
  type ShardSizes,
} from "./chunk.ts";
import { RUNS_AHEAD } from "./coalesced-reads.ts";
import { chunkRegion } from "./selection.ts";

/** A shard during one reading. */
interface OpenShard {
  /** Its index, once it was asked for; undefined if the shard is not stored. */
  index?: Promise<ReadIndex | undefined> | undefined;
  /** The version of all that this reading has read of it. Absent if it has only used what an earlier reading read. */
  read?: { readonly version: string | undefined };
  /** True if the index of the earlier reading belongs to an older version. */
  isReplaced?: boolean;
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
  /** By coords, the most recently used last. */
  readonly #open = new Map<string, OpenShard>();
  readonly #kept: ShardIndexes;
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
    const { shards } = this.#place;
    const outer = shards ? await shards.locate(shard, options) : { key: this.#place.chunkKey(shard) };
    if (outer === undefined) return undefined;
    let found: ReadIndex | undefined;
    try {
      found = await this.#indexAt(shard.join(), outer, options);
    } catch (error) {
      const isOld = isZarrflowError(error, "source-changed") && shards?.forget(shard, outer.version);
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
    const open = this.#use(shard.join());
    if (open.read) return open.read.version !== version;
    open.index = undefined;
    open.isReplaced = true;
    this.#place.shards?.forget(shard, version);
    return true;
  }

  confirm(coords: readonly number[], version: string | undefined): void {
    const open = this.#open.get(this.shardOf(coords).join());
    if (open?.read && open.read.version !== version) throw shardReplaced();
    if (open) open.read = { version };
  }

  /** The shard with this name, which becomes the most recently used one. */
  #use(name: string): OpenShard {
    const open = this.#open.get(name) ?? {};
    this.#open.delete(name);
    this.#open.set(name, open);
    return open;
  }

  async #indexAt(name: string, outer: ChunkLocation, options: StoreOptions): Promise<ReadIndex | undefined> {
    const open = this.#use(name);
    const known = open.index;
    const index = known ?? this.#keptOrRead(open, outer, options);
    open.index = index;
    try {
      const found = await index;
      this.#forgetBeyond(REMEMBERED_INDEXES / Math.max(1, found ? sizeOf(found) : 0));
      return found;
    } catch (error) {
      if (open.index === index) open.index = undefined;
      // Another reader started this read and may have been aborted.
      if (known && !options.signal?.aborted) return this.#indexAt(name, outer, options);
      throw error;
    }
  }

  /** Forgets the least recently used shards. */
  #forgetBeyond(count: number): void {
    for (const name of this.#open.keys()) {
      if (this.#open.size <= Math.max(MIN_REMEMBERED, count)) return;
      this.#open.delete(name);
    }
  }

  async #keptOrRead(
    open: OpenShard,
    outer: ChunkLocation,
    options: StoreOptions,
  ): Promise<ReadIndex | undefined> {
    const kept = open.isReplaced ? undefined : this.#kept.get(outer);
    if (kept && (outer.version === undefined || outer.version === kept.version)) return kept;
    const index = await this.#readIndex(outer, options);
    open.read = { version: index?.version };
    this.#kept.set(outer, index);
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
    const { offset = 0, length } = range ?? {};
    const atStart = { offset, length: indexSize };
    const atEnd =
      length === undefined
        ? { suffix: indexSize }
        : { offset: offset + length - indexSize, length: indexSize };
    let version = ifVersion;
    const onVersion = (of: string) => {
      version = of;
    };
    const bytes = await this.#place.store.get(key, {
      range: indexLocation === "start" ? atStart : atEnd,
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

/** The error for reading parts of two versions of a shard. */
export function shardReplaced(): ZarrflowError {
  return sourceChanged("the shard was replaced while it was read");
}

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

  get(location: ChunkLocation): ReadIndex | undefined {
    const place = placeOf(location);
    const kept = this.#kept.get(place);
    if (kept) this.#kept.delete(place);
    if (kept) this.#kept.set(place, kept);
    return kept;
  }

  /** Keeps the index of the shard at a location, or none if it is not stored. */
  set(location: ChunkLocation, index: ReadIndex | undefined): void {
    const place = placeOf(location);
    this.#delete(place);
    if (index === undefined) return;
    this.#kept.set(place, index);
    this.#bytes += sizeOf(index);
    for (const oldest of this.#kept.keys()) {
      if (this.#bytes <= REMEMBERED_INDEXES || this.#kept.size === 1) return;
      this.#delete(oldest);
    }
  }

  #delete(place: string): void {
    const kept = this.#kept.get(place);
    if (kept) this.#bytes -= sizeOf(kept);
    this.#kept.delete(place);
  }
}

/** Identifies the value of a shard. */
function placeOf({ key, range }: ChunkLocation): string {
  return range ? `${key} ${range.offset} ${range.length}` : key;
}

function sizeOf({ index }: ReadIndex): number {
  return index.length * INDEX_ENTRY_SIZE;
}

/** Bytes of the indexes held while shards are read: remembered indexes, or those looked up ahead. */
export function indexFootprint(sizes: ShardSizes): number {
  const { shape, shardShape } = sizes;
  if (shardShape === undefined) return 0;
  const size = INDEX_ENTRY_SIZE * product(chunksPerShard(sizes) ?? []);
  const held = Math.max((MIN_REMEMBERED + RUNS_AHEAD) * size, REMEMBERED_INDEXES);
  return Math.min(size * product(gridShape(shape, shardShape)), held);
}
