import type { ZarrArray, ZarrGroup, ZarrNode } from "../../hierarchy/node.ts";
import { findNode } from "../../hierarchy/open/above-on-use.ts";
import { type Ancestor, ancestorsOf, isUnreadableAbove, openNode } from "../../hierarchy/open/open-node.ts";
import { type BrokenNode, brokenNode } from "../../hierarchy/open/walk.ts";
import type { PaceOptions } from "../../hierarchy/read-options.ts";
import type { FormatOptions } from "../../meta/formats.ts";
import { type KeyFilter, pathFilter } from "../../plan/key-filter.ts";
import { childSpec } from "../../stores/store-spec.ts";
import { isZarrflowError, ZarrflowError } from "../../util/errors.ts";
import { ancestorPaths, belowPath, isAtOrBelow } from "../../util/node-path.ts";
import { companionsOf } from "./group-arrays.ts";
import { withPace } from "./store-settings.ts";

/** A sliced array and the arrays that describe it, as members of the nearest group that contains all of them. */
export interface SlicedArray {
  readonly array: ZarrArray;
  /** This group; the array itself if no other array describes it. */
  readonly root: ZarrArray | ZarrGroup;
  /** The root, then the groups and arrays below it, parents first. Contains only nodes that the array needs. */
  readonly nodes: readonly ZarrNode[];
  /** Nodes that may describe the array, but cannot be read. */
  readonly broken: readonly BrokenNode[];
  /** Places of the arrays. A target may be next to them, in the same group. */
  readonly places: readonly Place[];
}

type Place = Pick<ZarrNode, "store" | "spec" | "path">;

export interface SlicedArrayOptions extends FormatOptions, PaceOptions, Pick<KeyFilter, "exclude"> {
  readonly signal?: AbortSignal | undefined;
}

/** Maximum number of nodes to look up, as attributes are untrusted. */
const MAX_LOOKED_UP = 10_000;

/**
 * Finds the arrays that describe an array, in its group and the groups above, also beyond the root of its store.
 * Does not list groups.
 *
 * @throws `resource-limit` for arrays that name too many others.
 */
export async function slicedArray(
  array: ZarrArray,
  { exclude, signal, maxMetadata, ...pace }: SlicedArrayOptions,
): Promise<SlicedArray> {
  const alone = { array, root: array, nodes: [array], broken: [], places: [array] };
  const reading = { ...array.reading, ...(maxMetadata !== undefined && { maxMetadata }), signal };
  const outermost = await outermostGroup(array, reading);
  if (outermost === undefined) return alone;
  const { path: top, nodePath } = outermost;
  const { node, broken } = nodesAround(array, outermost, { reading, pace });
  const moved = await node(nodePath);
  if (moved?.kind !== "array") return alone;
  const filter = pathFilter({ ...(exclude && { exclude }) });
  const isInArray = async (path: string) => {
    for (const above of ancestorPaths(path))
      if (isAtOrBelow(above, top) && (await node(above))?.kind === "array") return true;
    return false;
  };
  const find = async (path: string) =>
    filter?.isExcluded(belowPath(top, path)) || (await isInArray(path)) ? undefined : node(path);
  const companions = await companionsOf([moved], { root: top, find });
  if (companions.length === 0) return { ...alone, broken };
  const arrays = [moved, ...companions];
  const nearest = commonGroup(arrays.map(({ path }) => path));
  const above = new Set(arrays.flatMap(({ path }) => ancestorPaths(path)));
  const groups = await Promise.all([...above].filter((path) => isAtOrBelow(path, nearest)).map(node));
  const nodes = [...groups, ...arrays].filter((one) => one !== undefined).toSorted(byDepth);
  const [root] = nodes;
  return root?.path === nearest
    ? { array: moved, root, nodes, broken, places: arrays.map(placeOf) }
    : { ...alone, broken };
}

/** Returns the place of an array: its own folder, if its format and store have one. */
function placeOf({ store, spec, path, layout }: ZarrArray): Place {
  const own = layout.hierarchy.sharedKeys.length === 0 ? childSpec(spec, path) : undefined;
  return own ? { store, spec: own, path: "" } : { store, spec, path };
}

interface Reading extends FormatOptions {
  readonly signal: AbortSignal | undefined;
}

/**
 * Opens nodes around an array in the same way as the array: from consolidated metadata or from their own documents.
 */
function opener({ consolidated, layout: { zarrFormat } }: ZarrArray, reading: Reading) {
  const options = { ...reading, zarrFormat };
  return (store: Ancestor["store"], spec: Ancestor["spec"], path: string) =>
    consolidated ? findNode(store, spec, path, options) : openNode(store, path, { ...options, spec });
}

/** Finds the outermost group in the unbroken chain of groups above an array. */
async function outermostGroup(array: ZarrArray, reading: Reading): Promise<Ancestor | undefined> {
  const open = opener(array, reading);
  let outermost: Ancestor | undefined;
  try {
    for await (const above of ancestorsOf(array.store, array.spec, array.path)) {
      if (above.path === above.nodePath) continue;
      if ((await open(above.store, above.spec, above.path))?.kind !== "group") break;
      outermost = above;
    }
  } catch (error) {
    if (!isUnreadableAbove(error)) throw error;
  }
  return outermost;
}

/** Opens nodes of the array's hierarchy, each once, and collects those that cannot be read. */
function nodesAround(
  array: ZarrArray,
  outermost: Ancestor,
  { reading, pace }: { readonly reading: Reading; readonly pace: PaceOptions },
) {
  const { spec, isOutside } = outermost;
  const store = isOutside ? withPace(outermost.store, pace, spec) : outermost.store;
  const open = opener(array, reading);
  const broken: BrokenNode[] = [];
  const read = async (path: string) => {
    try {
      return await open(store, spec, path);
    } catch (error) {
      const isNone = isZarrflowError(error, "invalid-node-name") || isZarrflowError(error, "not-found");
      if (!isNone) broken.push(brokenNode(path, error));
      return undefined;
    }
  };
  const known = new Map<string, Promise<ZarrNode | undefined>>();
  const node = (path: string) => {
    const opened = known.get(path) ?? read(path);
    known.set(path, opened);
    if (known.size > MAX_LOOKED_UP) throw tooMany(array);
    return opened;
  };
  return { node, broken };
}

/** Path of the nearest group that contains all arrays. */
function commonGroup(paths: readonly string[]): string {
  const [first = "", ...others] = paths;
  return ancestorPaths(first).findLast((group) => others.every((path) => isAtOrBelow(path, group))) ?? "";
}

function byDepth(a: ZarrNode, b: ZarrNode): number {
  const depth = ({ path }: ZarrNode) => (path === "" ? 0 : path.split("/").length);
  return depth(a) - depth(b) || (a.path < b.path ? -1 : 1);
}

function tooMany({ path }: ZarrArray): ZarrflowError {
  return new ZarrflowError("resource-limit", `the array refers to more than ${MAX_LOOKED_UP} others`, {
    path,
    hint: "Slice it alone, with --alone (in code companions: false).",
  });
}
