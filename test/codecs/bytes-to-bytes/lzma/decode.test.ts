// @module-tag sampled
// @module-tag slow
import { describe, expect, test } from "vitest";
import { LzmaEncoder } from "../../../../src/codecs/bytes-to-bytes/lzma/lzma-encoder.ts";
import { ALONE_HEADER_SIZE } from "../../../../src/codecs/bytes-to-bytes/lzma/lzma1.ts";
import { RangeEncoder } from "../../../../src/codecs/bytes-to-bytes/lzma/range-encoder.ts";
import { isOverrun } from "../../../../src/codecs/failures.ts";
import type { JsonObject } from "../../../../src/util/json-value.ts";
import { sampledBelow } from "../../../support/samples.ts";
import { errorOf, expectSame, randomNumbers } from "../../support.ts";
import { SAMPLE } from "../lz-sample.ts";
import { decode, encode } from "./support.ts";
import { LZMA_VECTORS } from "./vectors.ts";

const vectors = LZMA_VECTORS.map(
  ([name, configuration, base64]) =>
    [name, configuration, Uint8Array.from(Buffer.from(base64, "base64"))] as const,
);
const vector = (wanted: string) =>
  vectors.find(([name]) => name === wanted)?.[2].slice() ?? expect.fail(`there is no ${wanted}`);
const REFUSALS = ["corrupt-chunk", "codec-error", "unsupported-codec"] as const;

// With each of the checks of V1-33, and by each of the formats of V1-32.
describe.each(vectors)("LZMA of others: %s", (name, configuration, bytes) => {
  const hasStreams = name.includes("streams");
  const isChecked = name.includes("xz") && !name.includes("no check");

  test("decodes to the sample", () => {
    expectSame(decode(bytes, SAMPLE.length, configuration), SAMPLE);
    expectSame(decode(bytes, 5000, configuration), SAMPLE);
  });

  test("is refused when cut anywhere, but between streams", async () => {
    let whole = 0;
    for (let length = 0; length < bytes.length; length++) {
      const cut = bytes.subarray(0, length);
      try {
        expectSame(decode(cut, SAMPLE.length, configuration), SAMPLE.subarray(0, 500));
        whole++;
      } catch (error) {
        // Only padding is missing.
        if (hasStreams && length >= bytes.length - 4) continue;
        await errorOf(() => Promise.reject(error), "corrupt-chunk");
      }
    }
    expect(whole > 0).toBe(hasStreams);
  });

  test("is refused or whole with any bit changed", async () => {
    let differing = 0;
    for (const bit of sampledBelow(8 * bytes.length)) {
      const changed = bytes.slice();
      changed[bit >> 3] = (changed[bit >> 3] ?? 0) ^ (1 << (bit & 7));
      let decoded: Uint8Array;
      try {
        decoded = decode(changed, SAMPLE.length, configuration);
      } catch (error) {
        await errorOf(() => Promise.reject(error), ...REFUSALS);
        continue;
      }
      if (Buffer.compare(decoded, SAMPLE) !== 0) differing++;
    }
    if (isChecked) expect(differing).toBe(0);
  });

  test("overruns a target that is too small by a byte", async () => {
    const error = await errorOf(() => decode(bytes, SAMPLE.length - 1, configuration), "corrupt-chunk");
    expect(isOverrun(error)).toBe(true);
  });
});

describe("sizes and dictionaries that are stated", () => {
  const alone = vector("alone, size and end marker");

  test("a dictionary of 4 GiB is not allocated", () => {
    alone.fill(0xff, 1, 5);
    expectSame(decode(alone, SAMPLE.length, { format: 2 }), SAMPLE);
  });

  test("a size that is too large, too small, or 2^60", async () => {
    const stating = (size: bigint) => {
      const changed = alone.slice();
      new DataView(changed.buffer).setBigUint64(5, size, true);
      return changed;
    };
    const large = await errorOf(() => decode(stating(2n ** 60n), 5000, { format: 2 }), "corrupt-chunk");
    expect(isOverrun(large)).toBe(true);
    const over = await errorOf(() => decode(stating(901n), 5000, { format: 2 }), "corrupt-chunk");
    expect(isOverrun(over)).toBe(false);
    await errorOf(() => decode(stating(899n), 5000, { format: 2 }), "corrupt-chunk");
  });
});

test("a stated size without an end marker", async () => {
  const encoder = new LzmaEncoder(SAMPLE, { lc: 3, lp: 0, pb: 2 }, { dictionarySize: 4096, preset: 6 });
  const target = new Uint8Array(1000);
  const range = new RangeEncoder(target, ALONE_HEADER_SIZE);
  encoder.encode(range, { sourceEnd: SAMPLE.length, encodedEnd: target.length });
  const bytes = target.subarray(0, range.finish());
  bytes.set(vector("alone, size and end marker").subarray(0, ALONE_HEADER_SIZE));
  expectSame(decode(bytes, SAMPLE.length, { format: 2 }), SAMPLE);
  for (let length = 0; length < bytes.length; length++) {
    await errorOf(() => decode(bytes.subarray(0, length), SAMPLE.length, { format: 2 }), "corrupt-chunk");
  }
  bytes.fill(0xff, 5, ALONE_HEADER_SIZE);
  await errorOf(() => decode(bytes, SAMPLE.length, { format: 2 }), "corrupt-chunk");
});

test("zeros by the million stop at the target's end", async () => {
  const configurations: JsonObject[] = [{}, { format: 2 }];
  for (const configuration of configurations) {
    const bomb = encode(new Uint8Array(8_000_000), configuration);
    expect(bomb.length).toBeLessThan(2000);
    const error = await errorOf(() => decode(bomb, 1000, configuration), "corrupt-chunk");
    expect(isOverrun(error)).toBe(true);
  }
});

test("what is refused says why", async () => {
  const xz = vector("xz, CRC-64");
  const alone = vector("alone");
  const cases: [Uint8Array, JsonObject, RegExp][] = [
    [new Uint8Array(0), {}, /no LZMA data/],
    [alone, {}, /not xz data/],
    [Uint8Array.from([...xz, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]), {}, /bytes follow/],
    [xz.with(7, 1), {}, /checksum of an xz header/],
    [xz.with(xz.length - 1, 0), {}, /footer/],
    [alone.with(0, 255), { format: 2 }, /properties/],
    [alone.with(13, 1), { format: 2 }, /start with a zero/],
    [alone.subarray(0, 100), { format: 2 }, /truncated/],
    [xz.subarray(0, 100), {}, /truncated/],
    [Uint8Array.of(3), { format: 3, filters: [{ id: 33 }] }, /unknown type/],
    [Uint8Array.of(2, 0, 0, 9), { format: 3, filters: [{ id: 33 }] }, /unknown type/],
  ];
  for (const [bytes, configuration, reason] of cases) {
    const error = await errorOf(() => decode(bytes, SAMPLE.length, configuration), "corrupt-chunk");
    expect(error.message).toMatch(reason);
  }
  const contexts = await errorOf(() => decode(alone.with(0, 8 + 9), 900, { format: 2 }), "codec-error");
  expect(contexts.message).toMatch(/literal contexts/);
  const program = "/Td6WFoAAATm1rRGAgEEACEBFgANhjUfAQAGcHJvZ3JhbQAAB2iFYvJbesEAAR8HFi64cx+2830BAAAAAARZWg==";
  const branch = await errorOf(() => decode(Buffer.from(program, "base64"), 7), "unsupported-codec");
  expect(branch.message).toMatch(/x86/);
});

test("noise behind a good beginning ends, whatever it says", async () => {
  const random = randomNumbers(5);
  for (const [, configuration, bytes] of vectors) {
    for (let round = 0; round < 40; round++) {
      const noise = Uint8Array.from(bytes, (byte, i) => (i < round ? byte : random(256)));
      await errorOf(() => decode(noise, 2000, configuration), ...REFUSALS);
    }
  }
});
