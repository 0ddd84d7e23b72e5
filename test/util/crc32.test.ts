import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { crc32, crc32OfBoth, sliced } from "../../src/util/crc32.ts";

const check = new TextEncoder().encode("123456789");

describe.each([
  ["crc32", crc32],
  ["in JavaScript", (bytes: Uint8Array, seed = 0) => sliced(bytes, seed)],
])("%s", (_, crc) => {
  it("gives the check value of the algorithm, and 0 for nothing", () => {
    expect(crc(check)).toBe(0xcbf43926);
    expect(crc(new Uint8Array(0))).toBe(0);
  });

  it("goes on from a seed, wherever the bytes are cut and however they are aligned", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 60 }), fc.nat(60), (bytes, cut) => {
        const inTwo = crc(bytes.subarray(cut), crc(bytes.subarray(0, cut)));
        return inTwo === bitwise(bytes) && crc(bytes) === inTwo;
      }),
    );
  });
});

it("crc32OfBoth joins the checksums of two parts", () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 3000 }), fc.uint8Array({ maxLength: 3000 }), (a, b) => {
      return crc32OfBoth(crc32(a), crc32(b), b.length) === crc32(Uint8Array.from([...a, ...b]));
    }),
  );
});

/** The definition, bit by bit. */
function bitwise(bytes: Uint8Array): number {
  let crc = 0xffffffff;
  for (const byte of bytes) {
    crc ^= byte;
    for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? (crc >>> 1) ^ 0xedb88320 : crc >>> 1;
  }
  return (crc ^ 0xffffffff) >>> 0;
}
