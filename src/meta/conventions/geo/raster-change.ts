import { FULL_TURN } from "../../../util/numbers.ts";
import type { ArrayMetadata } from "../../array-metadata.ts";
import { type ChangedArray, type ChangedNode, isArray } from "../convention.ts";

/** The change of one dimension of an array. */
export interface AxisChange {
  /** As in `ItemPlacing`. */
  readonly start: number;
  readonly step: number;
  /** Its length before and after, in items. */
  readonly before: number;
  readonly after: number;
  /** Difference between new and old longitudes in degrees, a multiple of a full turn. */
  readonly degrees: number;
}

/** The change of the two dimensions of a raster. */
export interface RasterChange {
  readonly y: AxisChange;
  readonly x: AxisChange;
}

/** `differs`: several rasters change differently; undefined: there is no raster, or it does not change. */
export type SharedChange = RasterChange | "differs" | undefined;

const Y_NAMES = /^(?:y|lat|latitude|northing|rlat|grid_latitude|projection_y_coordinate|row|rows)\d*$/i;
const X_NAMES =
  /^(?:x|lon|long|longitude|easting|rlon|grid_longitude|projection_x_coordinate|col|cols|column|columns)\d*$/i;

/**
 * The common change of the rasters that one document describes.
 *
 * @param named dimensions of y and x, if the document names them
 */
export function sharedChange(
  arrays: readonly ChangedArray[],
  named?: readonly [y: string, x: string],
): SharedChange {
  const all = arrays.flatMap((array) => rasterOf(array, named) ?? []);
  const [first] = all;
  if (first === undefined || all.every(isSame)) return undefined;
  const text = JSON.stringify(first);
  return all.every((one) => JSON.stringify(one) === text) ? first : "differs";
}

function rasterOf(
  array: ChangedArray,
  named: readonly [y: string, x: string] | undefined,
): RasterChange | undefined {
  const axes = rasterAxes(array.metadata, named);
  if (axes === undefined) return undefined;
  const [y, x] = axes.map((d) => axisChange(array, d));
  return y && x && { y, x };
}

/** Indices of the y and x dimensions: the named ones, those with usual names, or the last two. */
export function rasterAxes(
  { dimensionNames = [], shape }: ArrayMetadata,
  named?: readonly [y: string, x: string],
): [y: number, x: number] | undefined {
  if (shape.length < 2) return undefined;
  if (named) {
    const [y, x] = named.map((name) => dimensionNames.indexOf(name));
    if (y !== undefined && x !== undefined && y >= 0 && x >= 0) return [y, x];
    if (dimensionNames.length > 0) return undefined;
  }
  const find = (names: RegExp) => dimensionNames.findIndex((name) => name !== null && names.test(name));
  const [y, x] = [find(Y_NAMES), find(X_NAMES)];
  return y >= 0 && x >= 0 ? [y, x] : [shape.length - 2, shape.length - 1];
}

export function axisChange({ from, metadata, placing }: ChangedArray, d: number): AxisChange | undefined {
  const before = from.metadata.kind === "array" ? from.metadata.shape[d] : undefined;
  const after = metadata.shape[d];
  if (before === undefined || after === undefined) return undefined;
  const degrees = (placing?.turns?.[d] ?? 0) * FULL_TURN;
  return { start: placing?.start[d] ?? 0, step: placing?.step[d] ?? 1, before, after, degrees };
}

/** True if all items along a dimension stay in place. */
export function isSameAxis({ start, step, before, after, degrees }: AxisChange): boolean {
  return start === 0 && step === 1 && before === after && degrees === 0;
}

function isSame({ y, x }: RasterChange): boolean {
  return isSameAxis(y) && isSameAxis(x);
}

/** True if the outer edges of the cells along a dimension stay in place. */
export function keepsExtent({ start, step, before, after, degrees }: AxisChange): boolean {
  return start + 0.5 - step / 2 === 0 && after * step === before && degrees === 0;
}

/**
 * The arrays that a group's attributes describe: those in the group, or if it has none, those in groups below.
 * Excludes the arrays that a pyramid made from the group's own arrays, because their own groups describe these.
 */
export function arraysDescribedBy(group: ChangedNode, nodes: readonly ChangedNode[]): ChangedArray[] {
  const below = nodes.filter(isArray).filter(({ path }) => parentIs(path, group.path, true));
  const own = below.filter(({ path }) => parentIs(path, group.path));
  if (own.length > 0) return own;
  return below.filter(({ from }) => !parentIs(from.path, group.from.path));
}

/** True if a node is a child of a group, or with `atAnyDepth` a descendant. */
export function parentIs(path: string, group: string, atAnyDepth = false): boolean {
  if (path === "" || !(group === "" || path.startsWith(`${group}/`))) return false;
  return atAnyDepth || !path.slice(group === "" ? 0 : group.length + 1).includes("/");
}
