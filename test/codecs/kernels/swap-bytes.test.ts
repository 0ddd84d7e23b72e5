import { expect, test } from "vitest";
import { swapBytes } from "../../../src/codecs/kernels/swap-bytes.ts";
import { wordsOf } from "../../../src/codecs/kernels/words.ts";

test.each([2, 4, 8])("reverses units of %i bytes, and nothing beside the range", (unit) => {
  const bytes = Uint8Array.from({ length: 50 }, (_, i) => i).subarray(1);
  const expected = [...bytes];
  for (let i = 3; i < 3 + 4 * unit; i += unit) {
    expected.splice(i, unit, ...expected.slice(i, i + unit).reverse());
  }
  swapBytes(wordsOf(bytes), 3, 3 + 4 * unit, unit);
  expect([...bytes]).toEqual(expected);
});
