import type { ZarrArray, ZarrGroup, ZarrNode } from "../../hierarchy/node.ts";
import { ancestorsOf, isUnreadableAbove, openNode } from "../../hierarchy/open/open-node.ts";
import type { ArrayMetadata, ZarrFormat } from "../../meta/array-metadata.ts";
import { member } from "../../meta/assert-json.ts";
import { packingOf, rereadInteger } from "../../meta/conventions/cf/packing.ts";
import { missingValueOf } from "../../meta/conventions/missing-values.ts";
import { omeOf } from "../../meta/conventions/ome/attributes.ts";
import { isNumber, type Numbers, numberKindOf } from "../../meta/number-kinds.ts";
import { missingOf } from "../../run/slabs/decoder.ts";
import { parentSpec } from "../../stores/store-spec.ts";
import { lastName } from "../../util/node-path.ts";
import { coordsOf, cStrides } from "../../util/shape.ts";
import { readSmallFloats, writeSmallFloats } from "../../util/small-floats.ts";

/** How a block of items becomes one. */
export const PYRAMID_METHODS = ["mean", "nearest", "mode", "min", "max"] as const;
export type PyramidMethod = (typeof PYRAMID_METHODS)[number];

/** A box of numbers in C order. */
export interface NumberBox {
  readonly items: Numbers;
  readonly shape: readonly number[];
}

export interface ReduceOptions {
  readonly method: PyramidMethod;
  readonly factors: readonly number[];
  readonly isFloat: boolean;
  /** Numbers that mean "missing", starting with the one to write; NaN always does. */
  readonly missing: readonly (number | bigint)[];
}

/**
 * Reduces each block of `factors` items to one, and writes the results to `to` from `start` on. Blocks at the end may
 * be smaller.
 *
 * - `mean`: mean of the present items, summed as doubles in C order. Integers round half to even, and 64-bit integers
 *   are summed exactly.
 * - `mode`: most frequent item, the smallest if there are several.
 * - `min`, `max`: smallest or largest of the present items.
 * - `nearest`: first item of the block, missing or not.
 *
 * A block without present items is missing.
 */
export function reduceBlocks(
  from: NumberBox,
  to: NumberBox,
  start: readonly number[],
  { method, factors, isFloat, missing }: ReduceOptions,
): void {
  const { items } = from;
  const isBig = items instanceof BigInt64Array || items instanceof BigUint64Array;
  const reduce = REDUCERS[method](isFloat, isBig);
  const [strides, toStrides] = [cStrides(from.shape), cStrides(to.shape)];
  const rank = from.shape.length;
  const counts = from.shape.map((n, d) => Math.ceil(n / (factors[d] ?? 1)));
  const offsetsByShape = new Map<string, readonly number[]>();
  const offsetsOf = (block: readonly number[]) => {
    const key = `${block}`;
    const known = offsetsByShape.get(key);
    if (known) return known;
    const made = Array.from(coordsOf(block), (at) =>
      at.reduce((sum, c, d) => sum + c * (strides[d] ?? 0), 0),
    );
    offsetsByShape.set(key, made);
    return made;
  };
  const values: (number | bigint)[] = [];
  const [usual, ...others] = missing;
  const isMissing = (value: number | bigint) =>
    value === usual || Number.isNaN(value) || (others.length > 0 && others.includes(value));
  const last = Math.max(0, rank - 1);
  const [count, factor] = [counts[last] ?? 1, factors[last] ?? 1];
  // rows of the last dimension: all of their blocks except the last have one shape
  for (const row of coordsOf(counts.slice(0, last))) {
    const block = row.map((at, d) =>
      Math.min(factors[d] ?? 1, (from.shape[d] ?? 1) - at * (factors[d] ?? 1)),
    );
    let base = 0;
    let target = rank > 0 ? (start[last] ?? 0) : 0;
    for (let d = 0; d < row.length; d++) {
      base += (row[d] ?? 0) * (factors[d] ?? 1) * (strides[d] ?? 0);
      target += ((start[d] ?? 0) + (row[d] ?? 0)) * (toStrides[d] ?? 0);
    }
    for (let i = 0; i < count; i++) {
      const width = rank > 0 ? Math.min(factor, (from.shape[last] ?? 1) - i * factor) : 1;
      const offsets = offsetsOf(rank > 0 ? [...block, width] : []);
      values.length = 0;
      const first = base + i * factor;
      if (method === "nearest") {
        to.items[target + i] = items[first] as never;
        continue;
      }
      for (const offset of offsets) {
        const value = items[first + offset] as number | bigint;
        if (!isMissing(value)) values.push(value);
      }
      to.items[target + i] = (values.length === 0 ? (usual ?? 0) : reduce(values)) as never;
    }
  }
}

type Reduce = (values: (number | bigint)[]) => number | bigint;

const REDUCERS: Readonly<Record<PyramidMethod, (isFloat: boolean, isBig: boolean) => Reduce>> = {
  mean: (isFloat, isBig) => {
    if (isBig)
      return (values) =>
        roundedQuotient(
          (values as bigint[]).reduce((a, b) => a + b),
          BigInt(values.length),
        );
    return (values) => {
      let sum = 0;
      for (const value of values) sum += value as number;
      const mean = sum / values.length;
      return isFloat ? mean : roundHalfToEven(mean);
    };
  },
  min: () => (values) => extreme(values, (a, b) => a < b),
  max: () => (values) => extreme(values, (a, b) => a > b),
  mode: () => mostFrequent,
  nearest: () => (values) => values[0] ?? 0,
};

function extreme(
  values: readonly (number | bigint)[],
  isBetter: (a: number | bigint, b: number | bigint) => boolean,
): number | bigint {
  let [best = 0] = values;
  for (const value of values) if (isBetter(value, best)) best = value;
  return best;
}

function mostFrequent(values: (number | bigint)[]): number | bigint {
  values.sort((a, b) => (a < b ? -1 : a > b ? 1 : 0));
  let [best, most] = [values[0] ?? 0, 0];
  for (let i = 0, run = 0; i < values.length; i++) {
    run = i > 0 && values[i] === values[i - 1] ? run + 1 : 1;
    if (run > most) [best, most] = [values[i] ?? 0, run];
  }
  return best;
}

function roundHalfToEven(value: number): number {
  const floor = Math.floor(value);
  const rest = value - floor;
  return rest > 0.5 || (rest === 0.5 && floor % 2 !== 0) ? floor + 1 : floor;
}

function roundedQuotient(sum: bigint, count: bigint): bigint {
  const rest = ((sum % count) + count) % count;
  const floor = (sum - rest) / count;
  const twice = 2n * rest;
  return twice > count || (twice === count && floor % 2n !== 0n) ? floor + 1n : floor;
}

/** Shape of the next level, including partial blocks at the end. */
export function reducedShape(shape: readonly number[], factors: readonly number[]): number[] {
  return shape.map((n, d) => Math.ceil(n / (factors[d] ?? 1)));
}

/** How the items of an array are read and written as numbers, and which of them are missing. */
export interface NumberAccess {
  readonly itemSize: number;
  /** Returns bytes as numbers: a view, or for 16-bit floats a converted copy. */
  read(bytes: Uint8Array): Numbers;
  /** Writes back numbers that `read` returned; does nothing if they are a view of the bytes. */
  write(numbers: Numbers, bytes: Uint8Array): void;
  readonly isFloat: boolean;
  /** Numbers that mean "missing", starting with the one to write; empty if no item is missing. */
  readonly missing: readonly (number | bigint)[];
}

/** Undefined for arrays whose items are not single numbers. Integers with the attribute `_Unsigned` are decoded. */
export function numberAccessOf(metadata: ArrayMetadata, zarrFormat: ZarrFormat): NumberAccess | undefined {
  const { dataType, attributes } = metadata;
  if (!isNumber(dataType) || dataType.kind === "complex" || "unit" in dataType) return undefined;
  const { size } = dataType;
  const isFloat = dataType.kind === "float";
  const { reread } = packingOf(dataType, attributes) ?? {};
  const meant = reread ? ({ kind: reread.signed ? "int" : "uint", size } as const) : dataType;
  const { bits, Items } = numberKindOf(meant);
  const read = (bytes: Uint8Array): Numbers => {
    if (bits) return readSmallFloats(bytes, bits);
    return new Items(bytes.buffer as ArrayBuffer, bytes.byteOffset, bytes.byteLength / size);
  };
  const write = (numbers: Numbers, bytes: Uint8Array) => {
    if (bits) writeSmallFloats(numbers as Float32Array, bytes, bits);
  };
  const own = missingValueOf(metadata, zarrFormat);
  const listed = missingOf(metadata, zarrFormat, (value) => (reread ? rereadInteger(value, reread) : value));
  const writesNaN = isFloat && (listed.length === 0 || (own && Number.isNaN(read(own.slice())[0])));
  const missing = writesNaN ? [Number.NaN, ...listed] : listed;
  return { itemSize: size, isFloat, read, write, missing };
}

/** How an array shrinks, and the reason. */
export interface ChosenMethod {
  readonly method: PyramidMethod;
  readonly reason: string;
}

/** Attributes that mark the values of a variable as classes in CF conventions. */
const FLAGS = ["flag_values", "flag_masks", "flag_meanings"];

/**
 * Reason, in words, why the values of an array are classes, which a mean would falsify; undefined if they are
 * quantities.
 *
 * @param labels why the array contains labels; undefined if it does not
 */
function classesOf({ attributes, metadata }: ZarrArray, labels: string | undefined): string | undefined {
  const flags = FLAGS.find((name) => name in attributes);
  if (labels !== undefined) return `labels: ${labels}`;
  if (flags !== undefined) return `classes: ${flags}`;
  return metadata.dataType.kind === "bool" ? "a mask: bool" : undefined;
}

/** True if the fill value is a regular value: the background of labels, or false in a mask. */
export function lacksNone({ metadata }: ZarrArray, labels: string | undefined): boolean {
  return labels !== undefined || metadata.dataType.kind === "bool";
}

/** Method of an image: as requested; by default `mode` for classes, otherwise `mean`. */
export function methodOfImage(
  array: ZarrArray,
  { asked, labels }: { readonly asked: PyramidMethod | undefined; readonly labels: string | undefined },
): ChosenMethod {
  if (asked !== undefined) return { method: asked, reason: "as asked" };
  const classes = classesOf(array, labels);
  return classes ? { method: "mode", reason: classes } : { method: "mean", reason: "by default" };
}

/** Reason why a node is a label image: its own metadata, those of its image, or its path; undefined if it is not. */
export async function labelsBy(
  node: ZarrNode,
  group: ZarrGroup | undefined,
  signal: AbortSignal | undefined,
): Promise<string | undefined> {
  const { metadata } = omeOf(group?.metadata.attributes ?? {}) ?? {};
  if (metadata && member(metadata, "image-label") !== undefined) return "image-label";
  return (await isBelowLabels(node, signal)) ? "below `labels`" : undefined;
}

async function isBelowLabels(
  { store, spec, path, layout: { zarrFormat } }: ZarrNode,
  signal: AbortSignal | undefined,
): Promise<boolean> {
  try {
    for await (const above of ancestorsOf(store, spec, path)) {
      const name = above.path === "" ? parentSpec(above.spec)?.name : lastName(above.path);
      if (name !== "labels" || above.path === above.nodePath) continue;
      const group = await openNode(above.store, above.path, { spec: above.spec, zarrFormat, signal });
      if (group?.kind === "group") return true;
    }
  } catch (error) {
    if (!isUnreadableAbove(error)) throw error;
  }
  return false;
}
