import fc from "fast-check";
import type { ArrayWriter, NewArray } from "../../src/index.ts";
import { coordsOf, cStrides, product } from "../../src/util/shape.ts";

/** An array of raw items to be written, and the order and format in which it is. */
export interface Plan {
  readonly shape: readonly number[];
  readonly chunks: readonly number[];
  /** Only in v3. */
  readonly shards?: readonly number[];
  readonly itemSize: number;
  readonly order: "C" | "F";
  readonly zarrFormat: "v2" | "v3";
  readonly separator: "." | "/";
  readonly seed: number;
}

const axis = fc.record({
  n: fc.integer({ min: 1, max: 12 }),
  chunk: fc.integer({ min: 1, max: 7 }),
  perShard: fc.integer({ min: 1, max: 3 }),
});

export const plans: fc.Arbitrary<Plan> = fc
  .record({
    axes: fc.array(axis, { maxLength: 3 }),
    itemSize: fc.constantFrom(1, 2, 3, 4, 8, 12),
    order: fc.constantFrom("C" as const, "F" as const),
    zarrFormat: fc.constantFrom("v2" as const, "v3" as const),
    separator: fc.constantFrom("." as const, "/" as const),
    isSharded: fc.boolean(),
    seed: fc.nat(1e6),
  })
  .map(({ axes, isSharded, ...rest }) => ({
    ...rest,
    shape: axes.map(({ n }) => n),
    chunks: axes.map(({ chunk }) => chunk),
    ...(isSharded &&
      rest.zarrFormat === "v3" && { shards: axes.map(({ chunk, perShard }) => chunk * perShard) }),
  }));

/** The array that a plan wants; its fill value is no run of one byte. */
export function newArray({ shape, chunks, shards, itemSize, order, zarrFormat, separator }: Plan): NewArray {
  const fillValue = Uint8Array.from({ length: itemSize }, (_, i) => i + 1);
  const dataType = { kind: "raw", size: itemSize } as const;
  const grid = { shape, chunks, ...(shards && { shards }) };
  return { ...grid, dataType, order, zarrFormat, separator, fillValue, codec: "none" };
}

/** What an array holds, in C order, written item by item. */
export class NaiveArray {
  readonly bytes: Uint8Array;
  readonly #shape: readonly number[];
  readonly #itemSize: number;

  constructor({ shape, itemSize }: Plan) {
    this.#shape = shape;
    this.#itemSize = itemSize;
    this.bytes = Uint8Array.from({ length: product(shape) * itemSize }, (_, i) => (i % itemSize) + 1);
  }

  write({ start, shape }: Parameters<ArrayWriter["writePart"]>[0]["region"], values: Uint8Array): void {
    const strides = cStrides(this.#shape);
    let from = 0;
    for (const coords of coordsOf(shape)) {
      const at = coords.reduce((sum, c, d) => sum + (c + (start[d] ?? 0)) * (strides[d] ?? 0), 0);
      this.bytes.set(values.subarray(from, from + this.#itemSize), at * this.#itemSize);
      from += this.#itemSize;
    }
  }
}

/** A box inside an array of `shape`; it may be empty. */
export function boxIn(
  shape: readonly number[],
): fc.Arbitrary<{ readonly start: number[]; readonly shape: number[] }> {
  return fc
    .tuple(...shape.map((n) => fc.tuple(fc.nat(n), fc.nat(n))))
    .map((ends) => ends.map(([a, b]): [number, number] => [Math.min(a, b), Math.max(a, b)]))
    .map((ends) => ({ start: ends.map(([from]) => from), shape: ends.map(([from, to]) => to - from) }));
}

/** Bytes that look random and are the same for the same seed; some of them are whole fill items. */
export function valuesOf(count: number, itemSize: number, seed: number): Uint8Array {
  let state = (seed * 2654435761 + 1) >>> 0;
  const next = () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state >>> 24;
  };
  const values = Uint8Array.from({ length: count * itemSize }, next);
  return seed % 3 === 0 ? values.map((_, i) => (i % itemSize) + 1) : values;
}
