import { expect, test } from "vitest";
import { randomNumbers } from "../support.ts";
import { crc32c } from "./plain-crc32c.ts";

test.each([
  ["", 0],
  ["a", 0xc1d0_4330],
  ["123456789", 0xe306_9283],
])("of %j", (text, crc) => expect(crc32c(new TextEncoder().encode(text))).toBe(crc));

test("equals the bit by bit definition at every length and place", () => {
  const random = randomNumbers(2);
  for (let length = 0; length < 70; length++) {
    const bytes = Uint8Array.from({ length }, () => random(256)).subarray(length % 3);
    let crc = -1;
    for (const byte of bytes) {
      crc ^= byte;
      for (let bit = 0; bit < 8; bit++) crc = (crc >>> 1) ^ (crc & 1 ? 0x82f6_3b78 : 0);
    }
    expect(crc32c(bytes)).toBe(~crc >>> 0);
  }
});
