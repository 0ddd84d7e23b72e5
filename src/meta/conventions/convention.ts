import type { NodeMetadata, ZarrFormat } from "../array-metadata.ts";

/** A node of a hierarchy whose format changes. */
export interface ConventionNode {
  /** Its path below the node that is converted; "" for that itself. */
  readonly path: string;
  readonly metadata: NodeMetadata;
}

/** What a conversion reports about a node that readers of the new format may take otherwise. */
export interface ConventionNote {
  /** Path of the node below the one that is converted. */
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

/**
 * A convention of how metadata are read that differs between formats: where the missing value of an array stands, or
 * what describes an image. Pure.
 */
export interface Convention {
  readonly name: string;
  /**
   * The nodes as readers of the convention expect them in the new format: as many as came, in the same order, with the
   * same paths and kinds. What the convention says nothing about is passed on as the same object. It sees all nodes at
   * one time, as what one means may depend on its parent or its siblings.
   */
  convert(nodes: readonly ConventionNode[], change: FormatChange): readonly ConventionNode[];
}
