import {
  axesByArray,
  type Level,
  type Multiscale,
  multiscalesOf,
} from "../../meta/conventions/ome/multiscales.ts";
import { joinKey } from "../../meta/join-key.ts";
import type { ZarrArray, ZarrGroup } from "../node.ts";
import { type Ancestor, ancestorsOf, isUnreadableAbove } from "./ancestors-of.ts";
import { openNode } from "./open-node.ts";

/** The most groups above an array that are looked at: of a path that the metadata of an image give to a level. */
const MAX_LEVELS = 3;

/** Names of the axes of the image that an array is a level of; undefined where no group above says so. */
export async function axesOfImageAbove(array: ZarrArray): Promise<readonly string[] | undefined> {
  for await (const { group, path } of groupsAbove(array)) {
    const axes = axesByArray([group]).get(path);
    if (axes) return axes;
  }
  return undefined;
}

/** An image, and the array that is one of its levels. */
export interface LevelOfImage {
  readonly group: ZarrGroup;
  readonly image: Multiscale;
  readonly level: Level;
}

/** The image that an array is a level of, beyond the root of the store too; undefined where no group above says so. */
export async function imageAbove(array: ZarrArray, signal?: AbortSignal): Promise<LevelOfImage | undefined> {
  for await (const { group, path } of groupsAbove(array, signal)) {
    for (const image of multiscalesOf(group.metadata.attributes)) {
      const level = image.levels.find((one) => joinKey(group.path, one.path) === path);
      if (level) return { group, image, level };
    }
  }
  return undefined;
}

/** The groups above an array, the nearest first, and the array's path in their store; none where they cannot be read. */
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
      opened.catch(() => {}); // it counts when those below it say nothing
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
