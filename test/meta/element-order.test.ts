import { expect, it } from "vitest";
import type { FixedDataType } from "../../src/meta/data-type.ts";
import { fieldItems, hasByteOrder, swapElement, swapUnit } from "../../src/meta/element-order.ts";

const bytes = (length: number) => Uint8Array.from({ length }, (_, i) => i);

it("turns numbers, halves of complex numbers and code points around", () => {
  expect([...swapElement(bytes(4), { kind: "int", size: 4 }, "big")]).toEqual([3, 2, 1, 0]);
  expect([...swapElement(bytes(8), { kind: "complex", size: 8 }, "big")]).toEqual([3, 2, 1, 0, 7, 6, 5, 4]);
  expect([...swapElement(bytes(8), { kind: "fixed-text", size: 8 }, "big")]).toEqual([
    3, 2, 1, 0, 7, 6, 5, 4,
  ]);
  expect([...swapElement(bytes(4), { kind: "int", size: 4 }, "little")]).toEqual([0, 1, 2, 3]);
  expect([...swapElement(bytes(4), { kind: "raw", size: 4 }, "big")]).toEqual([0, 1, 2, 3]);
});

it("swaps each field by its own order, sub-arrays item by item, and back", () => {
  const struct: FixedDataType = {
    kind: "struct",
    size: 11,
    fields: [
      { name: "a", dataType: { kind: "int", size: 2 }, endian: "big" },
      { name: "b", dataType: { kind: "uint", size: 1 } },
      { name: "c", dataType: { kind: "int", size: 2 }, shape: [2], endian: "big" },
      {
        name: "d",
        dataType: {
          kind: "struct",
          size: 4,
          fields: [{ name: "e", dataType: { kind: "int", size: 2 }, shape: [2, 1] }],
        },
      },
    ],
  };
  expect(struct.fields.map(fieldItems)).toEqual([1, 1, 2, 1]);
  const swapped = swapElement(bytes(11), struct, "little");
  expect([...swapped]).toEqual([1, 0, 2, 4, 3, 6, 5, 7, 8, 9, 10]);
  expect(swapElement(swapped, struct, "little")).toEqual(bytes(11));
  expect([...swapElement(bytes(11), struct, "big")]).toEqual([1, 0, 2, 4, 3, 6, 5, 8, 7, 10, 9]);
});

it("knows what has a byte order", () => {
  expect(swapUnit({ kind: "complex", size: 16 })).toBe(8);
  expect(hasByteOrder({ kind: "fixed-bytes", size: 8 })).toBe(false);
  expect(hasByteOrder({ kind: "bool", size: 1 })).toBe(false);
  expect(hasByteOrder({ kind: "fixed-text", size: 8 })).toBe(true);
  const field = { name: "a", dataType: { kind: "uint", size: 1 } } as const;
  expect(hasByteOrder({ kind: "struct", size: 1, fields: [field] })).toBe(false);
});
