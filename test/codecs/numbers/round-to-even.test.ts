import { expect, test } from "vitest";
import { roundToEven } from "../../../src/codecs/numbers/round-to-even.ts";

test.each([
  [0.5, 0],
  [1.5, 2],
  [2.5, 2],
  [-0.5, -0],
  [-1.5, -2],
  [0.49999999999999994, 0],
  [2 ** 51 + 1, 2 ** 51 + 1],
  [1e300, 1e300],
  [Number.NEGATIVE_INFINITY, Number.NEGATIVE_INFINITY],
  [Number.NaN, Number.NaN],
])("%d is %d", (value, rounded) => expect(roundToEven(value)).toBe(rounded));
