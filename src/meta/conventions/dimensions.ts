import type { JsonObject } from "../../util/json-value.ts";
import { folderOf, joinKey } from "../../util/node-path.ts";
import type { ArrayMetadata } from "../array-metadata.ts";
import { type ChangedArray, type ChangedNode, isArray } from "./convention.ts";
import { arraysDescribedBy, axisChange, isSameAxis, parentIs } from "./geo/raster-change.ts";
import { multiscalesOf } from "./ome/attributes.ts";

export type DimensionKind = "x" | "y" | "vertical" | "time" | "other";

/** A dimension of a group's arrays whose grid has changed. */
export interface DimensionChange {
  readonly name: string;
  readonly kind: DimensionKind;
  /** True if it covers another part of space or time than before. */
  readonly isCut: boolean;
  /** True if it begins with another item than before. */
  readonly isMoved: boolean;
  /** True if its spacing has changed. */
  readonly isCoarser: boolean;
}

const NAMES: readonly (readonly [kind: DimensionKind, names: RegExp])[] = [
  ["y", /^(?:y|lat|latitude|northing|rlat|grid_latitude|projection_y_coordinate)$/i],
  ["x", /^(?:x|lon|longitude|easting|rlon|grid_longitude|projection_x_coordinate)$/i],
  ["time", /^(?:t|time|valid_time|date|datetime)$/i],
  ["vertical", /^(?:z|lev|level|plev|height|depth|altitude|alt|pressure_level|isobaricInhPa)$/i],
];

const AXES: Readonly<Record<string, DimensionKind>> = { X: "x", Y: "y", Z: "vertical", T: "time" };

/** The dimensions with a changed grid in the arrays at and below a group, each once. */
export function dimensionChanges(group: ChangedNode, nodes: readonly ChangedNode[]): DimensionChange[] {
  const own = arraysDescribedBy(group, nodes);
  const deep = nodes
    .filter(isArray)
    .filter(({ path, from }) => parentIs(path, group.path, true) && !parentIs(from.path, group.from.path));
  const changes = new Map<string, DimensionChange>();
  for (const array of new Set([...own, ...deep])) {
    for (const [d, name] of (array.metadata.dimensionNames ?? []).entries()) {
      const axis = name === null ? undefined : axisChange(array, d);
      if (name === null || axis === undefined || isSameAxis(axis)) continue;
      const before = changes.get(name);
      changes.set(name, {
        name,
        kind: kindOf(name, coordinateOf(array, name, nodes)),
        isCut: before?.isCut === true || array.placing?.method === undefined,
        isMoved: before?.isMoved === true || axis.start !== 0,
        isCoarser: before?.isCoarser === true || axis.step !== 1,
      });
    }
  }
  return [...changes.values()];
}

function coordinateOf({ path }: ChangedArray, name: string, nodes: readonly ChangedNode[]) {
  const group = folderOf(path);
  return nodes.find((node) => node.path === joinKey(group, name))?.metadata.attributes;
}

/** The kind of a dimension, from its coordinate's attributes or its name. */
function kindOf(name: string, coordinate: JsonObject = {}): DimensionKind {
  const { axis, standard_name: standard, units, positive } = coordinate;
  const byName = (text: unknown) => NAMES.find(([, names]) => names.test(String(text)))?.[0];
  const byAxis = typeof axis === "string" ? AXES[axis] : undefined;
  const isTime = typeof units === "string" && /\bsince\b/.test(units);
  const byUnits = isTime
    ? "time"
    : /^degrees?_?(?:north|N)$/.test(String(units))
      ? "y"
      : /^degrees?_?(?:east|E)$/.test(String(units))
        ? "x"
        : undefined;
  const isVertical = positive === "up" || positive === "down";
  return byAxis ?? byName(standard) ?? byUnits ?? byName(name) ?? (isVertical ? "vertical" : "other");
}

/** The dimensions of an array, with its path. */
export interface DimensionedArray {
  readonly path: string;
  readonly shape: readonly number[];
  readonly dimensionNames?: readonly (string | null)[] | undefined;
}

/** A dimension with two lengths in one group. Readers such as xarray cannot open such a group as a dataset. */
export interface DimensionConflict {
  /** Path of the group. */
  readonly group: string;
  readonly name: string;
  readonly a: { readonly path: string; readonly length: number };
  readonly b: { readonly path: string; readonly length: number };
}

/**
 * Finds dimensions that have different lengths in arrays of one group, and reports the first two arrays for each.
 *
 * @param isImage whether a group is an image, whose levels differ by design
 */
export function dimensionConflicts(
  arrays: Iterable<DimensionedArray>,
  isImage: (group: string) => boolean,
): DimensionConflict[] {
  const firsts = new Map<string, { readonly path: string; readonly length: number }>();
  const found = new Map<string, DimensionConflict>();
  for (const { path, shape, dimensionNames = [] } of arrays) {
    const group = folderOf(path);
    if (path === "" || isImage(group)) continue;
    for (const [d, name] of dimensionNames.entries()) {
      const length = shape[d];
      if (name === null || length === undefined) continue;
      const id = JSON.stringify([group, name]);
      const first = firsts.get(id) ?? { path, length };
      firsts.set(id, first);
      if (first.length !== length && !found.has(id))
        found.set(id, { group, name, a: first, b: { path, length } });
    }
  }
  return [...found.values()];
}

/** True if the attributes describe an image or a geographic dataset in several resolutions. */
export function areOfImage(attributes: JsonObject): boolean {
  return multiscalesOf(attributes).length > 0 || "multiscales" in attributes;
}

/** Returns the dimensions of an array from its metadata. */
export function dimensionsOf(path: string, { shape, dimensionNames }: ArrayMetadata): DimensionedArray {
  return { path, shape, dimensionNames };
}
