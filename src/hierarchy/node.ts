import { createPipeline } from "../codecs/chain/codec-chain.ts";
import { type CodecPipeline, chunkSpecOf } from "../codecs/codec.ts";
import type { ArrayMetadata, GroupMetadata } from "../meta/array-metadata.ts";
import {
  type DataTypeName,
  type DataTypeQuery,
  describeDataType,
  meetsQuery,
  type NameOfQuery,
} from "../meta/data-type-name.ts";
import type { Documents, Finding, NodeLayout } from "../meta/format.ts";
import type { FormatOptions } from "../meta/formats.ts";
import { CONVERT_VALUES, withinShards } from "../meta/shards.ts";
import type { Store, StoreOptions, StoreSpec } from "../stores/store.ts";
import type { ChunkCodec, ChunkRef, ChunkStore } from "../streams/chunk.ts";
import { ShardIndexes, Shards } from "../streams/shards.ts";
import { isZarrflowError } from "../util/errors.ts";
import { type PlainValue, toPlain } from "../util/json-value.ts";
import { invalidOption, isObject } from "../util/options.ts";
import { chunkAt, insideOf, type OpenSliceOptions, Slice, type SliceChunk } from "./slice.ts";
import type { SliceOption } from "./slice-option.ts";
import type { StoredDocuments } from "./stored-documents.ts";

/** The parts of a node. */
export interface NodeParts<M, S extends Store = Store> {
  readonly store: S;
  /** Specification by which another process opens the store. */
  readonly spec: StoreSpec;
  readonly layout: NodeLayout;
  readonly metadata: M;
  /** The documents that describe it, by key. */
  readonly documents?: Documents;
  /** All documents in the consolidated metadata, by key, if only these describe the node. */
  readonly consolidated?: Documents;
  /** The stored documents that list it, as they were read: its own, or consolidated metadata. */
  readonly stored?: StoredDocuments;
  /** Problems found while opening it that did not prevent opening. */
  readonly findings?: readonly Finding[];
  /** Options with which its documents were read. */
  readonly reading?: FormatOptions;
}

class Node<M extends ArrayMetadata | GroupMetadata, S extends Store> {
  readonly store: S;
  readonly spec: StoreSpec;
  readonly layout: NodeLayout;
  readonly metadata: M;
  readonly documents: Documents;
  readonly consolidated: Documents | undefined;
  readonly stored: StoredDocuments;
  readonly findings: readonly Finding[];
  readonly reading: FormatOptions;

  constructor(parts: NodeParts<M, S>) {
    this.store = parts.store;
    this.spec = parts.spec;
    this.layout = parts.layout;
    this.metadata = parts.metadata;
    this.documents = parts.documents ?? new Map();
    this.consolidated = parts.consolidated;
    this.stored = parts.stored ?? new Map();
    this.findings = parts.findings ?? [];
    this.reading = parts.reading ?? {};
  }

  /** Path in the store; "" for the root. */
  get path(): string {
    return this.layout.path;
  }

  /** Attributes as plain JavaScript values; integers beyond 2^53 are bigints. */
  get attributes(): { [name: string]: PlainValue } {
    return toPlain(this.metadata.attributes);
  }
}

interface ArrayParts<S extends Store> extends NodeParts<ArrayMetadata, S> {
  /** The shards that contain its chunks, for views of inner chunks. */
  readonly shards?: Shards;
}

/** Codec pipelines of arrays; arrays with the same metadata share one. */
const pipelines = new WeakMap<ArrayMetadata, Promise<CodecPipeline>>();

/**
 * An open array with data type `Name`; a member of the union `ZarrArray`. All methods are documented here.
 *
 * The array stays as its documents described it when it was opened. It caches up to a megabyte of shard indexes,
 * keeping the most recently used: the first chunk of a shard takes one more request. If a shard is replaced, its index
 * is read again, provided that the store has versions (`onVersion`): folders, S3, memory, and web servers that send
 * `ETag` or `Last-Modified`. With other stores, open the array again.
 */
export class TypedZarrArray<Name extends DataTypeName = DataTypeName, S extends Store = Store>
  extends Node<ArrayMetadata, S>
  implements ChunkStore<S>, ChunkCodec
{
  readonly kind = "array";
  readonly shards: Shards | undefined;

  constructor(parts: ArrayParts<S>) {
    super(parts);
    this.shards = parts.shards;
  }

  /** Number of items along each dimension. */
  get shape(): readonly number[] {
    return this.metadata.shape;
  }

  /** Number of items of a chunk along each dimension. */
  get chunkShape(): readonly number[] {
    return this.metadata.chunkGrid.chunkShape;
  }

  /**
   * Name of the data type, such as `float32` or `datetime64[ns]`. In a `switch` over it, TypeScript infers the result
   * types of `read`, `chunk` and `chunks`.
   *
   * @example
   * ```ts
   * import { openArray } from "zarrflow";
   *
   * const array = await openArray("era5.zarr/t2m");
   * switch (array.dataType) {
   *   case "float32": {
   *     const { data } = await array.slice({ time: 0 }).read();
   *     console.log(data instanceof Float32Array); // true
   *     break;
   *   }
   *   default:
   *     throw new TypeError(`no values of ${array.dataType}`);
   * }
   * ```
   */
  get dataType(): Name {
    return describeDataType(this.metadata.dataType) as Name;
  }

  /**
   * Selects part of the array, as `slice(array, option, options)` does, to be read into memory or streamed.
   *
   * @param option ranges of items by dimension name or in order, or as text; everything by default
   * @throws as `slice`
   * @example
   * ```ts
   * import { openArray } from "zarrflow";
   *
   * const array = await openArray("era5.zarr/t2m");
   * const { data, shape } = await array.slice({ time: [0, 24], latitude: 5 }).read();
   * console.log(shape, data.length); // [ 24, 49 ] 1176
   * ```
   */
  slice<This extends TypedZarrArray>(
    this: This,
    option: SliceOption | string = {},
    options: OpenSliceOptions = {},
  ): Slice<This["dataType"]> {
    return new Slice(this, option, options);
  }

  /**
   * Reads the items of one chunk, cropped at the edge of the array, in C order, in a buffer owned by the caller. A
   * missing chunk reads as the fill value. Takes one request, or two if the index of its shard was not read yet.
   *
   * @param coords position in the grid of chunks, one number per dimension; for shards, in the grid of inner chunks
   * @returns the region in items of the array; `stride` in items
   * @throws `invalid-selection` for coords outside the grid; as `read` of a slice.
   * @example
   * ```ts
   * import { openArray } from "zarrflow";
   *
   * const array = await openArray("era5.zarr/t2m");
   * const { data, region } = await array.chunk([1, 0, 0]);
   * console.log(region.start, data.length); // [ 24, 0, 0 ] 38808
   * ```
   */
  chunk<This extends TypedZarrArray>(
    this: This,
    coords: readonly number[],
    options: StoreOptions = {},
  ): Promise<SliceChunk<This["dataType"]>> {
    return chunkAt(this as ZarrArray, coords, options);
  }

  /**
   * Iterates over the chunks that a selection touches, in C order; for shards, over their inner chunks, shard by shard.
   * The chunks need not be stored. No chunk is read.
   *
   * @param option as of `slice`; all chunks by default
   * @returns the coords in the grid, the store key, and the region with all items of the chunk, in items of the array
   * @throws (during iteration) as `slice`
   * @example
   * ```ts
   * import { openArray } from "zarrflow";
   *
   * const array = await openArray("era5.zarr/t2m");
   * for await (const { coords, key } of array.chunkRefs({ time: [20, 30] })) console.log(coords, key);
   * ```
   */
  chunkRefs(option: SliceOption | string = {}, options: OpenSliceOptions = {}): AsyncGenerator<ChunkRef> {
    return insideOf(this.slice(option, options)).refs();
  }

  /**
   * Returns true if the array has this data type, such as `float32` or `datetime64[ns]`, or if its items have this
   * JavaScript type: `number`, `bigint` (64-bit integers and times), `boolean`, `string` (also `U5`) or `bytes`.
   * TypeScript then knows the types of its values.
   *
   * @example
   * ```ts
   * import { openArray } from "zarrflow";
   *
   * const array = await openArray("era5.zarr/t2m");
   * if (array.is("number")) {
   *   const { data } = await array.slice({ time: [0, 1] }).read();
   *   console.log(Math.max(...data) > 273); // true
   * }
   * ```
   */
  is<Query extends DataTypeQuery>(query: Query): this is ZarrArray<NameOfQuery<Query>, S> {
    return meetsQuery(this.dataType, query);
  }

  get computesMissing(): boolean {
    return this.metadata.codecs[0]?.name === CONVERT_VALUES;
  }

  /** Name of each dimension, or null for unnamed ones; undefined if no dimension has a name. */
  get dimensionNames(): readonly (string | null)[] | undefined {
    return this.metadata.dimensionNames;
  }

  /** Store key of the chunk at `coords`. */
  chunkKey(coords: readonly number[]): string {
    if (this.shards) return this.shards.chunkKey(coords);
    return this.layout.chunkKey(coords, this.metadata.chunkKeyEncoding);
  }

  /**
   * Returns a view of the array in which the inner chunks of its shards are the chunks, to be read by range. Use it for
   * one reading, since it caches the shard indexes. Returns the array itself if it has no shards, or if they can only
   * be read whole.
   *
   * @param levels number of levels to unwrap if shards are nested; all by default.
   */
  innerChunks(levels = Number.POSITIVE_INFINITY): TypedZarrArray<Name, S> {
    return insideShards(this, levels, new ShardIndexes());
  }

  /**
   * Returns the codecs as one pipeline for both directions, loaded on first use.
   *
   * @throws `unsupported-codec`, `invalid-metadata`, with path, key and pointer.
   */
  pipeline(): Promise<CodecPipeline> {
    const known = pipelines.get(this.metadata);
    const pipeline = known ?? this.#createPipeline();
    if (known === undefined) pipelines.set(this.metadata, pipeline);
    return pipeline;
  }

  async #createPipeline(): Promise<CodecPipeline> {
    try {
      return await createPipeline(this.metadata.codecs, chunkSpecOf(this.metadata));
    } catch (error) {
      const { zarrFormat, path, documentKeys, attributesKey } = this.layout;
      const key = documentKeys.find((one) => one !== attributesKey && this.documents.has(one));
      if (isZarrflowError(error))
        error.addContext({ format: zarrFormat, path, ...(key !== undefined && { key }) });
      throw error;
    }
  }
}

/**
 * An open array. It can be sliced, and it provides chunks and their codecs to the stages of `zarrflow/streams`. The
 * type is a union of one `TypedZarrArray` per data type, which `array.dataType` and `array.is` distinguish. A
 * `ZarrArray<"float32">` is assignable to `ZarrArray`.
 *
 * @example
 * ```ts
 * import { openArray, type ZarrArray } from "zarrflow";
 *
 * async function largest(array: ZarrArray): Promise<number> {
 *   if (array.is("number")) return Math.max(...(await array.slice().read()).data);
 *   throw new TypeError(`the items of ${array.dataType} are not numbers`);
 * }
 * console.log(await largest(await openArray("era5.zarr/latitude")));
 * ```
 */
export type ZarrArray<
  Name extends DataTypeName = DataTypeName,
  S extends Store = Store,
> = Name extends DataTypeName ? TypedZarrArray<Name, S> : never;

interface ZarrArrayClass {
  new <S extends Store = Store>(parts: ArrayParts<S>): ZarrArray<DataTypeName, S>;
}

export const ZarrArray: ZarrArrayClass = TypedZarrArray as never;

function insideShards<Name extends DataTypeName, S extends Store>(
  array: TypedZarrArray<Name, S>,
  levels: number,
  indexes: ShardIndexes,
): TypedZarrArray<Name, S> {
  const sharded = levels > 0 ? withinShards(array.metadata) : undefined;
  if (sharded === undefined) return array;
  const { store, spec, layout, documents, stored, findings, reading } = array;
  const shards = new Shards(array, sharded, indexes);
  const parts = { store, spec, layout, documents, stored, findings, reading };
  const inner = new TypedZarrArray<Name, S>({ ...parts, metadata: sharded.inner, shards });
  return insideShards(inner, levels - 1, indexes);
}

/** Cached shard indexes of open arrays. */
const indexes = new WeakMap<ZarrArray, ShardIndexes>();

/** As `innerChunks`, for repeated readings: the shard indexes are kept as long as the array. */
export function withKeptIndexes(array: ZarrArray): ZarrArray {
  const kept = indexes.get(array) ?? new ShardIndexes();
  indexes.set(array, kept);
  return insideShards(array, Number.POSITIVE_INFINITY, kept) as ZarrArray;
}

/** Discards the cached shard indexes of an array whose shards were written. */
export function forgetIndexes(array: ZarrArray): void {
  indexes.delete(array);
}

/** An open group. */
export class ZarrGroup<S extends Store = Store> extends Node<GroupMetadata, S> {
  readonly kind = "group";
}

/** Returns the same node, read through another store with the same keys. */
export function throughStore(node: ZarrArray, store: Store): ZarrArray;
export function throughStore(node: ZarrNode, store: Store): ZarrNode;
export function throughStore(node: ZarrNode, store: Store): ZarrNode {
  if (store === node.store) return node;
  const { spec, layout, documents, consolidated, stored, findings, reading } = node;
  const parts = { store, spec, layout, documents, stored, findings, reading };
  const all = { ...parts, ...(consolidated && { consolidated }) };
  return node.kind === "array"
    ? new ZarrArray({ ...all, metadata: node.metadata })
    : new ZarrGroup({ ...all, metadata: node.metadata });
}

export type ZarrNode<S extends Store = Store> = ZarrArray<DataTypeName, S> | ZarrGroup<S>;

/** Asserts that a value is an open array. @throws `invalid-option` */
export function assertArray(value: unknown): asserts value is ZarrArray {
  if (!isNodeOf("array", value)) throw invalidOption("this is not an array", "an open array", value);
}

/** Asserts that a value is an open group. @throws `invalid-option` */
export function assertGroup(value: unknown): asserts value is ZarrGroup {
  if (!isNodeOf("group", value)) throw invalidOption("this is not a group", "an open group", value);
}

function isNodeOf(kind: ZarrNode["kind"], value: unknown): boolean {
  return isObject(value) && "kind" in value && value.kind === kind && "layout" in value && "store" in value;
}

/** The location of an array, independent of the place where its store was opened. */
export function locationOf({ path, spec }: ZarrArray): string {
  const { kind } = spec;
  const root =
    kind === "directory"
      ? spec.path
      : kind === "http"
        ? spec.url
        : kind === "s3"
          ? `${spec.bucket}/${spec.prefix}`
          : JSON.stringify(spec);
  return [root.replace(/\/$/, ""), path].filter(Boolean).join("/");
}

/** The name of an array in a file with several arrays, or as a column: the last part of its path. */
export function nameOf(array: ZarrArray): string {
  const { kind } = array.spec;
  const hasName = array.path !== "" || kind === "directory" || kind === "http" || kind === "s3";
  const name = hasName ? locationOf(array).split("/").at(-1) : undefined;
  return name?.replace(/\.zarr$/, "") || "values";
}
