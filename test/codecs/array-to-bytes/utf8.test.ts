// @module-tag slow
// @module-tag sampled
import fc from "fast-check";
import { expect, test } from "vitest";
import { isUtf8 } from "../../../src/codecs/array-to-bytes/utf8.ts";
import { samples } from "../../support/samples.ts";

const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

test("agrees with the runtime on bytes that are nearly text", () => {
  const piece = fc.oneof(
    fc.string({ unit: "binary" }).map((string) => [...new TextEncoder().encode(string)]),
    fc.constantFrom([0xc0, 0x80], [0xe0, 0x80, 0x80], [0xed, 0xa0, 0x80], [0xf4, 0x90, 0x80, 0x80], [0xf5]),
    fc.array(fc.constantFrom(0x41, 0x7f, 0x80, 0xbf, 0xc2, 0xe1, 0xef, 0xf0, 0xf3, 0xf4), { maxLength: 4 }),
  );
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 6 }), (pieces) => {
      const bytes = Uint8Array.from(pieces.flat());
      expect(isUtf8(bytes, 0, bytes.length)).toBe(isText(bytes));
    }),
    { numRuns: samples(2000) },
  );
});

test("looks at the stated part alone", () => {
  const bytes = Uint8Array.of(0xff, 0x61, 0xc3, 0xa9, 0xff);
  expect(isUtf8(bytes, 1, 4)).toBe(true);
  expect(isUtf8(bytes, 1, 3)).toBe(false);
  expect(isUtf8(bytes, 1, 5)).toBe(false);
});

function isText(bytes: Uint8Array): boolean {
  try {
    decoder.decode(bytes);
    return true;
  } catch {
    return false;
  }
}
