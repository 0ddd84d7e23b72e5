// @module-tag slow
import { deflateSync, gunzipSync, gzipSync, inflateSync } from "node:zlib";
import * as fflate from "fflate";
import { beforeAll, describe, expect, test } from "vitest";
import { loadDeflate } from "../../../src/codecs/deflate/codec.ts";
import { type Deflate, maxDeflatedSize } from "../../../src/codecs/deflate/deflate.ts";
import { fflateDeflate } from "../../../src/codecs/deflate/fflate-deflate.ts";
import { isOverrun } from "../../../src/codecs/limits.ts";
import { errorOf, expectSame, guarded, randomNumbers } from "../support.ts";

const random = randomNumbers(6);
const bytes = Uint8Array.from({ length: 100_000 }, (_, i) => (i % 100 < 60 ? random(20) : 3));
const FORMATS = {
  gzip: { encode: gzipSync, decode: gunzipSync },
  zlib: { encode: deflateSync, decode: inflateSync },
} as const;

describe.each<[string, () => Promise<Deflate>]>([
  ["Node", loadDeflate],
  ["fflate", async () => fflateDeflate(fflate)],
])("deflate by %s", (_, load) => {
  let deflate: Deflate;
  beforeAll(async () => {
    deflate = await load();
  });
  const inflate = (format: keyof typeof FORMATS, source: Uint8Array, size: number) => {
    const { bytes: target, check } = guarded(size);
    const written = deflate.inflate(format, source, target);
    check();
    return target.slice(0, written);
  };

  describe.each(["gzip", "zlib"] as const)("%s", (format) => {
    const { encode: otherEncode, decode: otherDecode } = FORMATS[format];
    const encode = (source: Uint8Array, level: number) => {
      const target = new Uint8Array(maxDeflatedSize(source.length));
      const size = deflate.deflate(format, source, target, level);
      expect(size).toBeGreaterThan(0);
      return target.slice(0, size);
    };
    const short = otherEncode(bytes.subarray(0, 300));
    const refused = (source: Uint8Array, size = 300) =>
      errorOf(() => inflate(format, source, size), "corrupt-chunk");

    test.each([0, 1, 6, 9])("level %i; noise fits into the stated maximum", (level) => {
      const noises = [1000, 70_000].map((length) => Uint8Array.from({ length }, () => random(256)));
      for (const source of [bytes, bytes.subarray(0, 1), new Uint8Array(0), ...noises]) {
        const encoded = encode(source, level);
        expectSame(otherDecode(encoded), source);
        expectSame(inflate(format, encoded, source.length), source);
      }
    });

    test("level -1 is zlib's usual one, 6, and the same bytes give the same value at any time", () => {
      expectSame(encode(bytes, -1), encode(bytes, 6));
      if (format === "gzip") expect([...encode(bytes, 6).subarray(4, 8)]).toEqual([0, 0, 0, 0]);
    });

    test("targets that are too small are told of, and a bomb stops early", async () => {
      expect(deflate.deflate(format, bytes, new Uint8Array(100), 6)).toBe(0);
      expect(isOverrun(await refused(otherEncode(bytes), bytes.length - 1))).toBe(true);
      const bomb = otherEncode(new Uint8Array(50_000_000), { level: 9 });
      expect(isOverrun(await refused(bomb, 1000))).toBe(true);
    });

    test("values that are cut at any byte, have another checksum or length, or bytes behind them", async () => {
      for (let length = 0; length < short.length; length++) await refused(short.subarray(0, length));
      for (let back = 1; back <= (format === "gzip" ? 8 : 4); back++)
        await refused(Uint8Array.from(short).with(-back, (short.at(-back) ?? 0) ^ 1));
      await refused(Buffer.concat([short, Buffer.from("garbage")]));
      await refused((format === "gzip" ? deflateSync : gzipSync)(bytes.subarray(0, 300)));
    });
  });

  test("several gzip members, one of them empty, each with its checksum", async () => {
    const parts = [bytes.subarray(0, 40_000), new Uint8Array(0), bytes.subarray(40_000)];
    const members = parts.map((part) => gzipSync(part));
    expectSame(inflate("gzip", Buffer.concat(members), bytes.length), bytes);
    const [first = Buffer.alloc(0), ...others] = members;
    first[first.length - 6] = (first.at(-6) ?? 0) ^ 1;
    const changed = Buffer.concat([first, ...others]);
    await errorOf(() => inflate("gzip", changed, bytes.length), "corrupt-chunk");
  });
});
