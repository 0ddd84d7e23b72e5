import type { ChunkKeyEncoding, DialectName, NodeMetadata } from "./array-metadata.ts";

/**
 * Where a node's documents and chunks lie. Nothing else joins paths. Keys are relative to the store's root and
 * have no leading slash; the root's path is "".
 */
export interface NodeLayout {
  readonly dialect: DialectName;
  /** Normalised path of the node, without slashes at its ends. */
  readonly path: string;
  /** Keys of the documents that may describe the node, in the order in which they are published. */
  readonly documentKeys: readonly string[];
  /** The one of them that holds nothing but the attributes, in dialects that keep these apart. */
  readonly attributesKey?: string;
  /** Key of the chunk at `coords`. */
  chunkKey(coords: readonly number[], encoding: ChunkKeyEncoding): string;
  /** Coords of the chunk that `key` names, or undefined when it is no chunk key of this node. */
  parseChunkKey(key: string, rank: number, encoding: ChunkKeyEncoding): number[] | undefined;
}

/** Documents of one node by key; absent ones are not in the map. */
export type Documents = ReadonlyMap<string, Uint8Array>;

/** What reading metadata noticed and went on over. */
export interface Finding {
  readonly message: string;
  readonly pointer?: string;
}

export interface ParsedNode {
  readonly metadata: NodeMetadata;
  readonly findings: readonly Finding[];
}

export interface WriteOptions {
  /** Pointers, as a `loss-refused` names them, of what may be left out or lose precision. */
  readonly allowLoss?: readonly string[] | undefined;
}

/** One dialect of Zarr: documents to the model and back. Pure. */
export interface Dialect {
  readonly name: DialectName;
  layout(path: string): NodeLayout;
  /**
   * The node that the documents at `layout.documentKeys` describe, or undefined when they describe none.
   *
   * @throws `invalid-metadata`, `unsupported-*`, with format, path, key and pointer.
   */
  parse(documents: Documents, layout: NodeLayout): ParsedNode | undefined;
  /**
   * The documents of a node, in the order in which they are published.
   *
   * @throws `loss-refused` with the JSON pointers of what this dialect cannot hold.
   */
  write(metadata: NodeMetadata, layout: NodeLayout, options?: WriteOptions): Map<string, Uint8Array>;
}
