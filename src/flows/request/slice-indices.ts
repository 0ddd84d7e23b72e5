import type { ZarrArray, ZarrGroup, ZarrNode } from "../../hierarchy/node.ts";
import { axesFromAbove } from "../../hierarchy/open/axes-from-above.ts";
import { resolveArraySlice } from "../../hierarchy/resolve-array-slice.ts";
import type { LabelOptions } from "../../hierarchy/slice-labels.ts";
import {
  hasLabels,
  parseSlice,
  type ResolvedSlice,
  type SliceOption,
  withLabels,
} from "../../hierarchy/slice-option.ts";
import { type Axes, withAxes } from "../../meta/dimension-names.ts";
import { parseBytes } from "../../util/byte-size.ts";
import { DEFAULT_MAX_MEMORY } from "./default-memory.ts";
import type { LookedUp } from "./labels/found-labels.ts";
import { type IoOption, usualIo } from "./usual-io.ts";

/** Options that bear on the look-up of labels. */
export interface SliceReading extends LabelOptions {
  readonly maxMemory?: number | string;
  readonly io?: IoOption;
  readonly signal?: AbortSignal | undefined;
}

/** What is asked for by ranges, or by their text, and by labels. @throws as `parseSlice` and `withLabels` */
export function askedSlice(option: SliceOption | string, { sel }: LabelOptions): SliceOption {
  return withLabels(typeof option === "string" ? parseSlice(option) : option, sel);
}

/** How labels are looked up in arrays of a store. */
function lookUpOptions(
  { spec }: ZarrArray | ZarrGroup,
  { maxMemory = DEFAULT_MAX_MEMORY, io, nearest = false, signal }: SliceReading,
) {
  return { maxMemory: parseBytes(maxMemory), io: usualIo(io, spec), nearest, signal };
}

/**
 * A slice of an array by indices alone: its labels are looked up.
 *
 * @throws as `lookUpInArray`
 */
export async function sliceByIndices(
  option: SliceOption,
  array: ZarrArray,
  options: SliceReading,
): Promise<LookedUp> {
  if (!hasLabels(option)) return { option, labels: [] };
  const { lookUpInArray } = await import("./labels/look-up-labels.ts");
  const { dimensionNames = [] } = withAxes(array.metadata, await axesFromAbove(array, options.signal));
  return lookUpInArray(option, array, dimensionNames, lookUpOptions(array, options));
}

/** The nodes of a hierarchy that a slice is taken of, and the names of their dimensions. */
export interface SlicedNodes {
  readonly root: ZarrArray | ZarrGroup;
  readonly all: readonly ZarrNode[];
  /** Those that are taken. */
  readonly taken: readonly ZarrNode[];
  readonly axes: Axes;
}

/** A slice of a node, with all below it, by indices alone. @throws as `lookUpInArray` and `lookUpInGroup` */
export async function nodesByIndices(
  asked: SliceOption | string | undefined,
  { root, all, taken, axes }: SlicedNodes,
  options: SliceReading,
): Promise<Partial<LookedUp> & Pick<LookedUp, "labels">> {
  const option = asked === undefined ? undefined : askedSlice(asked, {});
  if (option === undefined || !hasLabels(option)) return { ...(option && { option }), labels: [] };
  const { lookUpInArray, lookUpInGroup } = await import("./labels/look-up-labels.ts");
  const reading = lookUpOptions(root, options);
  const namesOf = ({ metadata, path }: ZarrArray) => withAxes(metadata, axes.get(path)).dimensionNames ?? [];
  if (root.kind === "array") return lookUpInArray(option, root, namesOf(root), reading);
  const arrays = taken.flatMap((node) =>
    node.kind === "array" ? [{ array: node, names: namesOf(node) }] : [],
  );
  return lookUpInGroup(option, { group: root, nodes: all, arrays }, reading);
}

/** The items that a slice takes of an array, and what its labels were. @throws as `resolveArraySlice` and `lookUpInArray` */
export async function resolveLabelledSlice(
  asked: SliceOption | string,
  array: ZarrArray,
  options: SliceReading,
): Promise<ResolvedSlice & Pick<LookedUp, "labels">> {
  const { option, labels } = await sliceByIndices(askedSlice(asked, options), array, options);
  return { ...(await resolveArraySlice(option, array, options.signal)), labels };
}
