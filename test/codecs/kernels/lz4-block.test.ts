import { describe, expect, test } from "vitest";
import { lz4Decode, lz4Encode, lz4MaxEncodedSize } from "../../../src/codecs/kernels/lz4-block.ts";
import { testLz } from "./lz-suite.ts";

describe.each([1, 5, 100])("lz4 with acceleration %i", (acceleration) => {
  testLz((...place) => lz4Encode(...place, acceleration), lz4Decode, lz4MaxEncodedSize);
});

test("reads a block by the book", () => {
  // Literals "ab", a match of 6 bytes 2 back, then the literals "xyzzy".
  const block = Uint8Array.of(0x22, 0x61, 0x62, 2, 0, 0x50, 0x78, 0x79, 0x7a, 0x7a, 0x79);
  const target = new Uint8Array(13);
  expect(lz4Decode(block, 0, block.length, target, 0, 13)).toBe(13);
  expect(Buffer.from(target).toString()).toBe("ababababxyzzy");
});

test("refuses distances of 0 and before the begin", () => {
  const target = new Uint8Array(20);
  for (const distance of [0, 3]) {
    const block = Uint8Array.of(0x22, 0x61, 0x62, distance, 0, 0x50, 1, 2, 3, 4, 5);
    expect(lz4Decode(block, 0, block.length, target, 0, 20)).toBe(-1);
  }
});

test("an empty block is one token", () => {
  const target = new Uint8Array(16);
  expect(lz4Encode(target, 0, 0, target, 0, 16, 1)).toBe(1);
  expect(lz4Decode(target, 0, 1, target, 1, 1)).toBe(0);
});
