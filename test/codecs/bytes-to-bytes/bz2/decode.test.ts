// @module-tag slow
import { describe, expect, test } from "vitest";
import { decodeBz2 } from "../../../../src/codecs/bytes-to-bytes/bz2/decode.ts";
import { encodeBz2, maxBz2Size } from "../../../../src/codecs/bytes-to-bytes/bz2/encode.ts";
import { isOverrun } from "../../../../src/codecs/failures.ts";
import { errorOf, expectSame, guarded, randomNumbers } from "../../support.ts";
import { SAMPLE } from "../lz-sample.ts";
import { BZ2_VECTORS } from "./vectors.ts";

const vectors = BZ2_VECTORS.map(
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
  const target = new Uint8Array(maxBz2Size(source.length));
  return target.subarray(0, encodeBz2(source, target, level));
}

describe.each(vectors)("bzip2 of others: %s", (_, vector) => {
  test("decodes", () => {
    expectSame(decode(vector), SAMPLE);
    expectSame(decode(vector, 5000), SAMPLE);
  });

  test("is refused when cut anywhere, but between streams", async () => {
    for (let length = 0; length < vector.length; length++) {
      const cut = vector.subarray(0, length);
      const isStreamEnd =
        length > 4 && "BZh".startsWith(String.fromCharCode(...vector.subarray(length, length + 3)));
      if (isStreamEnd) expect(decode(cut).length).toBeLessThan(SAMPLE.length);
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

  test("overruns a target that is too small by a byte", async () => {
    const error = await errorOf(() => decode(vector, SAMPLE.length - 1), "corrupt-chunk");
    expect(isOverrun(error)).toBe(true);
  });
});

test("several blocks of a level", () => {
  const random = randomNumbers(3);
  const bytes = Uint8Array.from({ length: 250_000 }, () => random(7));
  expectSame(decode(encode(bytes), bytes.length), bytes);
});

test("a block that is larger than the target stops at once", async () => {
  const random = randomNumbers(3);
  const encoded = encode(Uint8Array.from({ length: 99_000 }, () => random(256)));
  const error = await errorOf(() => decode(encoded, 1000), "corrupt-chunk");
  expect(isOverrun(error)).toBe(true);
  expect(isOverrun(await errorOf(() => decode(encode(new Uint8Array(10_000_000)), 1000)))).toBe(true);
  expect(isOverrun(await errorOf(() => decode(first, 0)))).toBe(true);
});

test("what is refused says why", async () => {
  const changed = (at: number, byte: number) => first.with(at, byte);
  const reasons: [Uint8Array, RegExp][] = [
    [new Uint8Array(0), /no bzip2 stream/],
    [changed(0, 0x50), /not bzip2 data/],
    [changed(3, 0x30), /level of a bzip2 stream/],
    [changed(4, 0), /no header/],
    [changed(10, (first[10] ?? 0) ^ 1), /checksum of a bzip2 block differs/],
    [changed(first.length - 2, (first.at(-2) ?? 0) ^ 1), /checksum of a bzip2 stream differs/],
    [Uint8Array.from([...first, 0]), /bytes follow/],
    [first.subarray(0, 60), /truncated/],
  ];
  for (const [bytes, reason] of reasons) {
    expect((await errorOf(() => decode(bytes), "corrupt-chunk")).message).toMatch(reason);
  }
  const randomised = changed(14, (first[14] ?? 0) | 0x80);
  const error = await errorOf(() => decode(randomised), "codec-error");
  expect(error.message).toMatch(/randomised/);
  expect(error.details.hint).toBeTruthy();
});

test("noise in place of a block ends, whatever it says", async () => {
  const random = randomNumbers(8);
  for (let round = 0; round < 300; round++) {
    const noise = Uint8Array.from({ length: 400 }, () => random(256));
    noise.set(first.subarray(0, 14 + (round % 40)));
    await errorOf(() => decode(noise), "corrupt-chunk", "codec-error");
  }
});
