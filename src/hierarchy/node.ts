import { chunkSpecOf } from "../codecs/chunk-spec.ts";
import type { CodecPipeline } from "../codecs/codec.ts";
import { createPipeline } from "../codecs/pipeline.ts";
import type { ArrayMetadata, GroupMetadata } from "../meta/array-metadata.ts";
import { describeDataType } from "../meta/describe.ts";
import type { Documents, Finding, NodeLayout } from "../meta/dialect.ts";
import type { Store, StoreSpec } from "../stores/store.ts";
import type { ChunkCoding, ChunkPlace } from "../streams/chunk.ts";
import { type PlainValue, toPlain } from "../util/json-plain.ts";

/** What a node is made of. */
export interface NodeParts<M, S extends Store = Store> {
  readonly store: S;
  /** Tells another process how to open the store. */
  readonly spec: StoreSpec;
  readonly layout: NodeLayout;
  readonly metadata: M;
  /** The documents that describe it, by key. */
  readonly documents?: Documents;
  /** Where consolidated metadata alone describe it: all documents that these hold, by key. */
  readonly consolidated?: Documents;
  /** What opening it noticed and went on over. */
  readonly findings?: readonly Finding[];
}

class Node<M extends ArrayMetadata | GroupMetadata, S extends Store> {
  readonly store: S;
  readonly spec: StoreSpec;
  readonly layout: NodeLayout;
  readonly metadata: M;
  readonly documents: Documents;
  readonly consolidated: Documents | undefined;
  readonly findings: readonly Finding[];

  constructor(parts: NodeParts<M, S>) {
    this.store = parts.store;
    this.spec = parts.spec;
    this.layout = parts.layout;
    this.metadata = parts.metadata;
    this.documents = parts.documents ?? new Map();
    this.consolidated = parts.consolidated;
    this.findings = parts.findings ?? [];
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

/** An array that is open: a place of chunks and their coding, for the stages of `zarrflow/streams`. */
export class ZarrArray<S extends Store = Store>
  extends Node<ArrayMetadata, S>
  implements ChunkPlace<S>, ChunkCoding
{
  readonly kind = "array";
  #pipeline: Promise<CodecPipeline> | undefined;

  /** Items along each dimension. */
  get shape(): readonly number[] {
    return this.metadata.shape;
  }

  /** Items of a chunk along each dimension. */
  get chunkShape(): readonly number[] {
    return this.metadata.chunkGrid.chunkShape;
  }

  /** Data type in words, such as `float32` or `datetime64[ns]`. */
  get dataType(): string {
    return describeDataType(this.metadata.dataType);
  }

  /** A name a dimension, null where it has none; undefined where none has. */
  get dimensionNames(): readonly (string | null)[] | undefined {
    return this.metadata.dimensionNames;
  }

  /** Store key of the chunk at `coords`. */
  chunkKey(coords: readonly number[]): string {
    return this.layout.chunkKey(coords, this.metadata.chunkKeyEncoding);
  }

  /**
   * Its codecs as one call each way, loaded on first use.
   *
   * @throws `unsupported-codec`, `invalid-metadata`, with the array's path.
   */
  pipeline(): Promise<CodecPipeline> {
    this.#pipeline ??= createPipeline(this.metadata.codecs, chunkSpecOf(this.metadata));
    return this.#pipeline;
  }
}

/** A group that is open. */
export class ZarrGroup<S extends Store = Store> extends Node<GroupMetadata, S> {
  readonly kind = "group";
}

export type ZarrNode<S extends Store = Store> = ZarrArray<S> | ZarrGroup<S>;
