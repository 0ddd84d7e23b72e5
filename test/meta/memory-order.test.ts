import { expect, it } from "vitest";
import type { ArrayMetadata } from "../../src/meta/array-metadata.ts";
import { inMemoryOrder, orderOf, transposesOf } from "../../src/meta/memory-order.ts";

const transpose = (...order: number[]) => ({ name: "transpose", configuration: { order } });

it("puts an order into transposes and finds it there", () => {
  expect(transposesOf("C", 3)).toEqual([]);
  expect(transposesOf("F", 1)).toEqual([]);
  expect(transposesOf("F", 3)).toEqual([transpose(2, 1, 0)]);
  expect(orderOf([], 3)).toBe("C");
  expect(orderOf([transpose(0, 1, 2)], 3)).toBe("C");
  expect(orderOf([transpose(2, 1, 0)], 3)).toBe("F");
  expect(orderOf([transpose(2, 0, 1)], 3)).toBeUndefined();
  expect(orderOf([transpose(1, 0), transpose(1, 0)], 2)).toBeUndefined();
});

it("leaves C and Fortran order, and takes C for any other", () => {
  const array = (...codecs: ArrayMetadata["codecs"]): ArrayMetadata => ({
    kind: "array",
    shape: [4, 5, 6],
    dataType: { kind: "uint", size: 1 },
    chunkGrid: { chunkShape: [2, 5, 3] },
    chunkKeyEncoding: { name: "default", separator: "/" },
    codecs,
    fillValue: { bytes: new Uint8Array(1) },
    attributes: {},
  });
  const bytes = { name: "bytes", configuration: {} };
  for (const kept of [array(bytes), array(transpose(2, 1, 0), bytes)]) expect(inMemoryOrder(kept)).toBe(kept);
  expect(inMemoryOrder(array(transpose(1, 0, 2), bytes)).codecs).toEqual([bytes]);
  expect(inMemoryOrder(array(transpose(1, 0, 2), transpose(0, 2, 1), bytes)).codecs).toEqual([bytes]);
});
