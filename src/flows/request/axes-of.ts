import type { ZarrArray, ZarrGroup, ZarrNode } from "../../hierarchy/node.ts";
import { axesFromAbove } from "../../hierarchy/open/axes-from-above.ts";
import { axesByArray } from "../../meta/conventions/ome/multiscales.ts";
import { type Axes, withAxes } from "../../meta/dimension-names.ts";
import type { SourceNode } from "../plan/hierarchy-request.ts";
import type { Changes } from "./changes.ts";

/** Finds the dimension names that images give to their levels, if any option refers to dimensions by name. */
export async function axesOf(
  root: ZarrArray | ZarrGroup,
  nodes: readonly Pick<SourceNode, "path" | "metadata">[],
  { chunks, shards, slice, signal }: Changes & { readonly signal?: AbortSignal | undefined },
): Promise<Axes> {
  if (![chunks, shards, slice].some(asksByName)) return new Map();
  if (root.kind === "group") return axesByArray(nodes);
  const axes = await axesFromAbove(root, signal);
  return new Map(axes && [[root.path, axes]]);
}

function asksByName(option: Changes["chunks"] | Changes["slice"]): boolean {
  const isObject = typeof option === "object" && !Array.isArray(option);
  return isObject || [option].flat().some((one) => typeof one === "string" && one.includes("="));
}

export type DimensionNames = readonly (string | null)[];

/**
 * Returns a function that finds the dimension names of a node: those of the array itself, or of the image that it
 * is a level of. Call it with parents before their children.
 */
export async function dimensionNaming(
  root: ZarrNode,
  signal: AbortSignal | undefined,
): Promise<(node: ZarrNode) => DimensionNames | undefined> {
  const above = root.kind === "array" ? await axesFromAbove(root, signal) : undefined;
  const axes = new Map<string, readonly string[]>(above && [[root.path, above]]);
  return (node) => {
    if (node.kind === "array") return withAxes(node.metadata, axes.get(node.path)).dimensionNames;
    for (const [path, names] of axesByArray([node])) if (!axes.has(path)) axes.set(path, names);
    return undefined;
  };
}
