import { expect, test } from "vitest";
import { adler32 } from "../../../src/codecs/kernels/adler32.ts";
import { fletcher32, lookup3 } from "../../../src/codecs/kernels/checksums.ts";

test.each([
  ["", 1],
  ["Wikipedia", 0x11e6_0398],
])("Adler-32 of %j", (text, sum) => expect(adler32(new TextEncoder().encode(text))).toBe(sum));

test("Adler-32 does not overflow on the largest bytes", () => {
  const bytes = new Uint8Array(20_000).fill(255);
  let a = 1n;
  let b = 0n;
  for (const byte of bytes) {
    a = (a + BigInt(byte)) % 65_521n;
    b = (b + a) % 65_521n;
  }
  expect(BigInt(adler32(bytes))).toBe((b << 16n) | a);
});

// As numcodecs writes them.
test.each([
  ["a", 0x6100_6100],
  ["abcdef", 0x5056_2a2d],
  ["abcdefg", 0xe183_912d],
])("Fletcher-32 of %j", (text, sum) => expect(fletcher32(new TextEncoder().encode(text))).toBe(sum));

test("Fletcher-32 of no bytes, and of more than one run of the largest", () => {
  expect(fletcher32(new Uint8Array(0))).toBe(0);
  expect(fletcher32(new Uint8Array(100_001).fill(255))).toBe(0xff00_ff00);
});

const bytes = (text: string) => new TextEncoder().encode(text);

test("lookup3 gives the values that its author gives", () => {
  expect(lookup3(bytes(""), 0)).toBe(0xdeadbeef);
  expect(lookup3(bytes("Four score and seven years ago"), 0)).toBe(0x17770551);
  expect(lookup3(bytes("Four score and seven years ago"), 1)).toBe(0xcd628161);
});

test("lookup3 takes bytes anywhere in memory", () => {
  const all = bytes("xxxFour score and seven years agoyy");
  expect(lookup3(all.subarray(3, 33), 0)).toBe(0x17770551);
});
