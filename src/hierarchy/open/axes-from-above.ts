import { axesByArray } from "../../meta/conventions/ome/multiscales.ts";
import type { ZarrArray } from "../node.ts";
import { type Ancestor, ancestorsOf, isUnreadableAbove } from "./ancestors-of.ts";
import { openNode } from "./open-node.ts";

/** Those of open arrays, each looked for once. */
const looked = new WeakMap<ZarrArray, Promise<readonly string[] | undefined>>();

/** The most groups above an array that are looked at: of a path that the metadata of an image give to a level. */
const MAX_LEVELS = 3;

/**
 * Names of the axes of the image that an array is a level of, as a group above it states them, beyond the root of the
 * store too. Undefined for an array that names its dimensions itself, and where no group says anything.
 */
export function axesFromAbove(
  array: ZarrArray,
  signal?: AbortSignal,
): Promise<readonly string[] | undefined> {
  const known = looked.get(array);
  if (known) return known;
  const found = lookAbove(array, signal);
  looked.set(array, found);
  found.catch(() => looked.delete(array));
  return found;
}

async function lookAbove(
  { store, spec, path, layout, dimensionNames }: ZarrArray,
  signal: AbortSignal | undefined,
): Promise<readonly string[] | undefined> {
  const { zarrFormat } = layout;
  const isApart = layout.hierarchy.sharedKeys.length > 0;
  if (isApart || dimensionNames?.some((name) => name !== null)) return undefined;
  const groups: { readonly above: Ancestor; readonly opened: ReturnType<typeof openNode> }[] = [];
  try {
    for await (const above of ancestorsOf(store, spec, path)) {
      if (above.path === above.nodePath) continue;
      if (groups.length === MAX_LEVELS) break;
      const opened = openNode(above.store, above.path, { spec: above.spec, zarrFormat, signal });
      opened.catch(() => {}); // it counts when those below it say nothing
      groups.push({ above, opened });
    }
    for (const { above, opened } of groups) {
      const group = await opened;
      const axes = group && axesByArray([group]).get(above.nodePath);
      if (axes) return axes;
    }
  } catch (error) {
    if (!isUnreadableAbove(error)) throw error;
  } finally {
    await Promise.allSettled(groups.map(({ opened }) => opened));
  }
  return undefined;
}
