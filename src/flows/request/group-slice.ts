import { type Range, resolveSlice, type SliceOption } from "../../hierarchy/slice-option.ts";
import type { ArrayMetadata } from "../../meta/array-metadata.ts";
import type { Selection } from "../../streams/selection.ts";
import { ZarrflowError } from "../../util/errors.ts";
import { nearestName } from "../../util/nearest-name.ts";
import { followingLevels, type ImageNode, selectionOfLevel } from "./image-slice.ts";

/** An array of a group, with its path. */
export interface GroupArray {
  readonly path: string;
  readonly metadata: ArrayMetadata;
}

/**
 * What a slice takes of each array of a group, by path: every array that has any of the named dimensions is cut along
 * them, coordinates and bounds too; the others are not in the result. Levels of an image are cut as the first one is, by
 * their scale.
 *
 * @param nodes all nodes of the group
 * @throws `invalid-option` for ranges without names; `invalid-selection` for a dimension that no array has, one that has
 *   different lengths in different arrays, or a range beyond it.
 */
export function sliceGroup(
  option: SliceOption,
  arrays: readonly GroupArray[],
  nodes: readonly ImageNode[],
): Map<string, Selection> {
  if (Array.isArray(option)) {
    throw new ZarrflowError("invalid-option", "ranges for a group need dimension names", {
      hint: "Name the dimensions: time=0:24,latitude=10:20.",
    });
  }
  const ranges = Object.entries(option as Readonly<Record<string, Range>>);
  const following = followingLevels(nodes);
  const led = arrays.filter(({ path }) => !following.has(path));
  for (const [name] of ranges) assertOneLength(name, led);
  const selections = new Map<string, Selection>();
  for (const { path, metadata } of led) {
    const own = ranges.filter(([name]) => metadata.dimensionNames?.includes(name));
    if (own.length === 0) continue;
    selections.set(path, resolveSlice(Object.fromEntries(own), metadata, path).selection);
  }
  for (const level of following.values()) {
    const ofFirst = selections.get(level.first);
    if (ofFirst) selections.set(level.path, selectionOfLevel(level, ofFirst));
  }
  return selections;
}

/** Holds that a dimension is the same in all arrays that have it, as far as its length shows. */
function assertOneLength(name: string, arrays: readonly GroupArray[]): void {
  const lengths = arrays.flatMap(({ path, metadata: { shape, dimensionNames = [] } }) => {
    const length = shape[dimensionNames.indexOf(name)];
    return length === undefined ? [] : [{ path, length }];
  });
  const [first] = lengths;
  if (first === undefined) throw noDimension(name, arrays);
  const other = lengths.find(({ length }) => length !== first.length);
  if (other === undefined) return;
  throw new ZarrflowError(
    "invalid-selection",
    `dimension ${name} has ${first.length} items in ${first.path}, and ${other.length} in ${other.path}`,
    {
      path: other.path,
      hint: "Slice one array at a time.",
    },
  );
}

function noDimension(name: string, arrays: readonly GroupArray[]): ZarrflowError {
  const known = new Set(arrays.flatMap(({ metadata }) => metadata.dimensionNames ?? []));
  const names = [...known].filter((one) => one !== null);
  const near = nearestName(name, names);
  return new ZarrflowError("invalid-selection", `no array of the group has the dimension \`${name}\``, {
    hint: near
      ? `Did you mean \`${near}\`?`
      : `The group's dimensions are ${names.join(", ") || "not named"}.`,
  });
}
