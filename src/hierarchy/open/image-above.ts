import {
  axesByArray,
  type Level,
  type Multiscale,
  multiscalesOf,
} from "../../meta/conventions/ome/multiscales.ts";
import { joinKey } from "../../util/node-path.ts";
import type { ZarrArray, ZarrGroup } from "../node.ts";
import { type Ancestor, ancestorsOf, isUnreadableAbove } from "./ancestors-of.ts";
import { openNode } from "./open-node.ts";

/** Maximum number of groups above an array that are read: the depth of a level's path in an image. */
const MAX_LEVELS = 3;

/** Returns the axis names of the image that an array is a level of; undefined if no group above states any. */
export async function axesOfImageAbove(array: ZarrArray): Promise<readonly string[] | undefined> {
  for await (const { group, path } of groupsAbove(array)) {
    const axes = axesByArray([group]).get(path);
    if (axes) return axes;
  }
  return undefined;
}

/** An image, with the array that is one of its levels. */
export interface LevelOfImage {
  readonly group: ZarrGroup;
  readonly image: Multiscale;
  readonly level: Level;
}

/**
 * Returns the image that an array is a level of, possibly above the root of the store; undefined if no group above
 * names it.
 */
export async function imageAbove(array: ZarrArray, signal?: AbortSignal): Promise<LevelOfImage | undefined> {
  for await (const { group, path } of groupsAbove(array, signal)) {
    for (const image of multiscalesOf(group.metadata.attributes)) {
      const level = image.levels.find((one) => joinKey(group.path, one.path) === path);
      if (level) return { group, image, level };
    }
  }
  return undefined;
}

/**
 * Iterates over the groups above an array, nearest first, with the array's path in their store. Stops at unreadable
 * ones.
 */
async function* groupsAbove(
  { store, spec, path, layout: { zarrFormat, hierarchy } }: ZarrArray,
  signal?: AbortSignal,
): AsyncGenerator<{ readonly group: ZarrGroup; readonly path: string }> {
  const isApart = hierarchy.sharedKeys.length > 0;
  if (isApart) return;
  const groups: { readonly above: Ancestor; readonly opened: ReturnType<typeof openNode> }[] = [];
  try {
    for await (const above of ancestorsOf(store, spec, path)) {
      if (above.path === above.nodePath) continue;
      if (groups.length === MAX_LEVELS) break;
      const opened = openNode(above.store, above.path, { spec: above.spec, zarrFormat, signal });
      opened.catch(() => {}); // it matters only if the groups below it say nothing
      groups.push({ above, opened });
    }
    for (const { above, opened } of groups) {
      const group = await opened;
      if (group?.kind === "group") yield { group, path: above.nodePath };
    }
  } catch (error) {
    if (!isUnreadableAbove(error)) throw error;
  } finally {
    await Promise.allSettled(groups.map(({ opened }) => opened));
  }
}
