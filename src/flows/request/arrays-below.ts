import type { ZarrArray } from "../../hierarchy/node.ts";
import type { OpenSource } from "../../hierarchy/open/open.ts";
import { isNotKnown } from "../../hierarchy/open/open-node.ts";
import { walkPastBroken } from "../../hierarchy/open/walk.ts";
import type { ReadOptions } from "../../hierarchy/read-options.ts";
import type { ZarrflowError } from "../../util/errors.ts";
import { belowPath } from "../../util/node-path.ts";
import type { ReadEventOptions } from "../events.ts";
import { type DimensionNames, dimensionNaming } from "./axes-of.ts";
import { readableArray } from "./chunk-separators.ts";
import { skippedWarning, undecodable } from "./not-known.ts";
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
