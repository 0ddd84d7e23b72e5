import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { fillItems } from "../../src/codecs/filled-data.ts";

describe("fillItems", () => {
  it("sets all items", () => {
    const inputs = fc.record({
      item: fc.option(fc.uint8Array({ minLength: 1, maxLength: 17 })),
      count: fc.nat(70),
      size: fc.integer({ min: 1, max: 17 }),
    });
    fc.assert(
      fc.property(inputs, ({ item, count, size }) => {
        const itemSize = item?.length ?? size;
        const target = new Uint8Array(count * itemSize + 3).fill(9).subarray(3);
        fillItems(target, item);
        const expected = Array.from({ length: count }, () => [...(item ?? new Uint8Array(itemSize))]).flat();
        expect([...target]).toEqual(expected);
      }),
      { numRuns: 300 },
    );
  });

  it("takes items without bytes", () => {
    expect(() => fillItems(new Uint8Array(0), new Uint8Array(0))).not.toThrow();
  });
});
