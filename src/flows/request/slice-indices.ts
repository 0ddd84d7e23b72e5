import type { ZarrArray, ZarrGroup, ZarrNode } from "../../hierarchy/node.ts";
import { axesFromAbove } from "../../hierarchy/open/above-on-use.ts";
import type { ConcurrencyOption } from "../../hierarchy/read-options.ts";
import { resolveArraySlice } from "../../hierarchy/slice.ts";
import {
  hasLabels,
  type LabelOptions,
  type ResolvedSlice,
  type SliceOption,
} from "../../hierarchy/slice-option.ts";
import { type Axes, severalDimensions, withAxes } from "../../meta/dimension-names.ts";
import { memoryLimit } from "../../streams/byte-budget.ts";
import { isZarrflowError, ZarrflowError } from "../../util/errors.ts";
import { isObject, withoutEffect } from "../../util/options.ts";
import type { LookedUp, TakenItems } from "./labels/found-labels.ts";
import { usualConcurrency } from "./store-settings.ts";

/** Options for looking up labels. */
export interface SliceReading extends LabelOptions {
  readonly maxMemory?: number | string;
  readonly concurrency?: ConcurrencyOption;
  readonly signal?: AbortSignal | undefined;
}

/** Calls `askedSlice`, loading it only if there are texts or labels. */
export async function rangesAsked(option: SliceOption | string, { sel }: LabelOptions): Promise<SliceOption> {
  if (typeof option !== "string" && sel === undefined) return option;
  return (await import("../../hierarchy/parse-slice.ts")).askedSlice(option, { ...(sel && { sel }) });
}

/** Asserts that `nearest` is used with labels. @throws `invalid-option` */
export function assertNearest(options: { readonly nearest?: boolean }, hasLabels: boolean): void {
  const reason = nearestReason(options, hasLabels);
  if (reason !== undefined) throw withoutEffect({ option: "nearest" }, reason);
}

export function nearestReason(
  { nearest }: { readonly nearest?: boolean },
  hasLabels: boolean,
): string | undefined {
  return nearest && !hasLabels ? "the slice has no labels, only indices" : undefined;
}

/** Options for looking up labels in arrays of a store. */
export function lookUpOptions(
  { spec }: ZarrArray | ZarrGroup,
  { concurrency, nearest = false, signal, ...options }: SliceReading,
) {
  return {
    maxMemory: memoryLimit(options),
    concurrency: usualConcurrency(concurrency, spec),
    nearest,
    signal,
  };
}

/**
 * Adds a hint to an error about a slice that names a multi-dimensional coordinate, as of a curvilinear grid: the
 * dimensions to select by.
 */
export async function aboutCoordinates(
  error: unknown,
  option: SliceOption,
  array: ZarrArray,
  signal: AbortSignal | undefined,
): Promise<unknown> {
  if (!isZarrflowError(error, "invalid-selection") || !isObject(option) || Array.isArray(option))
    return error;
  const name = Object.keys(option).find((one) => !array.dimensionNames?.includes(one));
  if (name === undefined) return error;
  const { arraysAround } = await import("./labels/find-coordinate.ts");
  const found = await arraysAround(signal).find(name, array);
  if (found === undefined || found.shape.length < 2) return error;
  return new ZarrflowError("invalid-selection", error.reason, {
    ...error.details,
    hint: severalDimensions(name, found.dimensionNames ?? []),
  });
}

/**
 * Replaces the labels in a slice of an array by indices.
 *
 * @throws as `lookUpInArray`
 */
export async function sliceByIndices(
  option: SliceOption,
  array: ZarrArray,
  options: SliceReading,
): Promise<LookedUp> {
  assertNearest(options, hasLabels(option));
  if (!hasLabels(option)) return { option, labels: [] };
  const { lookUpInArray } = await import("./labels/look-up-labels.ts");
  const { dimensionNames = [] } = withAxes(array.metadata, await axesFromAbove(array, options.signal));
  return lookUpInArray(option, array, dimensionNames, lookUpOptions(array, options));
}

/** Describes the items that a slice by indices takes along each dimension that it names. */
export async function takenByIndices(
  lookedUp: LookedUp,
  array: ZarrArray,
  options: SliceReading,
): Promise<readonly TakenItems[]> {
  const { takenOfArray } = await import("./labels/look-up-labels.ts");
  const { dimensionNames = [] } = withAxes(array.metadata, await axesFromAbove(array, options.signal));
  return takenOfArray(lookedUp, array, dimensionNames, lookUpOptions(array, options));
}

/** The nodes of a hierarchy that is sliced, and their dimension names. */
export interface SlicedNodes {
  readonly root: ZarrArray | ZarrGroup;
  readonly all: readonly ZarrNode[];
  /** The nodes to take. */
  readonly taken: readonly ZarrNode[];
  /** Paths that are left out and were not opened. */
  readonly excluded: readonly string[];
  readonly axes: Axes;
}

/**
 * Resolves a slice of an array to indices, and describes the items along each dimension that it names. @throws as
 * `resolveArraySlice` and `lookUpInArray`
 */
export async function resolveLabeledSlice(
  asked: SliceOption | string,
  array: ZarrArray,
  options: SliceReading,
): Promise<ResolvedSlice & { readonly taken: readonly TakenItems[] }> {
  const option = await rangesAsked(asked, options);
  try {
    const found = await sliceByIndices(option, array, options);
    const resolved = await resolveArraySlice(found.option, array, options.signal);
    return { ...resolved, taken: await takenByIndices(found, array, options) };
  } catch (error) {
    throw await aboutCoordinates(error, option, array, options.signal);
  }
}
