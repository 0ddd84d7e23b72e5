import type { NodeMetadata, ZarrFormat } from "../../meta/array-metadata.ts";
import type { ConventionNote, ItemPlacing } from "../../meta/conventions/convention.ts";
import { convertConventions, followConventions } from "../../meta/conventions/conventions.ts";
import { withAxes } from "../../meta/dimension-names.ts";
import type { NodeWarning } from "../../plan/plan.ts";
import type { NodesInFormat, SourceNode } from "../../plan/request.ts";
import { belowPath } from "../../util/node-path.ts";

/**
 * Converts the metadata of a hierarchy to the conventions of the target's format.
 *
 * @param nodes all nodes of the hierarchy, its root first, including those that are not copied
 * @param axes dimension names for a root without names: the level of an image that is not copied
 */
export function nodesInFormat(
  nodes: readonly Pick<SourceNode, "path" | "metadata" | "layout">[],
  to: ZarrFormat,
  axes?: readonly string[],
): NodesInFormat {
  const [root] = nodes;
  if (root === undefined) return { metadata: new Map(), warnings: [] };
  const below = (path: string) => belowPath(root.path, path);
  const from = root.layout.zarrFormat;
  const before = nodes.map(({ path, metadata }) => ({ path: below(path), metadata }));
  const converted = convertConventions(before, { from, to });
  const changed = nodes.flatMap(({ path, metadata }, i): [string, NodeMetadata][] => {
    const same = converted.nodes[i]?.metadata ?? metadata;
    const now = i === 0 && same.kind === "array" ? withAxes(same, axes) : same;
    return now === metadata ? [] : [[path, now]];
  });
  return {
    metadata: new Map(changed),
    warnings: warningsOf(converted.notes),
  };
}

function warningsOf(notes: readonly ConventionNote[]): NodeWarning[] {
  return notes.map(({ path, ...note }) => ({ ...note, ...(path !== "" && { path }) }));
}

/** A node whose grid may change, by its path in the source store. */
export interface RegriddedNode {
  readonly path: string;
  /** Metadata in the target's format, before and after the change. */
  readonly before: NodeMetadata;
  readonly metadata: NodeMetadata;
  readonly placing?: ItemPlacing;
}

/**
 * Updates attributes to match the new grids of their nodes, following the conventions.
 *
 * @param root path of the first node
 * @param isSmaller true if nodes of the source are not among them
 */
export function followedNodes(
  root: string,
  nodes: readonly RegriddedNode[],
  isSmaller: boolean,
): NodesInFormat {
  const changed = nodes.map(({ path, before, metadata, placing }) => {
    const below = belowPath(root, path);
    return { path: below, metadata, from: { path: below, metadata: before }, ...(placing && { placing }) };
  });
  const followed = followConventions(changed, { root, members: "all", isSmaller });
  const followedMetadata = nodes.flatMap(({ path, before, metadata }, i): [string, NodeMetadata][] => {
    const now = followed.nodes[i]?.metadata ?? metadata;
    return now === metadata ? [] : [[path, withTextsOf(before, now)]];
  });
  return { metadata: new Map(followedMetadata), warnings: warningsOf(followed.notes) };
}

/** Metadata with the attributes and format-specific members of another node. */
function withTextsOf<T extends NodeMetadata>(metadata: T, { attributes, extra }: NodeMetadata): T {
  return { ...metadata, attributes, ...(extra && { extra }) };
}
