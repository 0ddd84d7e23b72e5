// @module-tag sampled
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { decodeBlockRange, decodeBlocks } from "../../../src/codecs/blosc/blocks.ts";
import { chooseBlockSize, splitsBlocks } from "../../../src/codecs/blosc/codec.ts";
import { type InnerName, readHeader } from "../../../src/codecs/blosc/frame.ts";
import { type InnerCodec, innerCodec } from "../../../src/codecs/blosc/inner-codecs.ts";
import { decodeBytes, encodeBytes } from "../../../src/codecs/standalone.ts";
import { isZarrflowError } from "../../../src/util/errors.ts";
import type { JsonObject } from "../../../src/util/json-value.ts";
import { drawsAll, samples } from "../../support/samples.ts";
import { chunkBytes, errorOf, expectSame, guarded, placedCodec, randomNumbers } from "../support.ts";

// Block sizes in headers that c-blosc 1.21 wrote: inner codec, item size, level, bytes, block size, split.
test.each<[string, number, number, number, number, boolean]>([
  ["lz4", 1, 1, 1200000, 65536, true],
  ["lz4", 2, 7, 40000000, 524288, true],
  ["lz4", 3, 5, 399999, 393216, true],
  ["lz4", 4, 9, 5000000, 1048576, true],
  ["lz4", 16, 7, 32992, 32992, true],
  ["lz4", 24, 3, 1200000, 65520, false],
  ["lz4hc", 1, 1, 130000, 65536, true],
  ["lz4hc", 1, 9, 400000, 262144, true],
  ["lz4hc", 8, 5, 1200000, 1048576, true],
  ["lz4hc", 24, 3, 129984, 129984, false],
  ["blosclz", 1, 1, 400000, 65536, true],
  ["blosclz", 2, 7, 5000000, 524288, true],
  ["blosclz", 4, 3, 33000, 33000, true],
  ["blosclz", 16, 5, 40000000, 1048576, true],
  ["blosclz", 24, 3, 399984, 65520, false],
  ["zlib", 1, 1, 66000, 65536, true],
  ["zlib", 2, 8, 1200000, 524288, true],
  ["zlib", 3, 8, 33000, 33000, true],
  ["zlib", 16, 3, 5000000, 1048576, true],
  ["zlib", 24, 3, 66000, 66000, false],
  ["zstd", 1, 1, 150000, 32768, false],
  ["zstd", 1, 9, 1200000, 1048576, false],
  ["zstd", 2, 9, 33000, 33000, false],
  ["zstd", 3, 8, 129999, 129999, false],
  ["zstd", 8, 5, 5000000, 262144, false],
  ["zstd", 24, 3, 150000, 131064, false],
])("%s, items of %i, level %i, %i bytes: blocks of %i", (cname, typeSize, level, size, blockSize, split) => {
  const inner = (cname === "lz4hc" ? "lz4" : cname) as InnerName;
  const highRatio = ["lz4hc", "zlib", "zstd"].includes(cname);
  expect(chooseBlockSize(size, typeSize, level, inner, highRatio, 0)).toBe(blockSize);
  expect(splitsBlocks(inner, typeSize, blockSize)).toBe(split);
});

test("a stated size of blocks is kept within what can be, and is whole items", () => {
  const choose = (wanted: number) => chooseBlockSize(1_000_000, 12, 0, "lz4", false, wanted);
  expect([1000, 1, 2 ** 31 - 20].map(choose)).toEqual([996, 120, 999_996]);
  expect(chooseBlockSize(3, 4, 5, "lz4", false, 0)).toBe(1);
});

const bytes = new Uint8Array(Int32Array.from({ length: 300 }, (_, i) => i % 50).buffer);
const CONFIG = { id: "blosc", cname: "lz4", clevel: 5, shuffle: 1, blocksize: 0 };
const encode = (configuration: JsonObject = {}, given = bytes) =>
  encodeBytes({ ...CONFIG, ...configuration }, given, { itemSize: 4 });
const decode = (value: Uint8Array) => decodeBytes(CONFIG, value, { size: bytes.length });

describe("a header that cannot be true", () => {
  test.each<[string, (words: DataView) => void, ("corrupt-chunk" | "codec-error")?]>([
    ["another version", (w) => w.setUint8(0, 3), "codec-error"],
    ["an unknown inner codec", (w) => w.setUint8(2, 0xe1), "codec-error"],
    ["an unknown flag", (w) => w.setUint8(2, 0x29), "codec-error"],
    ["items of no bytes", (w) => w.setUint8(3, 0)],
    ["no data", (w) => w.setUint32(4, 0, true)],
    ["2 GiB of data", (w) => w.setUint32(4, 2 ** 31, true)],
    ["blocks of no bytes", (w) => w.setUint32(8, 0, true)],
    ["blocks larger than the data", (w) => w.setUint32(8, 1201, true)],
    ["blocks of one byte", (w) => w.setUint32(8, 1, true)],
    ["blocks that are not whole items", (w) => w.setUint32(8, 1199, true)],
    ["more bytes than there are", (w) => w.setUint32(12, w.byteLength + 1, true)],
    ["fewer bytes than it has itself", (w) => w.setUint32(12, 15, true)],
    ["fewer bytes than the blocks need", (w) => w.setUint32(12, w.byteLength - 1, true)],
    ["stored data of another length", (w) => w.setUint8(2, 0x23)],
    ["a block outside", (w) => w.setUint32(16, w.byteLength, true)],
    ["a block before the begin", (w) => w.setInt32(16, -4, true)],
    ["a stream of negative length", (w) => w.setInt32(20, -1, true)],
    ["a stream beyond the end", (w) => w.setInt32(20, 5000, true)],
    ["another inner codec than wrote it", (w) => w.setUint8(2, 0x61)],
  ])("%s", async (_, change, code = "corrupt-chunk") => {
    const value = await encode();
    expect(await decode(value)).toEqual(bytes);
    change(new DataView(value.buffer, value.byteOffset, value.length));
    expect((await errorOf(() => decode(value), code)).details.codec).toBe("blosc");
  });

  test("one that is cut off; bytes behind the stated end are left alone", async () => {
    const value = await encode();
    for (let length = 0; length < 16; length++)
      await errorOf(() => decode(value.slice(0, length)), "corrupt-chunk");
    expect(await decode(Uint8Array.from([...value, 1, 2, 3]))).toEqual(bytes);
  });
});

test("reading goes by the value, not by the configuration", async () => {
  expect(await decode(await encode({ cname: "zstd", shuffle: 2 }))).toEqual(bytes);
  const config = { ...CONFIG, cname: "lzo" };
  expect(await decodeBytes(config, await encode())).toEqual(bytes);
  const error = await errorOf(() => encodeBytes(config, bytes), "unsupported-codec");
  expect(error.details.hint).toContain("lz4hc");
});

test("what does not get smaller, what is short, and all at level 0 is stored plainly", async () => {
  const random = randomNumbers(1);
  const noise = Uint8Array.from({ length: 1000 }, () => random(256));
  for (const [configuration, data] of [
    [{}, noise] as const,
    [{}, bytes.subarray(0, 120)] as const,
    [{ clevel: 0 }, bytes] as const,
  ]) {
    const value = await encode(configuration, data);
    expect(value.length).toBe(data.length + 16);
    expect((value[2] ?? 0) & 2).toBe(2);
    expect(await decodeBytes(CONFIG, value)).toEqual(data);
  }
});

test("items above 255 bytes count as bytes, and lz4hc searches harder than lz4", async () => {
  expect((await encodeBytes(CONFIG, new Uint8Array(1200), { itemSize: 300 }))[3]).toBe(1);
  const text = Array.from({ length: 5000 }, (_, i) => `${i % 97} ${i % 13},`).join("");
  const [hard, fast] = await Promise.all(
    ["lz4hc", "lz4"].map((cname) => encode({ cname, clevel: 1 }, new Uint8Array(Buffer.from(text)))),
  );
  expect(hard?.length).toBeLessThan(fast?.length ?? 0);
});

test.each<JsonObject>([{ clevel: 10 }, { clevel: -1 }, { shuffle: "sideways" }, { blocksize: -1 }])(
  "%j is no configuration to write with",
  async (configuration) => {
    await errorOf(() => encode(configuration), "invalid-metadata");
  },
);

describe("a range of the decoded form", () => {
  const random = randomNumbers(4);
  const data = new Uint8Array(Int32Array.from({ length: 50_000 }, (_, i) => i * 7 + random(9)).buffer);
  const encodedBy = async (configuration: JsonObject) => {
    const { codec } = await placedCodec("blosc", { typesize: 4, ...configuration }, data.length, 4);
    const value = new Uint8Array(codec.maxEncodedSize(data.length));
    return { codec, value: value.subarray(0, await codec.encodeInto(data, value)) };
  };
  const SHUFFLED = { cname: "lz4", shuffle: "shuffle", clevel: 5 };

  test.each<JsonObject>([
    ...["blosclz", "lz4", "snappy", "zlib", "zstd"].flatMap((cname) =>
      ["noshuffle", "shuffle", "bitshuffle"].map((shuffle) => ({
        cname,
        shuffle,
        clevel: 5,
        blocksize: 3000,
      })),
    ),
    { ...SHUFFLED, blocksize: 0 },
    { ...SHUFFLED, blocksize: 0, clevel: 0 },
  ])("is what the whole has there: %j", async (configuration) => {
    const { codec, value } = await encodedBy(configuration);
    const ranges = Array.from({ length: 20 }, () => {
      const start = random(data.length + 1);
      return [start, start + random(data.length - start + 1)];
    });
    for (const [start = 0, end = 0] of [[0, data.length], [65_536, 131_072], [2e5, 2e5], ...ranges]) {
      const { bytes: target, check } = guarded(end - start);
      await codec.decodeRangeInto?.(value, start, target);
      expectSame(target, data.subarray(start, end));
      check();
    }
    const beyond = async () => codec.decodeRangeInto?.(value, 199_999, new Uint8Array(2));
    await errorOf(beyond, "corrupt-chunk");
  });

  test("needs the blocks that it touches alone", async () => {
    const { codec, value } = await encodedBy({ ...SHUFFLED, blocksize: 4096 });
    const words = new DataView(value.buffer, value.byteOffset);
    const blockSize = words.getUint32(8, true);
    words.setUint32(16, 0xffff_ffff, true);
    const target = new Uint8Array(100);
    await codec.decodeRangeInto?.(value, blockSize, target);
    expectSame(target, data.subarray(blockSize, blockSize + 100));
    await errorOf(async () => codec.decodeRangeInto?.(value, blockSize - 1, target), "corrupt-chunk");
  });
});

describe("with block kernels and without", () => {
  const decodersOf = async (cname: string): Promise<readonly [InnerCodec, InnerCodec]> => {
    const inner = await innerCodec(cname as "lz4");
    const { kernelEffort: _, ...plain } = inner;
    return [inner, plain];
  };

  /** Decodes a part of a value; undefined where it is refused. */
  function partOf(value: Uint8Array, inner: InnerCodec, start: number, end: number): Uint8Array | undefined {
    const { bytes, check } = guarded(end - start);
    try {
      const header = readHeader(value);
      if (header.isStored || end > header.size) return undefined;
      if (start === 0 && end === header.size) decodeBlocks(value, header, inner, bytes);
      else decodeBlockRange(value, header, inner, start, bytes);
      return bytes;
    } catch (error) {
      if (isZarrflowError(error, "corrupt-chunk") || isZarrflowError(error, "codec-error")) return undefined;
      throw error;
    } finally {
      check();
    }
  }

  test("a part is what the whole has there", async () => {
    const configs = fc.record({
      cname: fc.constantFrom("lz4", "lz4", "blosclz", "snappy"),
      shuffle: fc.constantFrom("noshuffle", "shuffle", "shuffle", "bitshuffle"),
      typesize: fc.integer({ min: 1, max: 20 }),
      blocksize: fc.constantFrom(0, 128, 1000, 2048, 8000),
    });
    let parts = 0;
    const check = async (
      config: JsonObject & { cname: string },
      data: Uint8Array,
      from: number,
      length: number,
    ) => {
      const value = await encodeBytes({ id: "blosc", clevel: 5, ...config }, data);
      if (data.length === 0 || readHeader(value).isStored) return;
      const start = from % data.length;
      const end = start + 1 + (length % (data.length - start));
      for (const inner of await decodersOf(config.cname)) {
        parts++;
        expectSame(partOf(value, inner, start, end), data.subarray(start, end));
      }
    };
    await fc.assert(fc.asyncProperty(configs, chunkBytes(12_000), fc.nat(), fc.nat(), check), {
      numRuns: samples(300),
    });
    // of a few, chance may choose hardly any
    if (drawsAll) expect(parts).toBeGreaterThan(100);
  });

  test("a value that is cut anywhere gives no part of itself", async () => {
    const random = randomNumbers(3);
    const data = Uint8Array.from({ length: 1500 }, (_, i) => i / 40 + random(3));
    for (const shuffle of ["noshuffle", "shuffle", "bitshuffle"]) {
      const config = { id: "blosc", cname: "lz4", clevel: 5, shuffle, typesize: 4, blocksize: 500 };
      const value = await encodeBytes(config, data);
      for (const inner of await decodersOf("lz4")) {
        for (let length = 0; length < value.length; length++)
          expect(partOf(value.slice(0, length), inner, 400, 1200)).toBeUndefined();
      }
    }
  });

  test("changed values get the same verdict, and the same bytes", async () => {
    const random = randomNumbers(8);
    const [inner, plain] = await decodersOf("lz4");
    let refused = 0;
    for (let round = 0; round < 600; round++) {
      const data = Uint8Array.from({ length: 1600 }, (_, i) => i / 60 + random(1 + (i % 5)));
      const shuffle = ["noshuffle", "shuffle", "bitshuffle"][round % 3] ?? "";
      const config = { id: "blosc", cname: "lz4", clevel: 5, shuffle, typesize: 1 + random(8), blocksize: 0 };
      const value = await encodeBytes(config, data);
      for (let change = random(4); change >= 0; change--) value[16 + random(value.length - 16)] = random(256);
      const start = random(data.length);
      const end = start + 1 + random(data.length - start);
      const part = partOf(value, inner, start, end);
      expect(part).toEqual(partOf(value, plain, start, end));
      if (part === undefined) refused++;
    }
    expect(refused).toBeGreaterThan(50);
    expect(refused).toBeLessThan(550);
  });
});
