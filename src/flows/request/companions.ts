import type { ZarrArray, ZarrNode } from "../../hierarchy/node.ts";
import { referencesOf } from "../../meta/conventions/cf/references.ts";
import { joinKey } from "../../meta/join-key.ts";
import type { Awaitable } from "../../util/awaitable.ts";
import { ancestorPaths, isAtOrBelow } from "../../util/node-path.ts";
import { coordinatesOf, type NamedArrays } from "./coordinates.ts";

/** The nodes that names are looked up in. */
export interface NamedNodes {
  /** Path of the topmost group to search. */
  readonly root: string;
  /** Returns the node at a path; undefined if it does not exist or may not be taken. */
  find(path: string): Awaitable<ZarrNode | undefined>;
}

/**
 * Finds the arrays that describe others: coordinates of their dimensions, coordinates that their groups state for
 * all arrays with these dimensions, and arrays named by CF attributes. The latter includes those named by
 * companions, such as the bounds of a coordinate. A name is looked up in the group of the array that states it,
 * then in the groups above.
 */
export async function companionsOf(
  asked: readonly ZarrArray[],
  nodes: NamedNodes,
): Promise<readonly ZarrArray[]> {
  const known = new Set(asked.map(({ path }) => path));
  const companions: ZarrArray[] = [];
  const add = (found: readonly (ZarrArray | undefined)[]) => {
    for (const array of found) {
      if (array === undefined || known.has(array.path)) continue;
      known.add(array.path);
      companions.push(array);
    }
  };
  const arrays = arraysAmong(nodes);
  const referredTo = (array: ZarrArray) =>
    Promise.all(referencesOf(array.metadata.attributes).map((name) => arrays.find(name, array)));
  for (const array of asked) {
    const { ofDimensions, others } = await coordinatesOf(array, array.dimensionNames ?? [], arrays);
    add([...ofDimensions, ...others]);
  }
  for (const array of asked) add(await referredTo(array));
  for (const array of companions) add(await referredTo(array));
  return companions;
}

function arraysAmong(nodes: NamedNodes): NamedArrays {
  return {
    async find(name, array, isMeant = () => true) {
      for (const path of pathsOf(name, groupsOf(array, nodes), nodes.root)) {
        const found = await nodes.find(path);
        if (found?.kind === "array" && isMeant(found)) return found;
      }
      return undefined;
    },
    groupOf(array) {
      const [group = ""] = groupsOf(array, nodes);
      return nodes.find(group);
    },
    maxStated: Number.POSITIVE_INFINITY,
  };
}

/** Paths of the groups that contain an array, nearest first. */
function groupsOf({ path }: ZarrArray, { root }: NamedNodes): string[] {
  return ancestorPaths(path)
    .filter((group) => isAtOrBelow(group, root))
    .toReversed();
}

/** Maximum length of a name or path to look for. */
const MAX_NAME = 1024;

/**
 * Returns the paths that a name stated in a group may refer to. A bare name is looked for in each of the groups, a
 * relative path from the nearest group, an absolute one from the root. Empty if no node can be there.
 */
function pathsOf(name: string, groups: readonly string[], root: string): string[] {
  if (name.length > MAX_NAME || /^\.*$|[\\\0]/.test(name)) return [];
  if (!name.includes("/")) return groups.map((group) => joinKey(group, name));
  const from = name.startsWith("/") ? root : (groups[0] ?? root);
  const names = from === "" ? [] : from.split("/");
  const least = root === "" ? 0 : root.split("/").length;
  for (const part of name.split("/")) {
    if (part === "" || part === ".") continue;
    if (part !== "..") names.push(part);
    else if (names.length > least) names.pop();
    else return [];
  }
  return [names.join("/")];
}
