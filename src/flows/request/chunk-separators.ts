import { withChunkSeparator } from "../../hierarchy/chunk-separator.ts";
import type { ZarrArray, ZarrNode } from "../../hierarchy/node.ts";
import type { NodeWarning } from "../../plan/plan.ts";
import type { ReadEventOptions } from "../../run/events.ts";
import { forEachConcurrent } from "../../streams/for-each-concurrent.ts";
import { belowPath } from "../../util/node-path.ts";

/** Finds the chunk key separators of arrays whose documents do not state one. */
export async function withChunkSeparators(
  nodes: readonly ZarrNode[],
  { concurrency, signal }: { readonly concurrency: number; readonly signal?: AbortSignal | undefined },
): Promise<ZarrNode[]> {
  const found = [...nodes];
  const lookAt = async (i: number, context: { readonly signal: AbortSignal }) => {
    const node = nodes[i];
    if (node?.kind === "array") found[i] = await withChunkSeparator(node, context);
  };
  await forEachConcurrent(nodes.keys(), lookAt, { concurrency, signal });
  return found;
}

/**
 * Warnings about arrays whose separator was detected, and about arrays whose values may be misread, with paths
 * below `root`.
 */
export function readingWarnings(nodes: readonly ZarrNode[], root: ZarrNode): NodeWarning[] {
  return nodes.flatMap((node) => {
    const about = aboutNode(root, node);
    const doubts = valueWarnings(node, about);
    const isFound = node.reading.v2?.separator === "/" && root.reading.v2 === undefined;
    const finding = isFound && node.findings.find(({ pointer }) => pointer === POINTER);
    if (!finding) return doubts;
    const hint = "The target states its separator. Use `--v2-separator /` to give the source's.";
    return [{ message: finding.message, ...about, hint }, ...doubts];
  });
}

function valueWarnings({ findings }: ZarrNode, about: Pick<NodeWarning, "path">): NodeWarning[] {
  return findings.filter(({ kind }) => kind === "values").map(({ message }) => ({ message, ...about }));
}

/**
 * Finds the chunk key separator of an array before it is read. Emits a warning if the separator was detected, and
 * for each doubt about the array's values.
 */
export async function readableArray(
  array: ZarrArray,
  root: ZarrNode,
  { signal, onEvent }: ReadEventOptions & { readonly signal?: AbortSignal | undefined },
): Promise<ZarrArray> {
  const found = await withChunkSeparator(array, { signal });
  const finding = found !== array && found.findings.find(({ pointer }) => pointer === POINTER);
  if (finding) {
    const hint = "A copy states its separator. Use `--v2-separator /` to give this array's.";
    onEvent?.({ type: "warning", message: finding.message, ...aboutNode(root, array), hint });
  }
  for (const warning of valueWarnings(array, aboutNode(root, array)))
    onEvent?.({ type: "warning", ...warning });
  return found;
}

const POINTER = "/dimension_separator";

function aboutNode(root: ZarrNode, { path }: ZarrNode): { readonly path?: string } {
  const below = belowPath(root.path, path);
  return below === "" ? {} : { path: below };
}
