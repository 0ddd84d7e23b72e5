import type { ZarrArray, ZarrGroup } from "../hierarchy/node.ts";
import { children } from "../hierarchy/open/walk.ts";
import { askedSlice } from "../hierarchy/parse-slice.ts";
import type { OpenSliceOptions, Slice } from "../hierarchy/slice.ts";
import { hasLabels, type SliceOption } from "../hierarchy/slice-option.ts";
import { dimensionMeant } from "../meta/dimension-names.ts";
import { type KeyFilter, pathFilter } from "../plan/key-filter.ts";
import type { ReadEventOptions } from "../run/events.ts";
import type { StoreOptions } from "../stores/store.ts";
import { ZarrflowError } from "../util/errors.ts";
import { firstOf } from "../util/names.ts";
import { belowPath } from "../util/node-path.ts";
import { assertNearest } from "./request/slice-indices.ts";
import { unmatchedGlobs } from "./request/source-nodes.ts";
import { slice } from "./slice.ts";

/**
 * Returns the arrays of a group that a filter selects, not those of subgroups.
 *
 * @throws `invalid-option` if it selects none
 */
export async function arraysIn(
  group: ZarrGroup,
  filter: KeyFilter,
  { signal, onEvent }: StoreOptions & ReadEventOptions,
): Promise<ZarrArray[]> {
  const { include, exclude } = filter;
  const globs = pathFilter({ include, exclude });
  const arrays: ZarrArray[] = [];
  for await (const node of children(group, { signal })) if (node.kind === "array") arrays.push(node);
  const filtered = { root: group, nodes: arrays, excluded: [], takesKeys: false };
  for (const warning of await unmatchedGlobs(filtered, filter)) onEvent?.({ type: "warning", ...warning });
  const taken = arrays.filter(({ path }) => globs?.isTaken(belowPath(group.path, path)) !== false);
  if (taken.length > 0) return taken;
  throw new ZarrflowError("invalid-option", "no array is selected", {
    path: group.path,
    hint: arrays.length === 0 ? "The group has no arrays." : `Its arrays are ${arrayNames(arrays, group)}.`,
  });
}

/** Names of arrays as text. */
export function arrayNames(arrays: readonly ZarrArray[], group: ZarrGroup): string {
  return firstOf(arrays.map(({ path }) => belowPath(group.path, path)));
}

/**
 * Slices several arrays with the same ranges: each by the dimensions that it has.
 *
 * @throws `invalid-option` for ranges without names; `invalid-selection` for a name that no array has.
 */
export function slicesOf(
  arrays: readonly ZarrArray[],
  option: SliceOption | string,
  options: OpenSliceOptions,
): Slice[] {
  const { sel, nearest, ...reading } = options;
  const asked = askedSlice(option, { ...(sel && { sel }) });
  if (Array.isArray(asked) && asked.length > 0) {
    throw new ZarrflowError("invalid-option", "ranges for several arrays need dimension names", {
      hint: "Write time=0:24, in code { time: [0, 24] }.",
    });
  }
  assertNearest({ ...(nearest && { nearest }) }, hasLabels(asked));
  const ranges = Object.entries(asked);
  const has = ({ dimensionNames = [] }: ZarrArray, name: string) => dimensionNames.includes(name);
  const unknown = ranges.find(([name]) => !arrays.some((array) => has(array, name)));
  if (unknown) {
    throw new ZarrflowError("invalid-selection", `no array has the dimension ${unknown[0]}`, {
      hint: dimensionMeant(unknown[0], arrays, "Their"),
    });
  }
  return arrays.map((array) => {
    const own = Object.fromEntries(ranges.filter(([name]) => has(array, name)));
    return slice(array, own, { ...reading, ...(nearest && hasLabels(own) && { nearest }) });
  });
}
