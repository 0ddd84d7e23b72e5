import {
  assertHolds,
  type Range,
  type ResolvedSlice,
  resolveSlice,
  type SliceOption,
  shiftOf,
  turnsOf,
} from "../../hierarchy/slice-option.ts";
import type { Selection } from "../../streams/selection.ts";
import { ZarrflowError } from "../../util/errors.ts";
import { lastName } from "../../util/node-path.ts";
import { type GroupArray, lengthsDiffer, type TakenWhole, withOneLength } from "./group-arrays.ts";
import { followingLevels, type ImageNode, type OtherRanges, selectionOfLevel } from "./image-slice.ts";

/**
 * The selection of each array that is cut, by path, and the nodes that are taken whole although they have a named
 * dimension.
 */
export interface GroupSelections {
  readonly selections: ReadonlyMap<string, Selection>;
  /** Full turns that the first selected longitude is shifted by, per dimension; by array path. */
  readonly turns: ReadonlyMap<string, readonly number[]>;
  readonly takenWhole: readonly TakenWhole[];
}

/**
 * Computes the selection of each array of a group. Every array that has any of the named dimensions is cut along
 * them, including coordinates and bounds; others have no entry. Levels of an image are cut like the first level, by
 * their scale. Arrays in other resolutions have their own ranges; without them, a group in which a dimension has
 * another length than above or beside it is taken whole, with everything below it.
 *
 * @param nodes all nodes of the group
 * @throws `invalid-option` for ranges without names; `invalid-selection` for a dimension that no array has, or that
 * has
 *   different lengths in one group, and for a range beyond its end.
 */
export function sliceGroup(
  option: SliceOption,
  arrays: readonly GroupArray[],
  { nodes, others }: { readonly nodes: readonly ImageNode[]; readonly others: OtherRanges },
): GroupSelections {
  if (Array.isArray(option)) {
    throw new ZarrflowError("invalid-option", "ranges for a group need dimension names", {
      hint: "Name the dimensions: time=0:24,latitude=10:20.",
    });
  }
  const ranges = Object.entries(option as Readonly<Record<string, Range>>);
  const following = followingLevels(nodes);
  const led = arrays.filter(({ path }) => !following.has(path) && !others.has(path));
  const { cut, takenWhole } = withOneLength(
    ranges.map(([name]) => name),
    led,
  );
  const selections = new Map<string, Selection>();
  const turns = new Map<string, readonly number[]>();
  const take = ({ path, metadata }: GroupArray, ranges: SliceOption) => {
    const { selection, cyclic } = resolveSlice(ranges, metadata, path);
    selections.set(path, selection);
    assertHeld(selection, cyclic, { metadata, path });
    const own = turnsOf(cyclic, metadata.shape.length);
    if (own) turns.set(path, own);
  };
  for (const array of cut) {
    const own = ranges.filter(([name]) => array.metadata.dimensionNames?.includes(name));
    if (own.length > 0) take(array, Object.fromEntries(own));
  }
  for (const array of arrays) {
    const own = others.get(array.path);
    if (own) take(array, own);
  }
  for (const level of following.values()) {
    const ofFirst = selections.get(level.first);
    if (ofFirst) selections.set(level.path, selectionOfLevel(level, ofFirst));
  }
  return { selections, turns, takenWhole };
}

/** Checks that the data type of an array can hold the values that its selection shifts. @throws as `assertHolds` */
function assertHeld(
  { shift }: Selection,
  cyclic: ResolvedSlice["cyclic"],
  { metadata, path }: Pick<GroupArray, "metadata" | "path">,
): void {
  if (shift) for (const range of cyclic?.values() ?? []) assertHolds(range, metadata, path);
}

/**
 * Computes the selection of an array and of the arrays that describe it, which are cut along the same dimensions.
 *
 * @throws as `resolveSlice`
 */
export function sliceWithCompanions(
  option: SliceOption,
  array: GroupArray & { readonly name: string },
  companions: readonly GroupArray[],
): GroupSelections {
  const resolved = resolveSlice(option, array.metadata, array.path, { name: array.name });
  const selections = new Map([[array.path, resolved.selection]]);
  assertHeld(resolved.selection, resolved.cyclic, array);
  const turns = new Map<string, readonly number[]>();
  const ownTurns = turnsOf(resolved.cyclic, array.metadata.shape.length);
  if (ownTurns) turns.set(array.path, ownTurns);
  const takenWhole: TakenWhole[] = [];
  for (const companion of companions) {
    const { path } = companion;
    const dimensions = sameDimensions(companion, array);
    if (typeof dimensions === "string") takenWhole.push({ path, reason: dimensions });
    else if (dimensions.some((d) => d >= 0)) {
      const selection = selectionAlong(dimensions, resolved, companion);
      selections.set(path, selection);
      assertHeld(selection, resolved.cyclic, companion);
      if (ownTurns)
        turns.set(
          path,
          dimensions.map((d) => ownTurns[d] ?? 0),
        );
    }
  }
  return { selections, turns, takenWhole };
}

/** Returns the dimension of `array` that each dimension of `other` is, or -1; a reason if that is ambiguous. */
function sameDimensions(other: GroupArray, array: GroupArray): readonly number[] | string {
  const names = array.metadata.dimensionNames ?? [];
  const lengths = array.metadata.shape;
  const dimensions: number[] = [];
  for (const [own, length] of other.metadata.shape.entries()) {
    const name = other.metadata.dimensionNames?.[own] ?? null;
    const d = name === null ? -1 : names.indexOf(name);
    const isNamed = name !== null && lengths.every((_, i) => typeof names[i] === "string");
    if (d < 0 && !isNamed)
      return `some dimensions of ${name === null ? other.path : array.path} have no names`;
    if (d !== names.lastIndexOf(name)) return `two dimensions of ${array.path} are named ${name}`;
    const expected = lengths[d] ?? length;
    if (length !== expected)
      return lengthsDiffer(`${name}`, { path: array.path, length: expected }, { path: other.path, length });
    dimensions.push(d);
  }
  return dimensions;
}

/** Selects the part of an array that shares dimensions with another. Its other dimensions are taken whole. */
function selectionAlong(
  dimensions: readonly number[],
  { selection: { start, step, shape, cycle }, cyclic }: ResolvedSlice,
  { path, metadata }: GroupArray,
): Selection {
  const shifts = dimensions.map((d, own) => {
    const range = cyclic?.get(d);
    return range && shiftOf(range, own, metadata, lastName(path));
  });
  const shift = shifts.find((one) => one !== undefined);
  return {
    start: dimensions.map((d) => start[d] ?? 0),
    step: dimensions.map((d) => step[d] ?? 1),
    shape: dimensions.map((d, own) => shape[d] ?? metadata.shape[own] ?? 0),
    ...(cycle && { cycle: dimensions.map((d) => cycle[d] ?? 0) }),
    ...(shift && { shift }),
  };
}
