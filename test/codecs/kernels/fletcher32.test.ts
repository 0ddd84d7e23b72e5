import { expect, test } from "vitest";
import { fletcher32 } from "../../../src/codecs/kernels/fletcher32.ts";

// As numcodecs writes them.
test.each([
  ["a", 0x6100_6100],
  ["abcdef", 0x5056_2a2d],
  ["abcdefg", 0xe183_912d],
])("of %j", (text, sum) => expect(fletcher32(new TextEncoder().encode(text))).toBe(sum));

test("of no bytes, and of more than one run of the largest", () => {
  expect(fletcher32(new Uint8Array(0))).toBe(0);
  expect(fletcher32(new Uint8Array(100_001).fill(255))).toBe(0xff00_ff00);
});
