import type { ArrayMetadata } from "../../array-metadata.ts";
import { type ChangedArray, type ChangedNode, isArray } from "../convention.ts";
import { FULL_TURN } from "./numbers.ts";

/** What becomes of one dimension of an array. */
export interface AxisChange {
  /** As those of `ItemPlacing`. */
  readonly start: number;
  readonly step: number;
  /** Its length before and after, in items. */
  readonly before: number;
  readonly after: number;
  /** Turns of the globe by which places differ from where they were, in degrees. */
  readonly degrees: number;
}

/** What becomes of the two dimensions of a raster. */
export interface RasterChange {
  readonly y: AxisChange;
  readonly x: AxisChange;
}

/** `differs`: several rasters become different parts; undefined: there is none, or it stays as it is. */
export type SharedChange = RasterChange | "differs" | undefined;

const Y_NAMES = /^(?:y|lat|latitude|northing|rlat|grid_latitude|projection_y_coordinate|row|rows)\d*$/i;
const X_NAMES =
  /^(?:x|lon|long|longitude|easting|rlon|grid_longitude|projection_x_coordinate|col|cols|column|columns)\d*$/i;

/**
 * What becomes of rasters that one document describes.
 *
 * @param named dimensions of y and x, where the document names them
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

/** Numbers of the dimensions of y and x: as they are named, by usual names, or else the last two. */
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

/** Whether each item along a dimension is where it was. */
export function isSameAxis({ start, step, before, after, degrees }: AxisChange): boolean {
  return start === 0 && step === 1 && before === after && degrees === 0;
}

function isSame({ y, x }: RasterChange): boolean {
  return isSameAxis(y) && isSameAxis(x);
}

/** Whether the outer edges of the cells along a dimension are where they were. */
export function keepsExtent({ start, step, before, after, degrees }: AxisChange): boolean {
  return start + 0.5 - step / 2 === 0 && after * step === before && degrees === 0;
}

/**
 * The arrays that attributes of a group describe: those in it, or in groups below where it has none itself. What a pyramid
 * made of the group's own arrays in groups below is described by these.
 */
export function arraysDescribedBy(group: ChangedNode, nodes: readonly ChangedNode[]): ChangedArray[] {
  const below = nodes.filter(isArray).filter(({ path }) => parentIs(path, group.path, true));
  const own = below.filter(({ path }) => parentIs(path, group.path));
  if (own.length > 0) return own;
  return below.filter(({ from }) => !parentIs(from.path, group.from.path));
}

/** Whether a node is a child of a group, or at any depth below it. */
export function parentIs(path: string, group: string, atAnyDepth = false): boolean {
  if (path === "" || !(group === "" || path.startsWith(`${group}/`))) return false;
  return atAnyDepth || !path.slice(group === "" ? 0 : group.length + 1).includes("/");
}
