import type { NodeMetadata } from "../../meta/array-metadata.ts";
import type { FormatDefinition } from "../../meta/format.ts";
import { FORMAT_DEFAULTS } from "../../meta/formats.ts";
import type { Change, HierarchyPlanRequest, SourceNode } from "./hierarchy-request.ts";

/** What becomes of a node. */
export interface TargetNode {
  readonly metadata: NodeMetadata;
  /** Absent where nothing of it was asked to change. */
  readonly change: Change | undefined;
  /** Whether its documents differ from the source's for another reason than the format. */
  readonly isChanged: boolean;
}

/** The metadata of a node in the target. */
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
 * A node of which something changes, as the target's format stores it: in another format with its usual chunk keys,
 * unless a convention wants others.
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
