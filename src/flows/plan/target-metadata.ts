import type { NodeMetadata } from "../../meta/array-metadata.ts";
import type { FormatDefinition } from "../../meta/format.ts";
import { FORMAT_DEFAULTS } from "../../meta/formats.ts";
import type { Change, HierarchyPlanRequest, SourceNode } from "./hierarchy-request.ts";

/** A node as the target will have it. */
export interface TargetNode {
  readonly metadata: NodeMetadata;
  /** Absent if no change of the node was requested. */
  readonly change: Change | undefined;
  /** True if its documents differ from the source's for a reason other than the format. */
  readonly isChanged: boolean;
}

/** Computes the metadata of a node in the target. */
export function targetNode(
  node: SourceNode,
  { converted, change, zarrFormat }: Pick<HierarchyPlanRequest, "converted" | "change" | "zarrFormat">,
): TargetNode {
  const before = converted?.metadata.get(node.path) ?? node.metadata;
  const asked = before.kind === "array" ? change(node.path, before) : undefined;
  const isSame = asked === undefined && node.layout.zarrFormat === zarrFormat.name;
  return {
    metadata: isSame ? before : inFormat(asked?.metadata ?? before, node, zarrFormat),
    change: asked,
    isChanged: asked !== undefined || before !== node.metadata,
  };
}

/**
 * Adapts a changed node to the target's format. A converted array gets the format's usual chunk keys, unless a
 * convention requires others.
 */
function inFormat(
  metadata: NodeMetadata,
  { metadata: before, layout }: SourceNode,
  to: FormatDefinition,
): NodeMetadata {
  if (metadata.kind === "group" || before.kind === "group") return metadata;
  const hasOldKeys = layout.zarrFormat !== to.name && metadata.chunkKeyEncoding === before.chunkKeyEncoding;
  const keyed = hasOldKeys ? { ...metadata, chunkKeyEncoding: FORMAT_DEFAULTS[to.name].keys } : metadata;
  return to.adopt?.(keyed) ?? keyed;
}
