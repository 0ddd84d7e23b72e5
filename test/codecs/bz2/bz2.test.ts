// @module-tag slow
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { sortBlock, sortSuffixes } from "../../../src/codecs/bz2/block-sort.ts";
import { decodeBz2, encodeBz2, maxBz2Size } from "../../../src/codecs/bz2/codec.ts";
import { codeLengths } from "../../../src/codecs/bz2/write-block.ts";
import { isOverrun } from "../../../src/codecs/limits.ts";
import { hardInputs, SAMPLE } from "../lz-sample.ts";
import { errorOf, expectSame, guarded, randomNumbers } from "../support.ts";

/** What Python's `bz2` made of `SAMPLE`, at level 1; at other levels the fourth byte alone differs. */
const VECTORS = {
  "one stream":
    "QlpoMTFBWSZTWRRSPOQAAAn////oK12lJmCchgTB+pK5EaIKaqAoUCc2gEklCUK1QhAqsAC5sOAAyAAGgAANAAAAZDRoPUaYCZqEKgAAAA0AANABo0BoNAPUAGgABFUCEAANAGgABoAAyNAGgaAAASlDuhEBiUIxCRQlKEtQigkkQWBQiQWBQzcmWgtpGIRzEFhUJgK38KgLBABFEIgFksiQWQgF3QSSShNh1rhx6FrDYioQV5fLN0xLjvh9soZb6uGkgGO3kG5MsQkvEVtFw8uo7r6kxRB4PQM7iUQK8zwGFlJ542PzxCZMTOCacoggOX+RNSRU0ChrCEJhVV11Qu/4u5IpwoSAopHnIA==",
  "two streams":
    "QlpoMTFBWSZTWRaxF6UAAAN///9gKEABBCAQAATBGgCYESIAAIAoACAmAAghAQIQAAAgIAB0GkgNAAAAaNB6mgiqGQhoaAGTQZDQJx0SiBMsBiM40DNBEisqJIsRCQbXgQDQJ4EAgEkEAgEtERcruvP1e6bTVsaeLNuVH50rtUPXbGesP75juH4u5IpwoSAtYi9KQlpoOTFBWSZTWSXxaY8AAMF///+oAx2kIkCMhgSA6pIhAYAKaiAIUAcQgEEFCEClQhAKoACSGTRoAGg0B6QZANHqbRGCPJpknigkpJkaAAAAAAAAAAA9QmAANAngJtCcQnok44CBgJwEDAViq+SQRGwTqSBiE6IRyaQoCSBiFhstGBaoHZI5q6+AwThEC44QtoSIeMbSwxtUeuz3uV5+3tpmOY88v3WRJifP3foOBWhBaDHjKiwoAqVJSBV3+LuSKcKEgS+LTHg=",
  "an empty stream, then one":
    "QlpoORdyRThQkAAAAABCWmgzMUFZJlNZFFI85AAACf///+grXaUmYJyGBMH6krkRogpqoChQJzaASSUJQrVCECqwALmw4ADIAAaAAA0AAABkNGg9RpgJmoQqAAAADQAA0AGjQGg0A9QAaAAEVQIQAA0AaAAGgADI0AaBoAABKUO6EQGJQjEJFCUoS1CKCSRBYFCJBYFDNyZaC2kYhHMQWFQmArfwqAsEAEUQiAWSyJBZCAXdBJJKE2HWuHHoWsNiKhBXl8s3TEuO+H2yhlvq4aSAY7eQbkyxCS8RW0XDy6juvqTFEHg9AzuJRArzPAYWUnnjY/PEJkxM4JpyiCA5f5E1JFTQKGsIQmFVXXVC7/i7kinChICikecg",
};
const vectors = Object.entries(VECTORS).map(
  ([name, base64]) => [name, Uint8Array.from(Buffer.from(base64, "base64"))] as const,
);
const [[, first] = ["", new Uint8Array(0)]] = vectors;

function decode(source: Uint8Array, size = SAMPLE.length): Uint8Array {
  const { bytes, check } = guarded(size);
  try {
    return bytes.slice(0, decodeBz2(source, bytes));
  } finally {
    check();
  }
}

function encode(source: Uint8Array, level = 1): Uint8Array {
  const { bytes, check } = guarded(maxBz2Size(source.length));
  const size = encodeBz2(source, bytes, level);
  check();
  return bytes.slice(0, size);
}

function roundTrip(bytes: Uint8Array, level = 1): number {
  const encoded = encode(bytes, level);
  expectSame(decode(encoded, bytes.length), bytes);
  return encoded.length;
}

describe.each(vectors)("bzip2 of others: %s", (_, vector) => {
  test("decodes, and overruns a target that is too small by a byte", async () => {
    expectSame(decode(vector), SAMPLE);
    expectSame(decode(vector, 5000), SAMPLE);
    expect(isOverrun(await errorOf(() => decode(vector, SAMPLE.length - 1), "corrupt-chunk"))).toBe(true);
  });

  test("is refused when cut anywhere, but between streams", async () => {
    for (let length = 0; length < vector.length; length++) {
      const cut = vector.subarray(0, length);
      const next = String.fromCharCode(...vector.subarray(length, length + 3));
      if (length > 4 && "BZh".startsWith(next)) expect(decode(cut).length).toBeLessThan(SAMPLE.length);
      else await errorOf(() => decode(cut), "corrupt-chunk");
    }
  });

  test("is refused with any bit changed, but in its level and in the padding", async () => {
    for (let bit = 0; bit < 8 * vector.length; bit++) {
      const changed = vector.slice();
      changed[bit >> 3] = (changed[bit >> 3] ?? 0) ^ (128 >> (bit & 7));
      let decoded: Uint8Array;
      try {
        decoded = decode(changed);
      } catch (error) {
        await errorOf(() => Promise.reject(error), "corrupt-chunk", "codec-error");
        continue;
      }
      expectSame(decoded, SAMPLE);
    }
  });
});

test("a block that is larger than the target stops at once", async () => {
  const random = randomNumbers(3);
  const noise = encode(Uint8Array.from({ length: 99_000 }, () => random(256)));
  for (const source of [noise, encode(new Uint8Array(1e7)), first])
    expect(isOverrun(await errorOf(() => decode(source, source === first ? 0 : 1000)))).toBe(true);
});

test("what is refused says why", async () => {
  const changed = (at: number, byte: number) => first.with(at, byte);
  for (const [bytes, reason] of [
    [new Uint8Array(0), /no bzip2 stream/],
    [changed(0, 0x50), /not bzip2 data/],
    [changed(3, 0x30), /level of a bzip2 stream/],
    [changed(4, 0), /no header/],
    [changed(10, (first[10] ?? 0) ^ 1), /checksum of a bzip2 block differs/],
    [changed(first.length - 2, (first.at(-2) ?? 0) ^ 1), /checksum of a bzip2 stream differs/],
    [Uint8Array.from([...first, 0]), /bytes follow/],
    [first.subarray(0, 60), /truncated/],
  ] as const) {
    expect((await errorOf(() => decode(bytes), "corrupt-chunk")).message).toMatch(reason);
  }
  const randomized = await errorOf(() => decode(changed(14, (first[14] ?? 0) | 0x80)), "codec-error");
  expect(randomized.message).toMatch(/randomized/);
  expect(randomized.details.hint).toBeTruthy();
});

test("noise in place of a block ends, whatever it says", async () => {
  const random = randomNumbers(8);
  for (let round = 0; round < 300; round++) {
    const noise = Uint8Array.from({ length: 400 }, () => random(256));
    noise.set(first.subarray(0, 14 + (round % 40)));
    await errorOf(() => decode(noise), "corrupt-chunk", "codec-error");
  }
});

test.each([1, 2, 3, 4, 5, 6, 7, 8, 9])("level %i", (level) => {
  for (const length of [0, 1, 2, 3, 4, 5, 6, 900]) roundTrip(SAMPLE.subarray(0, length), level);
  expectSame(decode(first.with(3, 0x30 + level)), SAMPLE);
});

test("noise around the blocks of a level, several blocks, and a run across two", () => {
  for (const level of [1, 2]) {
    const block = 100_000 * level - 19;
    const random = randomNumbers(level);
    const noise = Uint8Array.from({ length: block + 1 }, () => random(256));
    for (const length of [block - 5, block - 4, block, block + 1])
      roundTrip(noise.subarray(0, length), level);
  }
  roundTrip(Uint8Array.from({ length: 250_000 }, (_, i) => (i * i) % 7));
  roundTrip(Uint8Array.from({ length: 101_000 }, (_, i) => (i < 99_960 ? (i * i) >> 3 : 7)));
});

test.each(hardInputs(130_000))("%s", { timeout: 20_000 }, (name, bytes) => {
  expect(roundTrip(bytes)).toBeLessThan(name === "noise" ? bytes.length * 1.012 : bytes.length);
  for (let length = 1; length < 1200; length += 61) roundTrip(bytes.subarray(0, length));
});

test("runs around the lengths that the format counts", () => {
  for (const run of [3, 4, 5, 254, 255, 256, 259, 260, 510, 511]) {
    roundTrip(new Uint8Array(run));
    roundTrip(Uint8Array.from({ length: 3 * run + 1 }, (_, i) => Math.floor(i / run)));
  }
});

test("no bytes give those of the reference, and a target that is too small is refused", async () => {
  expect(Buffer.from(encode(new Uint8Array(0), 9)).toString("hex")).toBe("425a683917724538509000000000");
  await errorOf(() => encodeBz2(SAMPLE, new Uint8Array(100), 1), "codec-error");
});

test("a block is sorted as comparing its rotations sorts it", () => {
  const check = (block: Uint8Array): void => {
    const column = new Uint8Array(block.length);
    const origin = sortBlock(block, new Int32Array(block.length), column);
    const rows = Array.from(block, (_, i) => Buffer.concat([block.subarray(i), block.subarray(0, i)]));
    rows.sort(Buffer.compare);
    expectSame(
      column,
      Uint8Array.from(rows, (row) => row.at(-1) ?? 0),
    );
    expectSame(rows[origin], block);
  };
  for (const [, bytes] of hardInputs(300)) {
    for (const length of [1, 2, 3, 4, 7, 12, 60, 299, 300]) check(bytes.subarray(0, length));
  }
  const letters = fc.uint8Array({ minLength: 1, maxLength: 60, max: 2 });
  const bytes = fc.uint8Array({ minLength: 1, maxLength: 60 });
  const periodic = fc
    .tuple(letters, fc.integer({ min: 1, max: 5 }))
    .map(([unit, times]) => Uint8Array.from(new Array(times).fill([...unit]).flat()));
  fc.assert(fc.property(fc.oneof(letters, bytes, periodic), check), { numRuns: 300 });
});

test("suffixes of numbers are sorted as those of texts", () => {
  fc.assert(
    fc.property(fc.array(fc.nat(400), { maxLength: 80 }), (numbers) => {
      const order = new Int32Array(numbers.length);
      sortSuffixes(Int32Array.from(numbers), 401, order);
      const suffix = (start: number) => String.fromCharCode(...numbers.slice(start));
      const expected = [...numbers.keys()].sort((a, b) => (suffix(a) < suffix(b) ? -1 : 1));
      expect([...order]).toEqual(expected);
    }),
    { numRuns: 300 },
  );
});

test("codes fill their tree, and are no longer than 17 bits", () => {
  const lengthsOf = (counts: readonly number[]): number[] => {
    const lengths = new Uint8Array(counts.length);
    codeLengths(Int32Array.from(counts), lengths);
    return [...lengths];
  };
  fc.assert(
    fc.property(fc.array(fc.nat(900_000), { minLength: 2, maxLength: 258 }), (counts) => {
      const lengths = lengthsOf(counts);
      expect(lengths.reduce((sum, length) => sum + 2 ** -length, 0)).toBe(1);
      expect(Math.max(...lengths)).toBeLessThanOrEqual(17);
      for (const [a, count] of counts.entries()) {
        for (const [b, other] of counts.entries()) {
          if (count > 2 * other + 2) expect(lengths[a]).toBeLessThanOrEqual(lengths[b] ?? 0);
        }
      }
    }),
    { numRuns: 40 },
  );
  expect(lengthsOf([5, 9, 12, 13, 16, 45])).toEqual([4, 4, 3, 3, 3, 1]);
  // counts whose codes would have 29 bits
  const doubling = Array.from({ length: 30 }, (_, i) => 2 ** Math.max(1, i - 9));
  expect(Math.max(...lengthsOf(doubling))).toBeLessThanOrEqual(17);
  const fibonacci = [1, 1];
  while (fibonacci.length < 28) fibonacci.push((fibonacci.at(-1) ?? 0) + (fibonacci.at(-2) ?? 0));
  expect(Math.max(...lengthsOf(fibonacci))).toBe(17);
});
