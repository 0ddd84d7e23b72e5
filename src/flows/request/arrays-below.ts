import type { ZarrArray } from "../../hierarchy/node.ts";
import { walk } from "../../hierarchy/open/walk.ts";
import { belowPath } from "../../util/node-path.ts";
import type { ReadEventOptions } from "../events.ts";
import { type DimensionNames, dimensionNaming } from "./axes-of.ts";
import { readableArray } from "./chunk-separators.ts";
import { type FlowSource, openSource } from "./open-source.ts";
import type { ReadOptions } from "./read-options.ts";

/** An array, and how it is named in messages. */
export interface ArrayBelow {
  readonly array: ZarrArray;
  /** Below the node that was asked for; "" for that itself. */
  readonly path: string;
  /** Its own, or those of the axes of the image it is a level of. */
  readonly dimensionNames: DimensionNames | undefined;
}

/** The array itself, or all arrays below a group, with their paths below it; of use until the next is asked for. */
export async function* arraysBelow(
  source: FlowSource,
  options: ReadOptions & ReadEventOptions,
): AsyncGenerator<ArrayBelow> {
  const { signal } = options;
  const { root, close } = await openSource(source, options);
  try {
    const namesOf = await dimensionNaming(root, signal);
    const described = async (array: ZarrArray) => ({
      array: await readableArray(array, root, options),
      path: belowPath(root.path, array.path),
      dimensionNames: namesOf(array),
    });
    if (root.kind === "array") yield await described(root);
    else {
      namesOf(root);
      for await (const node of walk(root, { signal })) {
        if (node.kind === "array") yield await described(node);
        else namesOf(node);
      }
    }
  } finally {
    await close();
  }
}
