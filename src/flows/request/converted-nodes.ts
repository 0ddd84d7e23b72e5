import type { NodeMetadata, ZarrFormat } from "../../meta/array-metadata.ts";
import { convertConventions } from "../../meta/conventions/convert-conventions.ts";
import { withAxes } from "../../meta/dimension-names.ts";
import { belowPath } from "../../util/node-path.ts";
import type { NodesInFormat, SourceNode } from "../plan/hierarchy-request.ts";

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
    warnings: converted.notes.map(({ path, ...note }) => ({ ...note, ...(path !== "" && { path }) })),
  };
}
