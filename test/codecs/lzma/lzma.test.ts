// @module-tag sampled
// @module-tag slow
import { createHash } from "node:crypto";
import { describe, expect, test } from "vitest";
import { createPipeline } from "../../../src/codecs/chain/codec-chain.ts";
import type { BytesToBytesCodec } from "../../../src/codecs/codec.ts";
import { isOverrun } from "../../../src/codecs/limits.ts";
import { createLzma } from "../../../src/codecs/lzma/codec.ts";
import { LzmaEncoder, RangeEncoder } from "../../../src/codecs/lzma/encoder.ts";
import { filterChain, presetChain } from "../../../src/codecs/lzma/filters.ts";
import { ALONE_HEADER_SIZE } from "../../../src/codecs/lzma/lzma.ts";
import { crc64, xzCheck } from "../../../src/codecs/lzma/xz-format.ts";
import type { JsonObject, JsonValue } from "../../../src/util/json-value.ts";
import { sampledBelow } from "../../support/samples.ts";
import { hardInputs, SAMPLE } from "../lz-sample.ts";
import { errorOf, expectSame, guarded, RAW, randomNumbers, specOf } from "../support.ts";
import { LZMA_VECTORS, LZMA1 } from "./vectors.ts";

const vectors = LZMA_VECTORS.map(
  ([name, configuration, base64]) =>
    [name, configuration, Uint8Array.from(Buffer.from(base64, "base64"))] as const,
);
const vector = (wanted: string) =>
  vectors.find(([name]) => name === wanted)?.[2].slice() ?? expect.fail(`there is no ${wanted}`);
const REFUSALS = ["corrupt-chunk", "codec-error", "unsupported-codec"] as const;
const ALONE: JsonObject = { format: 2 };

function lzma(configuration: JsonObject = {}): BytesToBytesCodec {
  const spec = specOf([1], RAW(1));
  const context = { spec, itemSize: 1, endian: "little", pipelineOf: createPipeline } as const;
  return createLzma(configuration, context) as BytesToBytesCodec;
}

function decode(source: Uint8Array, size: number, configuration: JsonObject = {}): Uint8Array {
  const { bytes, check } = guarded(size);
  try {
    return bytes.slice(0, lzma(configuration).decodeInto(source, bytes) as number);
  } finally {
    check();
  }
}

function encode(source: Uint8Array, configuration: JsonObject = {}): Uint8Array {
  const codec = lzma(configuration);
  const { bytes, check } = guarded(codec.maxEncodedSize(source.length));
  const size = codec.encodeInto(source, bytes) as number;
  check();
  return bytes.slice(0, size);
}

function roundTrip(bytes: Uint8Array, configuration: JsonObject): number {
  const encoded = encode(bytes, configuration);
  expectSame(decode(encoded, bytes.length, configuration), bytes);
  return encoded.length;
}

// With each of the checks, and by each of the formats.
describe.each(vectors)("LZMA of others: %s", (name, configuration, bytes) => {
  const hasStreams = name.includes("streams");
  const isChecked = name.includes("xz") && !name.includes("no check");

  test("decodes to the sample, and overruns a target that is too small by a byte", async () => {
    expectSame(decode(bytes, SAMPLE.length, configuration), SAMPLE);
    expectSame(decode(bytes, 5000, configuration), SAMPLE);
    const error = await errorOf(() => decode(bytes, SAMPLE.length - 1, configuration), "corrupt-chunk");
    expect(isOverrun(error)).toBe(true);
  });

  test("is refused when cut anywhere, but between streams", async () => {
    let whole = 0;
    for (let length = 0; length < bytes.length; length++) {
      try {
        const cut = decode(bytes.subarray(0, length), SAMPLE.length, configuration);
        expectSame(cut, SAMPLE.subarray(0, 500));
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
});

test("a dictionary of 4 GiB is not allocated, and sizes that are too large, too small, or 2^60 are refused", async () => {
  const alone = vector("alone, size and end marker").fill(0xff, 1, 5);
  expectSame(decode(alone, SAMPLE.length, ALONE), SAMPLE);
  for (const [size, overruns] of [
    [2n ** 60n, true] as const,
    [901n, false] as const,
    [899n, false] as const,
  ]) {
    const changed = alone.slice();
    new DataView(changed.buffer).setBigUint64(5, size, true);
    const error = await errorOf(() => decode(changed, 5000, ALONE), "corrupt-chunk");
    expect(isOverrun(error)).toBe(overruns);
  }
});

test("a stated size without an end marker", async () => {
  const encoder = new LzmaEncoder(SAMPLE, { lc: 3, lp: 0, pb: 2 }, { dictionarySize: 4096, preset: 6 });
  const target = new Uint8Array(1000);
  const range = new RangeEncoder(target, ALONE_HEADER_SIZE);
  encoder.encode(range, { sourceEnd: SAMPLE.length, encodedEnd: target.length });
  const bytes = target.subarray(0, range.finish());
  bytes.set(vector("alone, size and end marker").subarray(0, ALONE_HEADER_SIZE));
  expectSame(decode(bytes, SAMPLE.length, ALONE), SAMPLE);
  for (let length = 0; length < bytes.length; length++)
    await errorOf(() => decode(bytes.subarray(0, length), SAMPLE.length, ALONE), "corrupt-chunk");
  bytes.fill(0xff, 5, ALONE_HEADER_SIZE);
  await errorOf(() => decode(bytes, SAMPLE.length, ALONE), "corrupt-chunk");
});

test("zeros by the million stop at the target's end", async () => {
  for (const configuration of [{}, ALONE]) {
    const bomb = encode(new Uint8Array(8_000_000), configuration);
    expect(bomb.length).toBeLessThan(2000);
    const error = await errorOf(() => decode(bomb, 1000, configuration), "corrupt-chunk");
    expect(isOverrun(error)).toBe(true);
  }
});

test("what is refused says why", async () => {
  const xz = vector("xz, CRC-64");
  const alone = vector("alone");
  const raw = { format: 3, filters: [{ id: 33 }] };
  const program = "/Td6WFoAAATm1rRGAgEEACEBFgANhjUfAQAGcHJvZ3JhbQAAB2iFYvJbesEAAR8HFi64cx+2830BAAAAAARZWg==";
  const cases: [Uint8Array, JsonObject, RegExp, (typeof REFUSALS)[number]?][] = [
    [new Uint8Array(0), {}, /no LZMA data/],
    [alone, {}, /not xz data/],
    [Uint8Array.from([...xz, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]), {}, /bytes follow/],
    [xz.with(7, 1), {}, /checksum of an xz header/],
    [xz.with(xz.length - 1, 0), {}, /footer/],
    [alone.with(0, 255), ALONE, /properties/],
    [alone.with(13, 1), ALONE, /start with a zero/],
    [alone.subarray(0, 100), ALONE, /truncated/],
    [xz.subarray(0, 100), {}, /truncated/],
    [Uint8Array.of(3), raw, /unknown type/],
    [Uint8Array.of(2, 0, 0, 9), raw, /unknown type/],
    [alone.with(0, 8 + 9), ALONE, /literal contexts/, "codec-error"],
    [Buffer.from(program, "base64"), {}, /x86/, "unsupported-codec"],
  ];
  for (const [bytes, configuration, reason, code = "corrupt-chunk"] of cases) {
    const error = await errorOf(() => decode(bytes, SAMPLE.length, configuration), code);
    expect(error.message).toMatch(reason);
  }
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

const delta = (dist: number) => ({ id: 3, dist });
const CONFIGURATIONS: readonly JsonObject[] = [
  {},
  { preset: 0, check: 0 },
  { preset: 9, check: 10 },
  { check: 1, filters: [delta(4), { id: 3 }, { id: 33, lc: 0, lp: 4, pb: 4, dict_size: 4096 }] },
  ALONE,
  { format: 2, filters: [{ id: LZMA1, lc: 4, lp: 0, pb: 0, preset: 2 }] },
  { format: 3, filters: [{ id: 33 }] },
  { format: 3, filters: [delta(256), { id: 33, dict_size: 5000 }] },
  { format: 3, filters: [delta(2), { id: LZMA1, lc: 1, lp: 2, pb: 3 }] },
];

test.each(CONFIGURATIONS)(
  "%j: short values, what is hard, and targets that are too small",
  async (configuration) => {
    for (let length = 0; length <= 40; length++) roundTrip(SAMPLE.subarray(0, length), configuration);
    roundTrip(SAMPLE, configuration);
    for (const [name, bytes] of hardInputs(20_000)) {
      const size = roundTrip(bytes, configuration);
      if (name !== "noise") expect(size, name).toBeLessThan(bytes.length);
    }
    for (const size of [0, 1, 20, 100])
      await errorOf(() => lzma(configuration).encodeInto(SAMPLE, new Uint8Array(size)), "codec-error");
  },
);

test("noise, and what compresses between it, in chunks", () => {
  const random = randomNumbers(6);
  const bytes = Uint8Array.from({ length: 400_000 }, (_, i) =>
    i % 150_000 < 90_000 ? random(256) : (i >> 3) & 0xff,
  );
  expect(roundTrip(bytes, {})).toBeLessThan(290_000);
  expect(roundTrip(bytes.subarray(0, 90_000), {})).toBeLessThan(90_200);
});

test("more than the largest chunk of LZMA2, and than the dictionary", { timeout: 20_000 }, () => {
  const bytes = Uint8Array.from({ length: 4_500_000 }, (_, i) => i >> 12);
  roundTrip(bytes, {});
  roundTrip(bytes, { filters: [{ id: 33, dict_size: 4096 }] });
});

test("what a format cannot have is refused when it is written, not when it is read", async () => {
  const cases: [JsonObject, RegExp][] = [
    [{ format: 0 }, /for reading only/],
    [{ check: 2 }, /check/],
    [{ format: 2, check: 4 }, /stores a check/],
    [{ filters: [{ id: LZMA1 }] }, /LZMA2 only/],
    [{ format: 2, filters: [{ id: 33 }] }, /LZMA1/],
    [{ format: 2, filters: [{ id: 3 }, { id: LZMA1 }] }, /LZMA1/],
  ];
  for (const [configuration, reason] of cases) {
    const error = await errorOf(() => encode(SAMPLE, configuration), "codec-error");
    expect(error.message).toMatch(reason);
    const stored = encode(SAMPLE, configuration.format === 2 ? ALONE : {});
    expectSame(decode(stored, SAMPLE.length, configuration), SAMPLE);
  }
});

describe("configurations", () => {
  test("are chains as Python states them, and presets, extreme ones too", () => {
    const lzma2 = { kind: "lzma2", lc: 3, lp: 0, pb: 2, preset: 1, dictionarySize: 2 ** 20 };
    expect(filterChain([delta(4), { id: 33, preset: 1 }])).toEqual({ deltas: [4], compressor: lzma2 });
    expect(filterChain([{ id: LZMA1, lc: 1, lp: 2, pb: 3, dict_size: 65_536 }]).compressor).toEqual({
      ...{ kind: "lzma1", lc: 1, lp: 2, pb: 3, preset: 6 },
      dictionarySize: 65_536,
    });
    // As JSON.parse has rounded it.
    expect(filterChain([{ id: 2 ** 62 }]).compressor.kind).toBe("lzma1");
    expect(presetChain("lzma2", undefined).compressor.preset).toBe(6);
    const extreme = presetChain("lzma2", 2 ** 31 + 9).compressor;
    expect(extreme).toMatchObject({ preset: 9, dictionarySize: 2 ** 26 });
  });

  test("that are none are refused", async () => {
    const chains: JsonValue[] = [
      ...[[], {}, "lzma", [{ id: 3 }], [{}], [null], [33], [{ id: "33" }]],
      ...[
        [{ id: 33 }, { id: 33 }],
        [{ id: 33 }, { id: 3 }],
      ],
      [{ id: 3 }, { id: 3 }, { id: 3 }, { id: 3 }, { id: 33 }],
      ...[0, 257].map((dist) => [delta(dist), { id: 33 }]),
      ...[{ preset: 10 }, { lc: 3, lp: 2 }, { pb: 5 }, { dict_size: 100 }].map((one) => [{ id: 33, ...one }]),
    ];
    for (const chain of chains) await errorOf(() => filterChain(chain), "invalid-metadata");
    const machine = await errorOf(() => filterChain([{ id: 4 }, { id: 33 }]), "unsupported-codec");
    expect(machine.message).toMatch(/x86/);
    const wrong: JsonObject[] = [{ format: 4 }, { format: -1 }, { format: "xz" }, { format: 3 }];
    for (const configuration of [...wrong, { format: 3, preset: 1 }])
      await errorOf(() => lzma(configuration), "invalid-metadata");
    const nulls = { format: 3, filters: [{ id: 33 }], preset: null, check: null };
    expect(decode(Uint8Array.of(0), 0, nulls)).toHaveLength(0);
  });
});

describe("checks", () => {
  const random = randomNumbers(2);
  const noise = Uint8Array.from({ length: 1000 }, () => random(256));
  const unaligned = (length: number) => {
    const { bytes } = guarded(length);
    bytes.set(noise.subarray(0, length));
    return bytes;
  };

  test("CRC-64 is that of the usual digits, and of its definition bit by bit", () => {
    const crcOf = (bytes: Uint8Array) => new DataView(crc64(bytes).buffer).getBigUint64(0, true);
    expect(crcOf(new TextEncoder().encode("123456789"))).toBe(0x995d_c9bb_df19_39fan);
    for (let length = 0; length < 40; length++) {
      let crc = 2n ** 64n - 1n;
      for (const byte of noise.subarray(0, length)) {
        crc ^= BigInt(byte);
        for (let bit = 0; bit < 8; bit++) crc = (crc >> 1n) ^ (crc & 1n ? 0xc96c_5795_d787_0f42n : 0n);
      }
      expect(crcOf(unaligned(length))).toBe(crc ^ (2n ** 64n - 1n));
    }
  });

  test("SHA-256 is the runtime's, around its blocks and unaligned", () => {
    for (const length of [0, 1, 54, 55, 56, 57, 63, 64, 65, 119, 120, 128, 1000]) {
      const expected = createHash("sha256").update(noise.subarray(0, length)).digest();
      expectSame(xzCheck(10).of(unaligned(length)), expected);
    }
  });
});
