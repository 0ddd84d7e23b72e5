// @module-tag slow
import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../../../src/util/json-value.ts";
import { errorOf, expectSame, randomNumbers } from "../../support.ts";
import { hardInputs, SAMPLE } from "../lz-sample.ts";
import { decode, encode, lzma } from "./support.ts";
import { LZMA1 } from "./vectors.ts";

const CONFIGURATIONS: readonly JsonObject[] = [
  {},
  { preset: 0, check: 0 },
  { preset: 9, check: 10 },
  { check: 1, filters: [{ id: 3, dist: 4 }, { id: 3 }, { id: 33, lc: 0, lp: 4, pb: 4, dict_size: 4096 }] },
  { format: 2 },
  { format: 2, filters: [{ id: LZMA1, lc: 4, lp: 0, pb: 0, preset: 2 }] },
  { format: 3, filters: [{ id: 33 }] },
  {
    format: 3,
    filters: [
      { id: 3, dist: 256 },
      { id: 33, dict_size: 5000 },
    ],
  },
  {
    format: 3,
    filters: [
      { id: 3, dist: 2 },
      { id: LZMA1, lc: 1, lp: 2, pb: 3 },
    ],
  },
];

function roundTrip(bytes: Uint8Array, configuration: JsonObject): number {
  const encoded = encode(bytes, configuration);
  expectSame(decode(encoded, bytes.length, configuration), bytes);
  return encoded.length;
}

describe.each(CONFIGURATIONS.map((one) => [JSON.stringify(one), one] as const))("%s", (_, configuration) => {
  test("short values", () => {
    for (let length = 0; length <= 40; length++) roundTrip(SAMPLE.subarray(0, length), configuration);
    roundTrip(SAMPLE, configuration);
  });

  test("what is hard", () => {
    for (const [name, bytes] of hardInputs(20_000)) {
      const size = roundTrip(bytes, configuration);
      if (name !== "noise") expect(size, name).toBeLessThan(bytes.length);
    }
  });
});

test("noise, and what compresses between it, in chunks", () => {
  const random = randomNumbers(6);
  const bytes = Uint8Array.from({ length: 400_000 }, (_, i) =>
    i % 150_000 < 90_000 ? random(256) : (i >> 3) & 0xff,
  );
  const size = roundTrip(bytes, {});
  expect(size).toBeLessThan(290_000);
  const noise = bytes.subarray(0, 90_000);
  expect(roundTrip(noise, {})).toBeLessThan(noise.length + 200);
});

test("more than the largest chunk of LZMA2, and than the dictionary", { timeout: 20_000 }, () => {
  const bytes = Uint8Array.from({ length: 4_500_000 }, (_, i) => i >> 12);
  const small: JsonObject = { filters: [{ id: 33, dict_size: 4096 }] };
  for (const configuration of [{}, small]) roundTrip(bytes, configuration);
});

test("what a format cannot have is refused when it is written, not when it is read", async () => {
  const cases: [JsonObject, RegExp][] = [
    [{ format: 0 }, /only for reading/],
    [{ check: 2 }, /check/],
    [{ format: 2, check: 4 }, /stores a check/],
    [{ filters: [{ id: LZMA1 }] }, /LZMA2 only/],
    [{ format: 2, filters: [{ id: 33 }] }, /LZMA1/],
    [{ format: 2, filters: [{ id: 3 }, { id: LZMA1 }] }, /LZMA1/],
  ];
  for (const [configuration, reason] of cases) {
    const error = await errorOf(() => encode(SAMPLE, configuration), "codec-error");
    expect(error.message).toMatch(reason);
    const stored = encode(SAMPLE, configuration.format === 2 ? { format: 2 } : {});
    expectSame(decode(stored, SAMPLE.length, configuration), SAMPLE);
  }
});

test("a target that is too small", async () => {
  for (const configuration of CONFIGURATIONS) {
    for (const size of [0, 1, 20, 100]) {
      await errorOf(() => lzma(configuration).encodeInto(SAMPLE, new Uint8Array(size)), "codec-error");
    }
  }
});
