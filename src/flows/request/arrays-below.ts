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

/** An array, and how it is named in messages. */
export interface ArrayBelow {
  readonly array: ZarrArray;
  /** Below the node that was asked for; "" for that itself. */
  readonly path: string;
  /** Its own, or those of the axes of the image it is a level of. */
  readonly dimensionNames: DimensionNames | undefined;
}

export interface ArraysBelowOptions {
  /** Called with each node below that cannot be read, which is passed over; where this is absent, it fails. */
  readonly onBroken?:
    | ((broken: { readonly path: string; readonly error: ZarrflowError }) => void)
    | undefined;
  /** Fails at a node that is not known here too, as what is made of all arrays would lack it. */
  readonly needsAll?: boolean;
}

/**
 * The array itself, or all arrays below a group, with their paths below it; of use until the next is asked for. Nodes that
 * are not known here are passed over, each with a warning, unless `onBroken` takes them.
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
