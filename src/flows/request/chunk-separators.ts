import { withChunkSeparator } from "../../hierarchy/chunk-separator.ts";
import type { ZarrNode } from "../../hierarchy/node.ts";
import { forEachConcurrent } from "../../streams/for-each-concurrent.ts";
import type { NodeWarning } from "../plan/plan.ts";

/** Nodes with the separators that the chunk keys of their arrays have, looked for where documents state none. */
export async function withChunkSeparators(
  nodes: readonly ZarrNode[],
  { io, signal }: { readonly io: number; readonly signal?: AbortSignal | undefined },
): Promise<ZarrNode[]> {
  const found = [...nodes];
  const lookAt = async (i: number, context: { readonly signal: AbortSignal }) => {
    const node = nodes[i];
    if (node?.kind === "array") found[i] = await withChunkSeparator(node, context);
  };
  await forEachConcurrent(nodes.keys(), lookAt, { concurrency: io, signal });
  return found;
}

/** Warnings of arrays whose separator had to be looked for, by their paths below `root`. */
export function separatorWarnings(nodes: readonly ZarrNode[], root: ZarrNode): NodeWarning[] {
  return nodes.flatMap((node) => {
    const isFound = node.reading.v2?.separator === "/" && root.reading.v2 === undefined;
    const finding = isFound && node.findings.find(({ pointer }) => pointer === "/dimension_separator");
    if (!finding) return [];
    const path = node.path.slice(root.path.length).replace(/^\//, "");
    return [
      {
        message: finding.message,
        ...(path !== "" && { path }),
        hint: "The target states its separator. `--v2-separator /` says so of the source.",
      },
    ];
  });
}
