import type { ArrayMetadata, ChunkKeyEncoding, NodeMetadata, ZarrFormat } from "./array-metadata.ts";

/** Default for the largest metadata document, in bytes. */
export const DEFAULT_MAX_METADATA = 32 * 2 ** 20;

/**
 * Locations of a node's documents and chunks. No other code joins paths. Keys are relative to the store's root
 * without a leading slash; the root's path is "".
 */
export interface NodeLayout {
  readonly zarrFormat: ZarrFormat;
  /** Normalized path of the node, without slashes at its ends. */
  readonly path: string;
  /** Keys of the documents that may describe the node, in publishing order. */
  readonly documentKeys: readonly string[];
  /** The document key that contains only attributes, in formats that store them separately. */
  readonly attributesKey?: string;
  /** The document key that identifies a group, in formats where arrays have a different one. */
  readonly groupKey?: string;
  /**
   * The key with a group's consolidated metadata. One of `documentKeys` if the group's own document contains them;
   * absent in formats without consolidated metadata.
   */
  readonly consolidatedKey?: string;
  /** Rules for the keys of all nodes of the format. */
  readonly hierarchy: HierarchyKeys;
  /** Prefixes of all keys below the node, documents first; each is empty or ends in `/`. */
  readonly prefixes: readonly string[];
  /** The prefix whose listing contains all chunks of an array. */
  readonly chunksPrefix: string;
  /** The prefix whose one-level listing contains all members of a group. */
  readonly membersPrefix: string;
  /** Name of the member that an entry of that listing belongs to; undefined if it belongs to none. */
  memberName(entry: string): string | undefined;
  /** Key of the chunk at `coords`. */
  chunkKey(coords: readonly number[], encoding: ChunkKeyEncoding): string;
  /** Coords of the chunk with this key; undefined if it is not a chunk key of this node. */
  parseChunkKey(key: string, rank: number, encoding: ChunkKeyEncoding): number[] | undefined;
}

/** Rules for the keys of all nodes of a format. */
export interface HierarchyKeys {
  /** Documents that all nodes share. They are read with each node's documents, and stay when a node is deleted. */
  readonly sharedKeys: readonly string[];
  /** True if a path with nodes below it is a group even without its own document. */
  readonly impliesGroups: boolean;
  /** True if names of siblings must differ in more than case. */
  readonly ignoresCase: boolean;
  /** True if names of nodes should be ASCII, unless the user permits others. */
  readonly wantsAscii: boolean;
  /** Path of the node that the document at `key` describes; undefined for all other keys. */
  nodeOf(key: string): string | undefined;
  /** Path of `key` in the hierarchy, without the prefix of its tree. */
  pathOf(key: string): string;
  /** Checks that `key`, of a file that is not part of Zarr, may be written. @throws `path-not-allowed` */
  assertKey(key: string): void;
}

/** Documents of one node by key; absent ones are not in the map. */
export type Documents = ReadonlyMap<string, Uint8Array>;

/** A problem in metadata that reading tolerated. */
export interface Finding {
  readonly message: string;
  readonly pointer?: string;
  /**
   * `values`: decoded values may be wrong because of it. `other-format`: documents of another format exist beside
   * these.
   */
  readonly kind?: "values" | "other-format";
}

export interface ParsedNode {
  readonly metadata: NodeMetadata;
  readonly findings: readonly Finding[];
}

export interface WriteOptions {
  /** JSON pointers, as in `loss-refused`, to metadata that may be omitted or lose precision. */
  readonly allowLoss?: readonly string[] | undefined;
}

/** Size limits of documents. */
export interface DocumentLimits {
  /** Largest document in bytes, if set; also determines the memory limit of its values. */
  readonly maxMetadata?: number | undefined;
}

/** One format of Zarr: converts documents to the model and back. Pure. */
export interface FormatDefinition {
  readonly name: ZarrFormat;
  layout(path: string): NodeLayout;
  /**
   * Parses the documents at `layout.documentKeys`; undefined if they describe no node. Checks the shared documents
   * that are among `documents`.
   *
   * @throws `invalid-metadata`, `unsupported-*`, with format, path, key and pointer.
   */
  parse(documents: Documents, layout: NodeLayout, limits?: DocumentLimits): ParsedNode | undefined;
  /**
   * Writes a node's documents, in publishing order.
   *
   * @throws `loss-refused` with JSON pointers to metadata that this format cannot represent.
   */
  write(metadata: NodeMetadata, layout: NodeLayout, options?: WriteOptions): Map<string, Uint8Array>;
  /**
   * Reads the documents, by key, in the `consolidatedKey` of the group at `path`; undefined if it has no usable ones.
   *
   * @throws `invalid-metadata`, `unsupported-format`.
   */
  readConsolidated?(bytes: Uint8Array, path: string, limits?: DocumentLimits): Documents | undefined;
  /** Returns the documents that all nodes of a new hierarchy share, to write before the first node. */
  writeShared?(): Map<string, Uint8Array>;
  /**
   * Adapts an array whose chunks are all re-encoded to this format. May change storage details such as the order of
   * items in a chunk. Absent if nothing needs to change.
   */
  adopt?(metadata: ArrayMetadata): ArrayMetadata;
}
