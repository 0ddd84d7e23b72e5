// @module-tag slow
import { describe, expect, test } from "vitest";
import { decodeBz2 } from "../../../../src/codecs/bytes-to-bytes/bz2/decode.ts";
import { encodeBz2, maxBz2Size } from "../../../../src/codecs/bytes-to-bytes/bz2/encode.ts";
import { errorOf, expectSame, guarded, randomNumbers } from "../../support.ts";
import { hardInputs, SAMPLE } from "../lz-sample.ts";

function roundTrip(bytes: Uint8Array, level: number): number {
  const { bytes: target, check } = guarded(maxBz2Size(bytes.length));
  const size = encodeBz2(bytes, target, level);
  check();
  const decoded = new Uint8Array(bytes.length);
  expect(decodeBz2(target.subarray(0, size), decoded)).toBe(bytes.length);
  expectSame(decoded, bytes);
  return size;
}

test.each([1, 2, 3, 4, 5, 6, 7, 8, 9])("level %i", (level) => {
  for (const length of [0, 1, 2, 3, 4, 5, 6, 900]) roundTrip(SAMPLE.subarray(0, length), level);
});

test.each([1, 2])("noise around the block of level %i", (level) => {
  const block = 100_000 * level - 19;
  const random = randomNumbers(level);
  const noise = Uint8Array.from({ length: block + 1 }, () => random(256));
  for (const length of [block - 5, block - 4, block, block + 1]) roundTrip(noise.subarray(0, length), level);
});

describe.each(hardInputs(130_000))("%s", (name, bytes) => {
  test("comes back, in a time that is bounded", { timeout: 20_000 }, () => {
    const size = roundTrip(bytes, 1);
    expect(size).toBeLessThan(name === "noise" ? bytes.length * 1.012 : bytes.length);
  });

  test("in short", () => {
    for (let length = 1; length < 1200; length += 61) roundTrip(bytes.subarray(0, length), 1);
  });
});

test("runs around the lengths that the format counts", () => {
  for (const run of [3, 4, 5, 254, 255, 256, 259, 260, 510, 511]) {
    roundTrip(new Uint8Array(run), 1);
    roundTrip(
      Uint8Array.from({ length: 3 * run + 1 }, (_, i) => Math.floor(i / run)),
      1,
    );
  }
});

test("a run across two blocks", () => {
  const bytes = Uint8Array.from({ length: 101_000 }, (_, i) => (i < 99_960 ? (i * i) >> 3 : 7));
  roundTrip(bytes, 1);
});

test("the bytes of an empty value are those of the reference", () => {
  const target = new Uint8Array(maxBz2Size(0));
  const size = encodeBz2(new Uint8Array(0), target, 9);
  expect(Buffer.from(target.subarray(0, size)).toString("hex")).toBe("425a683917724538509000000000");
});

test("a target that is too small", async () => {
  await errorOf(() => encodeBz2(SAMPLE, new Uint8Array(100), 1), "codec-error");
});
