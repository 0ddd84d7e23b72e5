import { expect, test } from "vitest";
import { adler32 } from "../../../src/codecs/kernels/adler32.ts";

test.each([
  ["", 1],
  ["Wikipedia", 0x11e6_0398],
])("of %j", (text, sum) => expect(adler32(new TextEncoder().encode(text))).toBe(sum));

test("does not overflow on the largest bytes", () => {
  const bytes = new Uint8Array(20_000).fill(255);
  let a = 1n;
  let b = 0n;
  for (const byte of bytes) {
    a = (a + BigInt(byte)) % 65_521n;
    b = (b + a) % 65_521n;
  }
  expect(BigInt(adler32(bytes))).toBe((b << 16n) | a);
});
