import type { NodeMetadata, ZarrFormat } from "../../meta/array-metadata.ts";
import type { ConventionNote, ItemPlacing } from "../../meta/conventions/convention.ts";
import { convertConventions, followConventions } from "../../meta/conventions/conventions.ts";
import { withAxes } from "../../meta/dimension-names.ts";
import { belowPath } from "../../util/node-path.ts";
import type { NodesInFormat, SourceNode } from "../plan/hierarchy-request.ts";
import type { NodeWarning } from "../plan/plan.ts";

/**
 * What the conventions of the target's format make of the metadata of a hierarchy.
 *
 * @param nodes all nodes of the hierarchy, its root first, also those that stay behind
 * @param axes names for the dimensions of a root that names none: a level of an image that stays behind
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

/** A node of a hierarchy, of which the grid of arrays may change; by its path in the source store. */
export interface RegriddedNode {
  readonly path: string;
  /** In the words of the target's format, and what is made of it. */
  readonly before: NodeMetadata;
  readonly metadata: NodeMetadata;
  readonly placing?: ItemPlacing;
}

/**
 * The metadata of nodes that are true of their new grids, with the grids that they had: these follow.
 *
 * @param root path of the first of them
 * @param isSmaller whether nodes of the source are not among them
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

/** Metadata with the attributes, and what only one format can hold, of others. */
function withTextsOf<T extends NodeMetadata>(metadata: T, { attributes, extra }: NodeMetadata): T {
  return { ...metadata, attributes, ...(extra && { extra }) };
}
