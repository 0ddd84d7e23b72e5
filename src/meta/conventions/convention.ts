import type { ArrayMetadata, NodeMetadata, ZarrFormat } from "../array-metadata.ts";

/** A node of a hierarchy. */
export interface ConventionNode {
  /** Path relative to the root node of the flow; "" for that node itself. */
  readonly path: string;
  readonly metadata: NodeMetadata;
}

/** A notice that readers of the target may interpret it differently than the source. */
export interface ConventionNote {
  /** Path of the node relative to the root node of the flow. */
  readonly path: string;
  readonly message: string;
  readonly hint?: string;
}

/** A change of format, as conventions see it. */
export interface FormatChange {
  readonly from: ZarrFormat;
  readonly to: ZarrFormat;
  /** Reports metadata that cannot be converted, or that some readers interpret differently. */
  note(note: ConventionNote): void;
}

/** Positions of an array's items in the array that they were made from, along each dimension. */
export interface ItemPlacing {
  /** Position of new item 0 as an index into the old items; a fraction for the middle of a block. */
  readonly start: readonly number[];
  /** Distance between new items, in old items. */
  readonly step: readonly number[];
  /** Full turns by which the longitude of new item 0 differs from that of the old one; absent if none do. */
  readonly turns?: readonly number[] | undefined;
  /** Offsets that are added to the numbers in runs of new items. */
  readonly shift?: { readonly runs: readonly { readonly add: number }[] };
  /** How a block of old items became a new one; absent if items are unchanged. */
  readonly method?: string;
}

/** A node of a target with another grid. */
export interface ChangedNode extends ConventionNode {
  /** The source node that it was made from, converted to the target's format. */
  readonly from: ConventionNode;
  /** Absent if every item keeps its index. */
  readonly placing?: ItemPlacing;
}

/** An array among changed nodes. */
export type ChangedArray = ChangedNode & { readonly metadata: ArrayMetadata };

/** A change of shapes, chunks, spacing or members, as conventions see it. */
export interface GridChange {
  /** True if nothing remains at or below a target path where something was. */
  isGone(path: string): boolean;
  /** True if the node at a path is new. */
  isNew(path: string): boolean;
  /** Path of the flow's root node in its hierarchy. */
  readonly root: string;
  /** Reports metadata that is removed because no true replacement is known. */
  note(node: ChangedNode, message: string, hint?: string): void;
}

/**
 * A metadata convention: where an array's missing value is stored, how images are described, or which area a raster
 * covers. Pure. Both functions return the nodes in the same order, with the same paths and kinds, and pass on as the
 * same object each node that the convention does not affect. They get all nodes at once, because a node may depend on
 * its parent or siblings.
 */
export interface Convention {
  readonly name: string;
  /**
   * Matches attributes that describe arrays beside or below their node, or that refer to a node describing this one.
   */
  readonly ofOthers?: RegExp;
  /**
   * Converts nodes to the form that readers of the convention expect in another format; absent if nothing changes.
   */
  convert?(nodes: readonly ConventionNode[], change: FormatChange): readonly ConventionNode[];
  /** Updates the metadata to a new grid, or removes what is no longer true; absent if nothing changes. */
  follow?(nodes: readonly ChangedNode[], change: GridChange): readonly ChangedNode[];
}

/** Replaces a node's attributes; returns the same node if they are the same object. */
export function withAttributes<T extends ChangedNode>(node: T, attributes: NodeMetadata["attributes"]): T {
  if (attributes === node.metadata.attributes) return node;
  return { ...node, metadata: { ...node.metadata, attributes } };
}

export function isArray(node: ChangedNode): node is ChangedArray {
  return node.metadata.kind === "array";
}
