import type { ZarrArray } from "../../hierarchy/node.ts";
import type { ReadOptions } from "../../hierarchy/read-options.ts";
import { isZarrflowError } from "../../util/errors.ts";
import { findCoordinate } from "../request/labels/find-coordinate.ts";
import { labelScaleOf } from "../request/labels/label-scale.ts";
import { openSliceOptions, slice } from "../slice.ts";
import type { Cut } from "./read-numbers.ts";

/** Labels of items along a dimension: numbers, or text such as dates; null for an item without one. */
export interface DimensionLabels {
  /** Path of the coordinate array. */
  readonly coordinate: string;
  readonly units?: string;
  readonly labels: readonly (number | string | null)[];
}

/** Reads the labels of some items along a dimension from its 1-d coordinate array; undefined if none can be read. */
export async function readLabels(
  array: ZarrArray,
  dimension: { readonly name: string; readonly length: number },
  { start, step, count }: Cut,
  options: ReadOptions,
): Promise<DimensionLabels | undefined> {
  const coordinate = await findCoordinate({ array }, dimension.name, options.signal);
  if (coordinate?.shape[0] !== dimension.length) return undefined;
  try {
    const scale = labelScaleOf(coordinate.metadata.dataType, coordinate.attributes);
    if (scale === undefined) return undefined;
    const range = [start, start + (count - 1) * step + 1, step] as const;
    const { data } = await slice(coordinate, [range], openSliceOptions(options)).read();
    const labels = Array.from({ length: count }, (_, i) => {
      const key = scale.keyOf(data.at(i));
      if (key === undefined) return null;
      return typeof key === "number" ? key : scale.text(key);
    });
    const { units } = coordinate.attributes;
    const areTimes = typeof labels.find((label) => label !== null) === "string";
    return {
      coordinate: coordinate.path,
      ...(typeof units === "string" && !areTimes && { units }),
      labels,
    };
  } catch (error) {
    if (isZarrflowError(error, "unsupported-operation")) return undefined;
    throw error;
  }
}
