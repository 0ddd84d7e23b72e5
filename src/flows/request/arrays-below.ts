import { withChunkSeparator } from "../../hierarchy/chunk-separator.ts";
import type { ZarrArray } from "../../hierarchy/node.ts";
import { walk } from "../../hierarchy/open/walk.ts";
import { type FlowSource, openSource, type PlanOptions } from "./flow.ts";

/** The array itself, or all arrays below a group, with their paths below it; of use until the next is asked for. */
export async function* arraysBelow(
  source: FlowSource,
  options: PlanOptions,
): AsyncGenerator<{ array: ZarrArray; path: string }> {
  const { signal } = options;
  const { root, close } = await openSource(source, options);
  try {
    if (root.kind === "array") yield { array: await withChunkSeparator(root, { signal }), path: "" };
    else {
      for await (const node of walk(root, { signal })) {
        if (node.kind !== "array") continue;
        const array = await withChunkSeparator(node, { signal });
        yield { array, path: node.path.slice(root.path.length).replace(/^\//, "") };
      }
    }
  } finally {
    await close();
  }
}
