import { expect, test } from "vitest";
import { itemValue } from "../../../src/flows/slabs/item-value.ts";

const viewOf = (text: string) => new DataView(new TextEncoder().encode(text).buffer);

test("objects are read with every digit, and with numbers that are not finite", () => {
  expect(itemValue({ kind: "object" }, viewOf('{"a":[NaN,18446744073709551615,1.0]}'))).toEqual({
    a: [Number.NaN, 2n ** 64n - 1n, 1],
  });
  expect(itemValue({ kind: "object" }, viewOf(""))).toBeNull();
});
