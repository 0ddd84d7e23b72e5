import { assertHolds, shiftOf, turnsOf } from "../../hierarchy/cyclic-range.ts";
import {
  type Range,
  type ResolvedSlice,
  resolveSlice,
  type SliceOption,
} from "../../hierarchy/slice-option.ts";
import type { Selection } from "../../streams/selection.ts";
import { ZarrflowError } from "../../util/errors.ts";
import { lastName } from "../../util/node-path.ts";
import { type GroupArray, lengthsDiffer, type TakenWhole, withOneLength } from "./dimension-lengths.ts";
import { followingLevels, type ImageNode, selectionOfLevel } from "./image-slice.ts";
import type { OtherRanges } from "./resolutions.ts";

/** What is taken of each array that is cut, by path, and what is taken whole though it has a dimension that was named. */
export interface GroupSelections {
  readonly selections: ReadonlyMap<string, Selection>;
  /** Turns by which longitudes of the first items that are taken differ from stored ones, along each dimension. */
  readonly turns: ReadonlyMap<string, readonly number[]>;
  readonly takenWhole: readonly TakenWhole[];
}

/**
 * What a slice takes of each array of a group: every array that has any of the named dimensions is cut along them,
 * coordinates and bounds too; the others are not in the result. Levels of an image are cut as the first one is, by their
 * scale. Arrays in other resolutions have ranges of their own. Without such, a group in which a dimension has another length
 * than in the groups above, or beside it, is taken whole, with all below it.
 *
 * @param nodes all nodes of the group
 * @throws `invalid-option` for ranges without names; `invalid-selection` for a dimension that no array has, one that has
 *   different lengths in one group, or a range beyond it.
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

/** Checks that the numbers of an array can be shifted as its selection says. @throws as `assertHolds` */
function assertHeld(
  { shift }: Selection,
  cyclic: ResolvedSlice["cyclic"],
  { metadata, path }: Pick<GroupArray, "metadata" | "path">,
): void {
  if (shift) for (const range of cyclic?.values() ?? []) assertHolds(range, metadata, path);
}

/**
 * What a slice takes of an array, and of those that belong to it, which are cut along the same dimensions.
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

/** Which dimension of an array each one of another is; -1 for others. A reason where that cannot be said. */
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

/** What is taken of an array whose dimensions are dimensions of another; those that are not are taken whole. */
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
