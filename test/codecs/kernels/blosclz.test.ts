import { expect, test } from "vitest";
import { blosclzDecode, blosclzEncode } from "../../../src/codecs/kernels/blosclz.ts";
import { testLz } from "./lz-suite.ts";

testLz(blosclzEncode, blosclzDecode, (size) => size + Math.ceil(size / 32) + 16);

test("reads a stream by the book", () => {
  // Two literals, a match of 7 bytes 2 back, two literals.
  const stream = Uint8Array.of(0x21, 0x61, 0x62, 5 << 5, 1, 1, 0x78, 0x79);
  const target = new Uint8Array(11);
  expect(blosclzDecode(stream, 0, stream.length, target, 0, 11)).toBe(11);
  expect(Buffer.from(target).toString()).toBe("ababababaxy");
});
