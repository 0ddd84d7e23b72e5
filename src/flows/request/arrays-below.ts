import type { ZarrArray, ZarrNode } from "../../hierarchy/node.ts";
import { axesFromAbove } from "../../hierarchy/open/above-on-use.ts";
import type { OpenSource } from "../../hierarchy/open/open.ts";
import { isNotKnown } from "../../hierarchy/open/open-node.ts";
import { walkPastBroken } from "../../hierarchy/open/walk.ts";
import type { ReadOptions } from "../../hierarchy/read-options.ts";
import { axesByArray } from "../../meta/conventions/ome/attributes.ts";
import { withAxes } from "../../meta/dimension-names.ts";
import type { ReadEventOptions } from "../../run/events.ts";
import type { ZarrflowError } from "../../util/errors.ts";
import { belowPath } from "../../util/node-path.ts";
import { readableArray, skippedWarning, undecodable } from "./node-findings.ts";
import { openSource } from "./open-source.ts";
import { noteAccess } from "./option-effects.ts";

/** An array and the names that messages use for it. */
export interface ArrayBelow {
  readonly array: ZarrArray;
  /** Path below the requested node; "" for that node itself. */
  readonly path: string;
  /** The array's own names, or the axes of the image that it is a level of. */
  readonly dimensionNames: DimensionNames | undefined;
}

export interface ArraysBelowOptions {
  /**
   * Called with each node that cannot be read; reading continues with the next one. Without this callback, such a
   * node is an error.
   */
  readonly onBroken?:
    | ((broken: { readonly path: string; readonly error: ZarrflowError }) => void)
    | undefined;
  /** Also fails at nodes that zarrflow does not support, instead of leaving them out of the result. */
  readonly needsAll?: boolean;
}

/**
 * Yields the array itself, or all arrays below a group, with their paths below it. Each array is valid until the
 * next is requested. Unsupported nodes are skipped with a warning, unless `onBroken` receives them.
 */
export async function* arraysBelow(
  source: OpenSource,
  options: ReadOptions & ReadEventOptions & ArraysBelowOptions,
): AsyncGenerator<ArrayBelow> {
  const { signal } = options;
  const { root, close } = await openSource(source, options);
  try {
    noteAccess(options, [root.spec]);
    const namesOf = await dimensionNaming(root, signal);
    const described = async (array: ZarrArray) => ({
      array: await readableArray(array, root, options),
      path: belowPath(root.path, array.path),
      dimensionNames: namesOf(array),
    });
    if (root.kind === "array") yield await described(root);
    else {
      namesOf(root);
      for await (const node of walkPastBroken(root, { signal })) {
        if (node.kind === "group") {
          namesOf(node);
          continue;
        }
        const error = node.kind === "array" ? await undecodable(node) : node.error;
        if (node.kind === "array" && error === undefined) yield await described(node);
        else if (error === undefined) continue;
        else if (options.onBroken) options.onBroken({ path: belowPath(root.path, node.path), error });
        else if (options.needsAll || !isNotKnown(error)) throw error.addContext({ path: node.path });
        else options.onEvent?.({ type: "warning", ...skippedWarning(root, { path: node.path, error }) });
      }
    }
  } finally {
    await close();
  }
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
