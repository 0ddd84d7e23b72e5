import type { ZarrArray } from "../../hierarchy/node.ts";
import type { ReadOptions } from "../../hierarchy/read-options.ts";
import type { ArrayMetadata } from "../../meta/array-metadata.ts";
import type { Packing } from "../../meta/conventions/cf/packing.ts";
import { isNumber, numbersPerItem } from "../../meta/number-kinds.ts";
import { type NumberCoding, numberCodingOf } from "../../run/slabs/decoder.ts";
import { typedValues } from "../../run/slabs/typed-values.ts";
import { isZarrflowError, ZarrflowError } from "../../util/errors.ts";
import { NAT } from "../../util/numbers.ts";
import { product } from "../../util/shape.ts";
import { labelScaleOf } from "../request/labels/coordinate.ts";
import { findCoordinate } from "../request/labels/find-coordinate.ts";
import { openSliceOptions, slice } from "../slice.ts";

/** Limit of items in one response: a picture of about 1000 x 1000. */
export const MAX_ITEMS = 2 ** 20;

/** Selection along a dimension: `count` items from `start`, `step` apart. */
export interface Cut {
  readonly start: number;
  readonly step: number;
  readonly count: number;
}

/** A part of an array as numbers in C order; missing items are NaN. */
export interface DrawnNumbers {
  readonly data: Float32Array | Float64Array;
  /** Smallest and largest finite number; absent if there is none. */
  readonly range?: readonly [number, number];
  /** Number of missing items. */
  readonly missing: number;
}

/**
 * Reads a part of an array as numbers, within the memory budget.
 *
 * @throws `invalid-selection` for a part outside the array; `resource-limit` for more than 2^20 items;
 *   `unsupported-operation` for an array without numbers.
 */
export async function readDrawnNumbers(
  array: ZarrArray,
  cuts: readonly Cut[],
  options: ReadOptions,
): Promise<DrawnNumbers> {
  const { metadata, path } = array;
  assertDrawn(array);
  const count = product(cuts.map((cut) => cut.count));
  if (count > MAX_ITEMS) {
    throw new ZarrflowError("resource-limit", "too many items for one picture", {
      path,
      expected: MAX_ITEMS,
      found: count,
    });
  }
  const { numbers, decode, isSingle } = numberDecoding(array);
  const data = isSingle ? new Float32Array(count) : new Float64Array(count);
  const parts = numbersPerItem(metadata.dataType);
  let [at, missing, low, high] = [0, 0, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  const ranges = cuts.map(({ start, step, count }) => [start, start + (count - 1) * step + 1, step] as const);
  for await (const { data: items } of slice(array, ranges, {
    ...openSliceOptions(options),
    consistent: true,
  }).slabs()) {
    const values = numbers(typedValues(items, metadata.dataType));
    for (let i = 0; i < values.length; i += parts) {
      const stored = values[i] ?? 0;
      const number = parts === 1 ? decode(stored) : Math.hypot(Number(stored), Number(values[i + 1]));
      data[at++] = number;
      if (Number.isNaN(number)) missing++;
      else if (Number.isFinite(number)) {
        if (number < low) low = number;
        if (number > high) high = number;
      }
    }
  }
  return { data, missing, ...(low <= high && { range: [low, high] }) };
}

/** @throws `unsupported-operation` for an array whose items are not numbers. */
export function assertDrawn({ metadata, dataType, path }: ZarrArray): void {
  if (isDrawn(metadata)) return;
  throw new ZarrflowError(
    "unsupported-operation",
    `values of ${dataType} are not numbers and cannot be drawn`,
    {
      path,
      hint: "Print them with `zarrflow slice URL --format json`.",
    },
  );
}

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

/** How stored numbers are shown. */
export interface NumberDecoding extends Pick<NumberCoding, "numbers" | "missing"> {
  /** Decodes one of `numbers`; NaN if it is missing. */
  readonly decode: (stored: number | bigint) => number;
  /** How numbers are packed, in words; undefined if they are not. */
  readonly packing: string | undefined;
  /** True if float32 represents every number that `decode` returns. */
  readonly isSingle: boolean;
}

/** True for data types whose items are drawn: numbers, including complex ones by their absolute value. */
export function isDrawn({ dataType }: ArrayMetadata): boolean {
  return isNumber(dataType);
}

/** Decodes numbers like slices do, except for times, which stay numbers. */
export function numberDecoding(array: Pick<ZarrArray, "metadata" | "attributes" | "layout">): NumberDecoding {
  const { dataType } = array.metadata;
  const coding = numberCodingOf(array);
  if (coding === undefined) {
    return {
      numbers: (values) => values as ReturnType<NumberCoding["numbers"]>,
      missing: [],
      decode: (stored) => (stored === NAT ? Number.NaN : Number(stored)),
      packing: undefined,
      isSingle: dataType.kind === "bool",
    };
  }
  const { numbers, missing, isMissing, scaled, packing } = coding;
  const { kind, size } = coding.dataType;
  return {
    numbers,
    missing,
    decode: (stored) => (isMissing?.(stored) ? Number.NaN : Number(scaled ? scaled(stored) : stored)),
    packing: packing && packingText(packing),
    isSingle: scaled === undefined && size <= (kind === "float" ? 4 : 2),
  };
}

function packingText({ scale, offset, reread }: Packing): string {
  const number = reread === undefined ? "stored" : reread.signed ? "stored as signed" : "stored as unsigned";
  const scaled = scale === undefined ? number : `${number} × ${scale}`;
  return offset === undefined ? scaled : `${scaled} + ${offset}`;
}
