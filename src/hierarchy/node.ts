import { createPipeline } from "../codecs/chain/pipeline.ts";
import { chunkSpecOf } from "../codecs/chunk-spec.ts";
import type { CodecPipeline } from "../codecs/codec.ts";
import type { ArrayMetadata, GroupMetadata } from "../meta/array-metadata.ts";
import {
  type DataTypeName,
  type DataTypeQuery,
  meetsQuery,
  type NameOfQuery,
} from "../meta/data-type-name.ts";
import { describeDataType } from "../meta/describe.ts";
import type { Documents, Finding, NodeLayout } from "../meta/format.ts";
import type { FormatOptions } from "../meta/formats.ts";
import { CONVERT_VALUES, withinShards } from "../meta/inner-array.ts";
import type { Store, StoreOptions, StoreSpec } from "../stores/store.ts";
import type { ChunkCodec, ChunkRef, ChunkStore } from "../streams/chunk.ts";
import { ShardIndexes, Shards } from "../streams/shards.ts";
import { invalid, isObject } from "../util/check-options.ts";
import { isZarrflowError } from "../util/errors.ts";
import { type PlainValue, toPlain } from "../util/json-plain.ts";
import { chunkAt, insideOf, type OpenSliceOptions, Slice, type SliceChunk } from "./slice.ts";
import type { SliceOption } from "./slice-option.ts";
import type { StoredDocuments } from "./stored-documents.ts";

/** What a node is made of. */
export interface NodeParts<M, S extends Store = Store> {
  readonly store: S;
  /** How another process opens the store. */
  readonly spec: StoreSpec;
  readonly layout: NodeLayout;
  readonly metadata: M;
  /** The documents that describe it, by key. */
  readonly documents?: Documents;
  /** Where consolidated metadata alone describe it: all documents that these hold, by key. */
  readonly consolidated?: Documents;
  /** Those of the store that list it, as they were read: its own, or consolidated metadata. */
  readonly stored?: StoredDocuments;
  /** What opening it noticed and went on over. */
  readonly findings?: readonly Finding[];
  /** How its documents were read. */
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

  /** Path inside the store; the root's is "". */
  get path(): string {
    return this.layout.path;
  }

  /** Attributes as plain JavaScript; integers beyond 2^53 as bigint. */
  get attributes(): { [name: string]: PlainValue } {
    return toPlain(this.metadata.attributes);
  }
}

interface ArrayParts<S extends Store> extends NodeParts<ArrayMetadata, S> {
  /** Where its chunks lie, if they lie in shards. */
  readonly shards?: Shards;
}

/** The codecs of arrays, which are the same for all that have the same metadata. */
const pipelines = new WeakMap<ArrayMetadata, Promise<CodecPipeline>>();

/**
 * An array that is open, whose data type is `Name`: what `ZarrArray` is one of. All that it does is described here.
 *
 * It is as its documents were when it was opened. The indexes of its shards are kept, those that were used last, up to a
 * megabyte of them: the first chunk of a shard takes one more request. A shard that was replaced is noticed, and its index
 * read again, where the store knows versions (`onVersion`): folders, S3, memory, and web servers that send `ETag` or
 * `Last-Modified`. In other stores the array must be opened again then.
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

  /** Items along each dimension. */
  get shape(): readonly number[] {
    return this.metadata.shape;
  }

  /** Items of a chunk along each dimension. */
  get chunkShape(): readonly number[] {
    return this.metadata.chunkGrid.chunkShape;
  }

  /**
   * Data type in words, such as `float32` or `datetime64[ns]`. In the cases of a `switch` over it, TypeScript knows what
   * `read`, `chunk` and `chunks` give.
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
   * A part of it, as `slice(array, option, options)` gives: to be read into memory, or streamed.
   *
   * @param option ranges of items by dimension name or in order, or their text; all by default
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
   * The items of one chunk, cut at the edge of the array, in C order, in memory of their own; the fill value where it is
   * missing. One request, of the chunk alone; where it lies in a shard whose index was not read yet, two.
   *
   * @param coords place in the grid of chunks, one number a dimension; of shards in that of the chunks inside them
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
   * The chunks that a selection touches, in C order; where they lie in shards, the chunks inside them, shard by shard. They
   * need not be stored. No chunk is read.
   *
   * @param option as of `slice`; all chunks by default
   * @returns of each its coords in the grid, its store key, and its region: all items that it holds, in items of the array
   * @throws (while they are read) as `slice`
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
   * Whether this is its data type, as `dataType` says it, such as `float32` or `datetime64[ns]`; or whether its items are
   * of a type of JavaScript: `number`, `bigint` (64-bit integers and times), `boolean`, `string` (also `U5`), or `bytes`.
   * TypeScript then knows what its slices hold.
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

  /** A name a dimension, null where it has none; undefined where none has. */
  get dimensionNames(): readonly (string | null)[] | undefined {
    return this.metadata.dimensionNames;
  }

  /** Store key of the chunk at `coords`. */
  chunkKey(coords: readonly number[]): string {
    if (this.shards) return this.shards.chunkKey(coords);
    return this.layout.chunkKey(coords, this.metadata.chunkKeyEncoding);
  }

  /**
   * The same array by the chunks inside its shards, which are then read by range: for one reading, since it remembers
   * where they lie. The array itself where it has no shards, or these can only be read whole.
   *
   * @param levels how deep to go where shards lie in shards; all the way by default.
   */
  innerChunks(levels = Number.POSITIVE_INFINITY): TypedZarrArray<Name, S> {
    return insideShards(this, levels, new ShardIndexes());
  }

  /**
   * Its codecs as one call each way, loaded on first use.
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
 * An array that is open: it can be sliced, and is a place of chunks and their coding for the stages of `zarrflow/streams`. It
 * is a union of one `TypedZarrArray` for each data type, which `array.dataType` and `array.is` distinguish. A
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

/** Indexes of the shards of open arrays. */
const indexes = new WeakMap<ZarrArray, ShardIndexes>();

/** As `innerChunks`, for one of several readings: the indexes of shards are kept for as long as the array is open. */
export function withKeptIndexes(array: ZarrArray): ZarrArray {
  const kept = indexes.get(array) ?? new ShardIndexes();
  indexes.set(array, kept);
  return insideShards(array, Number.POSITIVE_INFINITY, kept) as ZarrArray;
}

/** Forgets the indexes of an array's shards, which have been written. */
export function forgetIndexes(array: ZarrArray): void {
  indexes.delete(array);
}

/** A group that is open. */
export class ZarrGroup<S extends Store = Store> extends Node<GroupMetadata, S> {
  readonly kind = "group";
}

/** The same node, which is read through another store of the same keys. */
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

/** Holds that a value is an open array. @throws `invalid-option` */
export function assertArray(value: unknown): asserts value is ZarrArray {
  if (!isNodeOf("array", value)) throw invalid("this is not an array", "an open array", value);
}

/** Holds that a value is an open group. @throws `invalid-option` */
export function assertGroup(value: unknown): asserts value is ZarrGroup {
  if (!isNodeOf("group", value)) throw invalid("this is not a group", "an open group", value);
}

function isNodeOf(kind: ZarrNode["kind"], value: unknown): boolean {
  return isObject(value) && "kind" in value && value.kind === kind && "layout" in value && "store" in value;
}
