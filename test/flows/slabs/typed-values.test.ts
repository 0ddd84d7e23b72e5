import { describe, expect, test } from "vitest";
import { ItemValues } from "../../../src/flows/slabs/typed-values.ts";
import { openArray, slice } from "../../../src/index.ts";
import { given } from "../../support/given.ts";

describe("items that no typed array holds", () => {
  const letters = new ItemValues(3, (i) => "abc".charAt(i));

  test("have an index, as those of arrays", () => {
    expect([letters[0], letters[2], letters[3], letters.length]).toEqual(["a", "c", undefined, 3]);
    expect([letters.at(0), letters.at(-1), letters.at(3), letters.at(-4)]).toEqual([
      "a",
      "c",
      undefined,
      undefined,
    ]);
    expect([...letters]).toEqual(["a", "b", "c"]);
    expect([...letters.subarray(1)]).toEqual(["b", "c"]);
    expect(letters.subarray(1)[0]).toBe("b");
    expect(letters).toBeInstanceOf(ItemValues);
  });
});

test.each([
  ["float32", Float32Array.of(1.5, 2), 1.5],
  ["int64", BigInt64Array.of(5n, 6n), 5n],
  ["bool", [true, false], 1],
  ["string", ["hello", "b"], "hello"],
  ["U4", ["ab", "c"], "ab"],
  ["datetime64[ns]", BigInt64Array.of(7n, 8n), 7n],
] as const)("the first item of %s has the type that `is` says", async (dataType, values, first) => {
  const store = await given({ shape: [2], chunks: [2], dataType, values: values as never });
  const array = await openArray(store);
  expect(array.is(dataType)).toBe(true);
  expect(array.is(dataType === "float32" ? "float64" : "float32")).toBe(false);
  const { data } = await slice(array).read();
  expect(data[0]).toBe(first);
  for await (const chunk of slice(array).chunks()) expect(chunk.data[0]).toBe(first);
});
