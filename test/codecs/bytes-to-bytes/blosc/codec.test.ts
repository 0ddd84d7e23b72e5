import { describe, expect, test } from "vitest";
import { decodeBytes, encodeBytes } from "../../../../src/codecs/standalone/decode-bytes.ts";
import type { JsonObject } from "../../../../src/util/json-value.ts";
import { errorOf, expectSame, guarded, placedCodec, randomNumbers } from "../../support.ts";

const bytes = new Uint8Array(Int32Array.from({ length: 300 }, (_, i) => i % 50).buffer);
const CONFIG = { id: "blosc", cname: "lz4", clevel: 5, shuffle: 1, blocksize: 0 };
const encode = () => encodeBytes(CONFIG, bytes, { itemSize: 4 });
const decode = (value: Uint8Array) => decodeBytes(CONFIG, value, { size: bytes.length });

describe("a header that cannot be true", () => {
  test.each<[string, (words: DataView) => void, "corrupt-chunk" | "codec-error"]>([
    ["another version", (w) => w.setUint8(0, 3), "codec-error"],
    ["an unknown inner codec", (w) => w.setUint8(2, 0xe1), "codec-error"],
    ["an unknown flag", (w) => w.setUint8(2, 0x29), "codec-error"],
    ["items of no bytes", (w) => w.setUint8(3, 0), "corrupt-chunk"],
    ["no data", (w) => w.setUint32(4, 0, true), "corrupt-chunk"],
    ["2 GiB of data", (w) => w.setUint32(4, 2 ** 31, true), "corrupt-chunk"],
    ["blocks of no bytes", (w) => w.setUint32(8, 0, true), "corrupt-chunk"],
    ["blocks larger than the data", (w) => w.setUint32(8, 1201, true), "corrupt-chunk"],
    ["blocks of one byte", (w) => w.setUint32(8, 1, true), "corrupt-chunk"],
    ["blocks that are not whole items", (w) => w.setUint32(8, 1199, true), "corrupt-chunk"],
    ["more bytes than there are", (w) => w.setUint32(12, w.byteLength + 1, true), "corrupt-chunk"],
    ["fewer bytes than it has itself", (w) => w.setUint32(12, 15, true), "corrupt-chunk"],
    ["fewer bytes than the blocks need", (w) => w.setUint32(12, w.byteLength - 1, true), "corrupt-chunk"],
    ["stored data of another length", (w) => w.setUint8(2, 0x23), "corrupt-chunk"],
    ["a block outside", (w) => w.setUint32(16, w.byteLength, true), "corrupt-chunk"],
    ["a block before the begin", (w) => w.setInt32(16, -4, true), "corrupt-chunk"],
    ["a stream of negative length", (w) => w.setInt32(20, -1, true), "corrupt-chunk"],
    ["a stream beyond the end", (w) => w.setInt32(20, 5000, true), "corrupt-chunk"],
    ["another inner codec than wrote it", (w) => w.setUint8(2, 0x61), "corrupt-chunk"],
  ])("%s", async (_, change, code) => {
    const value = await encode();
    expect(await decode(value)).toEqual(bytes);
    change(new DataView(value.buffer, value.byteOffset, value.length));
    const error = await errorOf(() => decode(value), code);
    expect(error.details.codec).toBe("blosc");
  });

  test("a frame that is cut off is refused", async () => {
    for (let length = 0; length < 16; length++) {
      await errorOf(async () => decode((await encode()).slice(0, length)), "corrupt-chunk");
    }
  });
});

test("bytes behind the stated end are left alone", async () => {
  const value = await encode();
  expect(await decode(Uint8Array.from([...value, 1, 2, 3]))).toEqual(bytes);
});

test("reading goes by the value, not by the configuration", async () => {
  const value = await encodeBytes({ ...CONFIG, cname: "zstd", shuffle: 2 }, bytes, { itemSize: 4 });
  expect(await decode(value)).toEqual(bytes);
});

describe("writing", () => {
  test("stores plainly what does not get smaller, what is short, and at level 0", async () => {
    const random = randomNumbers(1);
    const noise = Uint8Array.from({ length: 1000 }, () => random(256));
    for (const [config, data] of [
      [CONFIG, noise],
      [CONFIG, bytes.subarray(0, 120)],
      [{ ...CONFIG, clevel: 0 }, bytes],
    ] as const) {
      const value = await encodeBytes(config, data, { itemSize: 4 });
      expect(value.length).toBe(data.length + 16);
      expect((value[2] ?? 0) & 2).toBe(2);
      expect(await decodeBytes(CONFIG, value)).toEqual(data);
    }
  });

  test("items above 255 bytes count as bytes", async () => {
    const value = await encodeBytes(CONFIG, new Uint8Array(1200), { itemSize: 300 });
    expect(value[3]).toBe(1);
  });

  test("an unknown inner codec is refused when it is wanted", async () => {
    const config = { ...CONFIG, cname: "lzo" };
    expect(await decodeBytes(config, await encode())).toEqual(bytes);
    const error = await errorOf(() => encodeBytes(config, bytes), "unsupported-codec");
    expect(error.details.hint).toContain("lz4hc");
  });

  test("lz4hc searches harder than lz4", async () => {
    const text = new Uint8Array(
      Buffer.from(Array.from({ length: 5000 }, (_, i) => `${i % 97} ${i % 13},`).join("")),
    );
    const size = async (cname: string) => (await encodeBytes({ ...CONFIG, cname, clevel: 1 }, text)).length;
    expect(await size("lz4hc")).toBeLessThan(await size("lz4"));
  });
});

test.each<JsonObject>([{ clevel: 10 }, { clevel: -1 }, { shuffle: "sideways" }, { blocksize: -1 }])(
  "%j as a configuration to write with",
  async (configuration) => {
    await errorOf(() => encodeBytes({ ...CONFIG, ...configuration }, new Uint8Array(8)), "invalid-metadata");
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

  test.each<[string, JsonObject]>([
    ...["blosclz", "lz4", "snappy", "zlib", "zstd"].flatMap((cname) =>
      ["noshuffle", "shuffle", "bitshuffle"].map((shuffle): [string, JsonObject] => [
        `${cname}, ${shuffle}`,
        { cname, shuffle, clevel: 5, blocksize: 3000 },
      ]),
    ),
    ["one block", { cname: "lz4", shuffle: "shuffle", clevel: 5, blocksize: 0 }],
    ["stored plainly", { cname: "lz4", shuffle: "shuffle", clevel: 0, blocksize: 0 }],
  ])("is what the whole has there: %s", async (_, configuration) => {
    const { codec, value } = await encodedBy(configuration);
    const ranges = Array.from({ length: 20 }, () => {
      const start = random(data.length + 1);
      return [start, start + random(data.length - start + 1)] as const;
    });
    for (const [start, end] of [
      [0, data.length],
      [65_536, 131_072],
      [200_000, 200_000],
      ...ranges,
    ] as const) {
      const { bytes: target, check } = guarded(end - start);
      await codec.decodeRangeInto?.(value, start, target);
      expectSame(target, data.subarray(start, end));
      check();
    }
    const error = await errorOf(async () => codec.decodeRangeInto?.(value, 199_999, new Uint8Array(2)));
    expect(error.code).toBe("corrupt-chunk");
  });

  test("needs the blocks that it touches alone", async () => {
    const { codec, value } = await encodedBy({
      cname: "lz4",
      shuffle: "shuffle",
      clevel: 5,
      blocksize: 4096,
    });
    const words = new DataView(value.buffer, value.byteOffset);
    const blockSize = words.getUint32(8, true);
    words.setUint32(16, 0xffff_ffff, true);
    const target = new Uint8Array(100);
    await codec.decodeRangeInto?.(value, blockSize, target);
    expectSame(target, data.subarray(blockSize, blockSize + 100));
    await errorOf(async () => codec.decodeRangeInto?.(value, blockSize - 1, target), "corrupt-chunk");
  });
});
