import type { ArrayMetadata, NodeMetadata, ZarrFormat } from "../array-metadata.ts";

/** A node of a hierarchy. */
export interface ConventionNode {
  /** Its path below the node that the flow works on; "" for that itself. */
  readonly path: string;
  readonly metadata: NodeMetadata;
}

/** What readers of the target may take otherwise than those of the source. */
export interface ConventionNote {
  /** Path of the node below the one that the flow works on. */
  readonly path: string;
  readonly message: string;
  readonly hint?: string;
}

/** A change of format, as a convention sees it. */
export interface FormatChange {
  readonly from: ZarrFormat;
  readonly to: ZarrFormat;
  /** Notes what cannot be carried, or is read otherwise by some. */
  note(note: ConventionNote): void;
}

/** Where the items of an array lie among those that it was made of, along each dimension. */
export interface ItemPlacing {
  /** Index, among the old items, of the place of the new item 0; a fraction for the middle of a block. */
  readonly start: readonly number[];
  /** Old items from one new item to the next. */
  readonly step: readonly number[];
  /** Turns by which longitudes of the new item 0 differ from those of the old one, where any do. */
  readonly turns?: readonly number[] | undefined;
  /** What is added to the numbers of runs of new items. */
  readonly shift?: { readonly runs: readonly { readonly add: number }[] };
  /** How a block of old items became a new one; absent where items are as they were. */
  readonly method?: string;
}

/** A node of a target with another grid. */
export interface ChangedNode extends ConventionNode {
  /** The node of the source that it was made of, in the words of the target's format. */
  readonly from: ConventionNode;
  /** Absent where each item is at the index at which it was. */
  readonly placing?: ItemPlacing;
}

/** An array among changed nodes. */
export type ChangedArray = ChangedNode & { readonly metadata: ArrayMetadata };

/** A change of shapes, chunks, spacing or members, as a convention sees it. */
export interface GridChange {
  /** Whether nothing is at and below a path of the target that was there. */
  isGone(path: string): boolean;
  /** Whether a node at a path was not there. */
  isNew(path: string): boolean;
  /** Path, in its hierarchy, of the node that the flow works on. */
  readonly root: string;
  /** Notes what is left out of a node's metadata, as nothing true can be said in its place. */
  note(node: ChangedNode, message: string, hint?: string): void;
}

/**
 * A convention of what metadata mean: where the missing value of an array stands, what describes an image, which part of
 * the world a raster shows. Pure. Both members give as many nodes as came, in the same order, with the same paths and kinds;
 * what the convention says nothing about is passed on as the same object. They see all nodes at one time, as what one
 * means may depend on its parent or its siblings.
 */
export interface Convention {
  readonly name: string;
  /** Names of attributes by which a node says something of arrays beside it or below, or has a node say it of it. */
  readonly ofOthers?: RegExp;
  /** The nodes as readers of the convention expect them in another format; absent: as they are. */
  convert?(nodes: readonly ConventionNode[], change: FormatChange): readonly ConventionNode[];
  /** The nodes with metadata that are true of another grid, or leave out what is not; absent: as they are. */
  follow?(nodes: readonly ChangedNode[], change: GridChange): readonly ChangedNode[];
}

/** A node with other attributes; the same object where they are the same. */
export function withAttributes<T extends ChangedNode>(node: T, attributes: NodeMetadata["attributes"]): T {
  if (attributes === node.metadata.attributes) return node;
  return { ...node, metadata: { ...node.metadata, attributes } };
}

export function isArray(node: ChangedNode): node is ChangedArray {
  return node.metadata.kind === "array";
}
