import type { ArrayMetadata, ChunkKeyEncoding, NodeMetadata, ZarrFormat } from "./array-metadata.ts";

/** Bytes that a metadata document may have, where nothing else is asked for. */
export const DEFAULT_MAX_METADATA = 32 * 2 ** 20;

/**
 * Where a node's documents and chunks lie. Nothing else joins paths. Keys are relative to the store's root and
 * have no leading slash; the root's path is "".
 */
export interface NodeLayout {
  readonly zarrFormat: ZarrFormat;
  /** Normalised path of the node, without slashes at its ends. */
  readonly path: string;
  /** Keys of the documents that may describe the node, in the order in which they are published. */
  readonly documentKeys: readonly string[];
  /** The one of them that holds nothing but the attributes, in formats that keep these apart. */
  readonly attributesKey?: string;
  /** The one of them that says that the node is a group, in formats where an array has another in its place. */
  readonly groupKey?: string;
  /**
   * The key that holds the consolidated metadata of a group: one of `documentKeys` where its own document carries them;
   * absent in formats that know nothing of the kind.
   */
  readonly consolidatedKey?: string;
  /** What holds for the keys of all nodes of the format. */
  readonly hierarchy: HierarchyKeys;
  /** What every key below the node begins with, of documents first; each is empty or ends in `/`. */
  readonly prefixes: readonly string[];
  /** The prefix whose listing has all chunks of the node, if it is an array. */
  readonly chunksPrefix: string;
  /** The prefix whose listing, one level deep, has all members of the node, if it is a group. */
  readonly membersPrefix: string;
  /** Name of the member that a key or a prefix of that listing belongs to; undefined for one of none. */
  memberName(entry: string): string | undefined;
  /** Key of the chunk at `coords`. */
  chunkKey(coords: readonly number[], encoding: ChunkKeyEncoding): string;
  /** Coords of the chunk that `key` names, or undefined when it is no chunk key of this node. */
  parseChunkKey(key: string, rank: number, encoding: ChunkKeyEncoding): number[] | undefined;
}

/** What holds for the keys of all nodes of a format. */
export interface HierarchyKeys {
  /** Keys of documents that all nodes share: read with those of a node, and left where they are when it goes. */
  readonly sharedKeys: readonly string[];
  /** Whether a path below which there are keys of nodes is a group, also without a document of its own. */
  readonly impliesGroups: boolean;
  /** Whether names of siblings must differ even where case is left aside. */
  readonly ignoresCase: boolean;
  /** Whether names of nodes are ASCII, unless whoever makes them takes others on themselves. */
  readonly wantsAscii: boolean;
  /** Path of the node that the document at `key` describes; undefined for all other keys. */
  nodeOf(key: string): string | undefined;
  /** Where `key` lies as seen from the hierarchy's root: without the tree that it is in. */
  pathOf(key: string): string;
  /** Holds that `key`, of something that is no Zarr, may be written. @throws `path-not-allowed` */
  assertKey(key: string): void;
}

/** Documents of one node by key; absent ones are not in the map. */
export type Documents = ReadonlyMap<string, Uint8Array>;

/** What reading metadata noticed and went on over. */
export interface Finding {
  readonly message: string;
  readonly pointer?: string;
  /** `values`: values may be read wrong because of it. `other-format`: documents of another format lie beside. */
  readonly kind?: "values" | "other-format";
}

export interface ParsedNode {
  readonly metadata: NodeMetadata;
  readonly findings: readonly Finding[];
}

export interface WriteOptions {
  /** Pointers, as a `loss-refused` names them, of what may be left out or lose precision. */
  readonly allowLoss?: readonly string[] | undefined;
}

/** How much documents may take. */
export interface DocumentLimits {
  /** Bytes that a document may have, where that was asked for; the memory of its values follows from it. */
  readonly maxMetadata?: number | undefined;
}

/** One format of Zarr: documents to the model and back. Pure. */
export interface FormatDefinition {
  readonly name: ZarrFormat;
  layout(path: string): NodeLayout;
  /**
   * The node that the documents at `layout.documentKeys` describe, or undefined when they describe none. Documents
   * that all nodes share are judged where they are given.
   *
   * @throws `invalid-metadata`, `unsupported-*`, with format, path, key and pointer.
   */
  parse(documents: Documents, layout: NodeLayout, limits?: DocumentLimits): ParsedNode | undefined;
  /**
   * The documents of a node, in the order in which they are published.
   *
   * @throws `loss-refused` with the JSON pointers of what this format cannot hold.
   */
  write(metadata: NodeMetadata, layout: NodeLayout, options?: WriteOptions): Map<string, Uint8Array>;
  /**
   * The documents, by key, that the value of `consolidatedKey` of the group at `path` holds; undefined when it holds
   * none that can be used.
   *
   * @throws `invalid-metadata`, `unsupported-format`.
   */
  readConsolidated?(bytes: Uint8Array, path: string, limits?: DocumentLimits): Documents | undefined;
  /** The documents that all nodes of a new hierarchy share, written before the first of them. */
  writeShared?(): Map<string, Uint8Array>;
  /**
   * The array as this format stores it where all chunks are encoded again: what is a matter of storage alone, such as the
   * order of items in a chunk, may differ. Absent: as it is.
   */
  adopt?(metadata: ArrayMetadata): ArrayMetadata;
}
