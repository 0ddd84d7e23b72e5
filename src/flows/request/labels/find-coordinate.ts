import { withChunkSeparator } from "../../../hierarchy/chunk-separator.ts";
import type { ZarrArray, ZarrNode } from "../../../hierarchy/node.ts";
import { findNode } from "../../../hierarchy/open/above-on-use.ts";
import { ancestorsOf, isUnreadableAbove, openNode } from "../../../hierarchy/open/open-node.ts";
import { describeDataType } from "../../../meta/data-type-name.ts";
import { isZarrflowError, ZarrflowError } from "../../../util/errors.ts";
import { isAtOrBelow, joinKey } from "../../../util/node-path.ts";
import { isCoordinate, type NamedArrays } from "../group-arrays.ts";
import { Coordinate, type CoordinateOptions, labelScaleOf } from "./coordinate.ts";

/** An array, and optionally the open nodes around it. */
export interface LabeledArray {
  readonly array: ZarrArray;
  /** A group that was opened with everything below it, and its nodes by path. */
  readonly within?: {
    readonly path: string;
    readonly nodes: ReadonlyMap<string, ZarrNode>;
    /** Paths that were left out, with everything below them, and were not opened. */
    readonly leftOut?: readonly string[];
  };
}

/**
 * Finds the array with the labels of a dimension: 1-d, named like the dimension, in the array's own group or the
 * nearest group above. Undefined if there is none.
 */
export function findCoordinate(
  place: LabeledArray,
  dimension: string,
  signal: AbortSignal | undefined,
): Promise<ZarrArray | undefined> {
  return findNamed(place, dimension, { isMeant: (node) => isCoordinate(node, dimension), signal });
}

interface FindNamedOptions {
  /** Accepts or rejects an array of the right name; accepts any by default. */
  readonly isMeant?: (array: ZarrArray) => boolean;
  readonly signal?: AbortSignal | undefined;
}

/**
 * Finds the array that a name refers to: in the array's own group or the nearest group above. Undefined if there is
 * none.
 */
async function findNamed(
  { array, within }: LabeledArray,
  name: string,
  { isMeant = () => true, signal }: FindNamedOptions,
): Promise<ZarrArray | undefined> {
  const { zarrFormat } = array.layout;
  try {
    for await (const { store, spec, path, nodePath, isOutside } of ancestorsOf(
      array.store,
      array.spec,
      array.path,
    )) {
      if (path === nodePath) continue;
      const at = joinKey(path, name);
      if (at === nodePath && isMeant(array)) return array;
      const isOpen =
        within !== undefined &&
        !isOutside &&
        isAtOrBelow(path, within.path) &&
        !within.leftOut?.some((left) => isAtOrBelow(at, left));
      const options = { zarrFormat, signal };
      const node = isOpen ? within.nodes.get(at) : await findNode(store, spec, at, options);
      if (node?.kind === "array" && isMeant(node)) return node;
      if (isOutside && (await openNode(store, "", { spec, ...options }))?.kind !== "group") return undefined;
    }
  } catch (error) {
    if (!isUnreadableAbove(error)) throw error;
  }
  return undefined;
}

/** Maximum number of coordinates that one array may name, as each of them is opened. */
const MAX_STATED = 100;

/** Resolves names in the groups around arrays, also beyond the root of their store. */
export function arraysAround(signal: AbortSignal | undefined): NamedArrays {
  return {
    find: (name, array, isMeant) => findNamed({ array }, name, { ...(isMeant && { isMeant }), signal }),
    groupOf: (array) => findGroup(array, signal),
    maxStated: MAX_STATED,
  };
}

/** Opens the group that contains an array, also beyond the root of its store; undefined if there is none. */
async function findGroup(
  { store, spec, path, layout }: ZarrArray,
  signal: AbortSignal | undefined,
): Promise<ZarrNode | undefined> {
  try {
    for await (const above of ancestorsOf(store, spec, path)) {
      if (above.path === above.nodePath) continue;
      return await openNode(above.store, above.path, {
        spec: above.spec,
        zarrFormat: layout.zarrFormat,
        signal,
      });
    }
  } catch (error) {
    if (!isUnreadableAbove(error)) throw error;
  }
  return undefined;
}

/**
 * Opens a coordinate array. Its values are read when they are needed.
 *
 * @throws `unsupported-operation` for a data type, units or a calendar without labels.
 */
export async function openCoordinate(found: ZarrArray, options: CoordinateOptions): Promise<Coordinate> {
  try {
    const scale = labelScaleOf(found.metadata.dataType, found.attributes);
    if (scale === undefined) {
      const type = describeDataType(found.metadata.dataType);
      throw new ZarrflowError("unsupported-operation", `labels cannot be looked up in values of ${type}`, {
        hint: "Use indices.",
      });
    }
    const { signal } = options;
    return new Coordinate((await withChunkSeparator(found, { signal })).innerChunks(), scale, options);
  } catch (error) {
    throw isZarrflowError(error) ? error.addContext({ path: found.path }) : error;
  }
}
