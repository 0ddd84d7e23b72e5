import { createHash } from "node:crypto";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { mergeRanges } from "../../src/util/byte-range.ts";
import { fromBase64, toBase64 } from "../../src/util/bytes.ts";
import { crc32, crc32OfBoth, sliced } from "../../src/util/crc32.ts";
import { hasher } from "../../src/util/hash.ts";
import { parseDecimal, parseInteger } from "../../src/util/numbers.ts";
import { Sha256 } from "../../src/util/sha256.ts";
import { smallFloats } from "../../src/util/small-floats.ts";

describe("Base64", () => {
  it("is the standard alphabet with padding", () => {
    const bytes = Uint8Array.of(0, 255, 254, 251, 240);
    expect(toBase64(bytes)).toBe(Buffer.from(bytes).toString("base64"));
    expect(fromBase64("AP/++/A=")).toEqual(bytes);
    expect(fromBase64("")).toEqual(new Uint8Array(0));
    for (const text of ["AP/++/A", "AP_--_A=", "A===", " AAA=", "AA=A", "!!!!"])
      expect(fromBase64(text), text).toBeUndefined();
  });

  it("may be long", { tags: ["slow"] }, () => {
    expect(fromBase64("A".repeat(2 ** 20))).toHaveLength(3 * 2 ** 18);
    expect(fromBase64(`${"A".repeat(2 ** 24)}!AAA`)).toBeUndefined();
  });
});

describe("CRC-32", () => {
  it.each([
    ["of the platform", crc32],
    ["in JavaScript", (bytes: Uint8Array, seed = 0) => sliced(bytes, seed)],
  ])("%s goes on from a seed, wherever the bytes are cut and however they are aligned", (_, crc) => {
    expect(crc(new TextEncoder().encode("123456789"))).toBe(0xcbf43926);
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 60 }), fc.nat(60), (bytes, cut) => {
        const inTwo = crc(bytes.subarray(cut), crc(bytes.subarray(0, cut)));
        return inTwo === bitwise(bytes) && crc(bytes) === inTwo;
      }),
    );
  });

  it("of two parts is joined", () => {
    const part = fc.uint8Array({ maxLength: 3000 });
    fc.assert(
      fc.property(part, part, (a, b) => {
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
});

describe("SHA-256", () => {
  it("of our own is that of Node, however the bytes are cut", async () => {
    const newHash = await hasher();
    fc.assert(
      fc.property(fc.array(fc.uint8Array({ maxLength: 200 })), (pieces) => {
        const [ours, nodes, reference] = [new Sha256(), newHash(), createHash("sha256")];
        for (const piece of pieces) for (const hash of [ours, nodes, reference]) hash.update(piece);
        const expected = reference.digest("hex");
        for (const hash of [ours, nodes]) expect(Buffer.from(hash.digest()).toString("hex")).toBe(expected);
      }),
    );
  });

  it("takes text as UTF-8", () => {
    const expected = createHash("sha256").update("Grüße").digest();
    expect(new Sha256().update("Grüße").digest()).toEqual(new Uint8Array(expected));
  });
});

describe("float16", () => {
  const { toBits: toFloat16Bits, fromBits: fromFloat16Bits } = smallFloats(10);

  it("gives every value back", () => {
    const all = Array.from({ length: 0x10000 }, (_, bits) => bits);
    const numbers = all.filter((bits) => !Number.isNaN(fromFloat16Bits(bits)));
    expect(numbers).toHaveLength(0x10000 - 2 * 1023);
    expect(numbers.filter((bits) => toFloat16Bits(fromFloat16Bits(bits)) !== bits)).toEqual([]);
    expect(fromFloat16Bits(0x7e01)).toBeNaN();
    expect(fromFloat16Bits(0xfc00)).toBe(Number.NEGATIVE_INFINITY);
  });

  it.each([
    [0.1, 0x2e66],
    [1, 0x3c00],
    [65504, 0x7bff],
    [65519.99, 0x7bff],
    [65520, 0x7c00],
    [-1e10, 0xfc00],
    [2 ** -24, 0x0001],
    [2 ** -25, 0x0000],
    [2 ** -25 * 1.0001, 0x0001],
    [3 * 2 ** -25, 0x0002],
    [2 ** -14, 0x0400],
    [1023.5 * 2 ** -24, 0x0400],
    [Number.NaN, 0x7e00],
    [Number.POSITIVE_INFINITY, 0x7c00],
    [-0, 0x8000],
    // Halfway between neighbors: to the even one.
    [1 + 2 ** -11, 0x3c00],
    [1 + 3 * 2 ** -11, 0x3c02],
    [1 + 2 ** -11 + 2 ** -30, 0x3c01],
    [2047.5 * 2, 0x6c00],
  ])("of %d", (value, bits) => expect(toFloat16Bits(value)).toBe(bits));
});

describe("decimal numbers", () => {
  it.each([
    ["0", { negative: false, digits: "", exponent: 0 }],
    ["-0.00e5", { negative: true, digits: "", exponent: 0 }],
    ["120", { negative: false, digits: "12", exponent: 1 }],
    ["-0.0120E+3", { negative: true, digits: "12", exponent: 0 }],
  ])("%s", (token, decimal) => expect(parseDecimal(token)).toEqual(decimal));

  it.each([
    ["18446744073709551615", 18446744073709551615n],
    ["-9223372036854775808", -9223372036854775808n],
    ["1.0", 1n],
    ["1.5e1", 15n],
    ["-0", 0n],
  ])("%s is the integer %s", (token, value) => expect(parseInteger(token)).toBe(value));

  it.each(["1.5", "1e-1", "1e21", "1e999999999", `1${"0".repeat(30)}`])(
    "%s is no integer, or too long",
    (token) => expect(parseInteger(token)).toBeUndefined(),
  );

  it("take a time that grows with the digits, also over hostile ones", () => {
    expect(parseDecimal(`1${"0".repeat(1_000_000)}1`).digits).toHaveLength(1_000_002);
    expect(parseInteger(`${"0".repeat(1_000_000)}1`)).toBe(1n);
  });
});

describe("ranges", () => {
  const at = (offset: number, length: number) => ({ range: { offset, length } });
  const read = (...args: Parameters<typeof mergeRanges>) =>
    mergeRanges(...args)
      .map(({ offset, length, parts }) => `${parts.length} in ${offset}+${length}`)
      .join();

  it("are merged where they are near, in the order in which they lie, also where they overlap", () => {
    expect(read([at(70, 10), at(0, 30), at(20, 5), at(60, 5)], { mostBetween: 30 })).toBe("4 in 0+80");
    expect(read([at(70, 10), at(0, 30)], { mostBetween: 39 })).toBe("1 in 0+30,1 in 70+10");
    expect(read([])).toBe("");
  });

  it("are read no more together than they may, but alone where they are asked for so", () => {
    expect(read([at(0, 100), at(100, 10), at(110, 10)], { mostTogether: 20 })).toBe("1 in 0+100,2 in 100+20");
    const fits = (parts: readonly unknown[], length: number) => parts.length * length <= 4;
    expect(read([at(0, 1), at(1, 1), at(2, 1)], { fits })).toBe("2 in 0+2,1 in 2+1");
  });
});
