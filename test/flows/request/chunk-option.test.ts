import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type AutoChunks, autoChunks } from "../../../src/flows/request/chunk-option.ts";
import { product } from "../../../src/util/shape.ts";

const chosen = (units: readonly number[]) => units.map(() => undefined);
const chunksOf = (shape: number[], units: number[], maxItems: number, more: Partial<AutoChunks> = {}) =>
  autoChunks({ shape, units, given: chosen(units), maxItems, mayDivide: true, ...more });

describe("chunks of at most a number of items", () => {
  it.each([
    ["merge chunks along the dimension with the most", [744, 721, 1440], [1, 721, 1440], 4e6, [3, 721, 1440]],
    ["take a small array whole", [10, 20], [3, 20], 4e6, [10, 20]],
    ["keep all dimensions in about as many chunks", [1000, 1000], [10, 10], 2500, [50, 50]],
    ["divide a chunk that is too large", [100, 1000, 1000], [100, 1000, 1000], 1e6, [25, 200, 200]],
    ["divide by a divisor where one is near", [744], [744], 100, [93]],
    ["divide in other parts where no divisor is near", [1009], [1009], 100, [100]],
    ["have one item where no more fit", [5, 5], [5, 5], 1, [1, 1]],
    ["are of one item along an empty dimension", [0, 8], [4, 4], 100, [1, 8]],
    ["are those of a scalar", [], [], 100, []],
  ])("%s", (_, shape, units, maxItems, expected) => {
    expect(chunksOf(shape, units, maxItems)).toEqual(expected);
  });

  it("leave given lengths as they are, and hold whole chunks as shards", () => {
    expect(chunksOf([744, 721], [1, 721], 1000, { given: [undefined, 10] })).toEqual([100, 10]);
    expect(chunksOf([744, 721], [1, 721], 5, { given: [undefined, 10] })).toEqual([1, 10]);
    const shards = (maxItems: number) => chunksOf([100, 100], [30, 30], maxItems, { mayDivide: false });
    expect([10_000, 16_000, 10].map(shards)).toEqual([
      [90, 90],
      [120, 120],
      [30, 30],
    ]);
  });

  const axis = fc.record({
    items: fc.oneof(fc.integer({ min: 0, max: 40 }), fc.integer({ min: 0, max: 2 ** 40 })),
    unit: fc.oneof(fc.integer({ min: 1, max: 12 }), fc.integer({ min: 1, max: 2 ** 36 })),
    given: fc.option(fc.integer({ min: 1, max: 50 }), { nil: undefined, freq: 3 }),
  });

  it("are no larger, no smaller than need be, and made of whole units", () => {
    const asked = fc.record({
      axes: fc.array(axis, { maxLength: 5 }),
      maxItems: fc.integer({ min: 1, max: 2 ** 30 }),
      mayDivide: fc.boolean(),
    });
    fc.assert(
      fc.property(asked, ({ axes, maxItems, mayDivide }) => {
        const shape = axes.map(({ items }) => items);
        const units = axes.map(({ unit }) => unit);
        const given = axes.map((one) => one.given);
        const lengths = autoChunks({ shape, units, given, maxItems, mayDivide });
        const whole = shape.map((n, d) => {
          const unit = mayDivide ? 1 : (units[d] ?? 1);
          return Math.ceil(Math.max(1, n) / unit) * unit;
        });
        const smallest = units.map((unit, d) => given[d] ?? Math.min(unit, whole[d] ?? 1));
        const isDivided = mayDivide && product(smallest) > maxItems;

        expect(lengths.every((length) => Number.isSafeInteger(length) && length >= 1)).toBe(true);
        expect(lengths.map((length, d) => given[d] ?? length)).toEqual(lengths);
        const free = lengths.flatMap((length, d) => (given[d] === undefined ? [{ length, d }] : []));
        for (const { length, d } of free) {
          const [unit, all] = [smallest[d] ?? 1, whole[d] ?? 1];
          const room = maxItems / product(lengths.toSpliced(d, 1));
          if (isDivided) {
            expect(length).toBeLessThanOrEqual(unit);
            // Half of what there is room for, or the unit, or a single item.
            expect(length === unit || length * 2 >= Math.floor(room) || length === 1).toBe(true);
          } else {
            expect(length === all || length % unit === 0).toBe(true);
            expect(length).toBeLessThanOrEqual(all);
            expect(length).toBeGreaterThanOrEqual(Math.min(unit, all));
            if (product(smallest) <= maxItems)
              expect(length === all || length + Math.min(unit, all - length) > room).toBe(true);
          }
        }
        const isSmallest = free.every(({ length, d }) => length === (isDivided ? 1 : smallest[d]));
        expect(product(lengths) <= maxItems || isSmallest).toBe(true);
      }),
    );
  });
});
