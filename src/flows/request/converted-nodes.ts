import type { DialectName, NodeMetadata } from "../../meta/array-metadata.ts";
import { convertConventions } from "../../meta/conventions/convert-conventions.ts";
import type { NodesInFormat, SourceNode } from "../plan/hierarchy-request.ts";

/**
 * What the conventions of the target's format make of the metadata of a hierarchy.
 *
 * @param nodes all nodes of the hierarchy, its root first, also those that stay behind
 */
export function nodesInFormat(
  nodes: readonly Pick<SourceNode, "path" | "metadata" | "layout">[],
  to: DialectName,
): NodesInFormat {
  const [root] = nodes;
  if (root === undefined) return { metadata: new Map(), warnings: [] };
  const below = (path: string) => path.slice(root.path.length).replace(/^\//, "");
  const from = root.layout.dialect;
  const before = nodes.map(({ path, metadata }) => ({ path: below(path), metadata }));
  const converted = convertConventions(before, { from, to });
  const changed = nodes.flatMap(({ path, metadata }, i): [string, NodeMetadata][] => {
    const now = converted.nodes[i]?.metadata ?? metadata;
    return now === metadata ? [] : [[path, now]];
  });
  return {
    metadata: new Map(changed),
    warnings: converted.notes.map(({ path, ...note }) => ({ ...note, ...(path !== "" && { path }) })),
  };
}
