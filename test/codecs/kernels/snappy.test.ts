import { expect, test } from "vitest";
import { snappyDecode, snappyEncode } from "../../../src/codecs/kernels/snappy.ts";
import { testLz } from "./lz-suite.ts";

testLz(snappyEncode, snappyDecode, (size) => 32 + size + Math.ceil(size / 6));

test("reads literals and copies of all three kinds", () => {
  const stream = Uint8Array.of(
    ...[18, 3 << 2, 0x61, 0x62, 0x63, 0x64],
    ...[(0 << 5) | (1 << 2) | 1, 4],
    ...[(3 << 2) | 2, 2, 0],
    ...[(4 << 2) | 3, 1, 0, 0, 0],
  );
  const target = new Uint8Array(18);
  expect(snappyDecode(stream, 0, stream.length, target, 0, 18)).toBe(18);
  expect(Buffer.from(target).toString()).toBe("abcdabcdadadaaaaaa");
});

test("refuses a stated size that the elements do not give", () => {
  const target = new Uint8Array(10);
  expect(snappyDecode(Uint8Array.of(5, 3 << 2, 1, 2, 3, 4), 0, 6, target, 0, 10)).toBe(-1);
  expect(snappyDecode(Uint8Array.of(0xff, 0xff, 0xff, 0xff, 0xff, 1), 0, 6, target, 0, 10)).toBe(-1);
});
