import { expect, test } from "vitest";
import { lookup3 } from "../../../src/codecs/kernels/lookup3.ts";

const bytes = (text: string) => new TextEncoder().encode(text);

test("the values that its author gives", () => {
  expect(lookup3(bytes(""), 0)).toBe(0xdeadbeef);
  expect(lookup3(bytes("Four score and seven years ago"), 0)).toBe(0x17770551);
  expect(lookup3(bytes("Four score and seven years ago"), 1)).toBe(0xcd628161);
});

test("lies anywhere in memory", () => {
  const all = bytes("xxxFour score and seven years agoyy");
  expect(lookup3(all.subarray(3, 33), 0)).toBe(0x17770551);
});
