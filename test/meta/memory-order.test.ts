import { expect, it } from "vitest";
import { orderOf, transposesOf } from "../../src/meta/memory-order.ts";

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
