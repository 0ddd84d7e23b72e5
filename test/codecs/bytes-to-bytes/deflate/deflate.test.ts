// @module-tag slow
import { deflateSync, gunzipSync, gzipSync, inflateSync } from "node:zlib";
import * as fflate from "fflate";
import { beforeAll, describe, expect, test } from "vitest";
import { loadDeflate } from "../../../../src/codecs/bytes-to-bytes/deflate/codec.ts";
import { type Deflate, maxDeflatedSize } from "../../../../src/codecs/bytes-to-bytes/deflate/deflate.ts";
import { fflateDeflate } from "../../../../src/codecs/bytes-to-bytes/deflate/fflate-deflate.ts";
import { isOverrun } from "../../../../src/codecs/failures.ts";
import { errorOf, expectSame, guarded, randomNumbers } from "../../support.ts";

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

  describe.each(["gzip", "zlib"] as const)("%s", (format) => {
    const inflate = (source: Uint8Array, size: number) => {
      const { bytes: target, check } = guarded(size);
      const written = deflate.inflate(format, source, target);
      check();
      return target.slice(0, written);
    };

    test.each([0, 1, 6, 9])("level %i", (level) => {
      for (const source of [bytes, bytes.subarray(0, 1), new Uint8Array(0)]) {
        const target = new Uint8Array(maxDeflatedSize(source.length));
        const encoded = target.subarray(0, deflate.deflate(format, source, target, level));
        expectSame(FORMATS[format].decode(encoded), source);
        expectSame(inflate(encoded, source.length), source);
      }
    });

    test("level -1 is zlib's usual one, 6", () => {
      const sizes = [-1, 6].map((level) => {
        const target = new Uint8Array(maxDeflatedSize(bytes.length));
        return deflate.deflate(format, bytes, target, level);
      });
      expect(sizes[0]).toBe(sizes[1]);
    });

    test("noise fits into the stated maximum", () => {
      for (const length of [0, 1, 1000, 70_000]) {
        const noise = Uint8Array.from({ length }, () => random(256));
        const target = new Uint8Array(maxDeflatedSize(length));
        expect(deflate.deflate(format, noise, target, 0)).toBeGreaterThan(0);
        expect(deflate.deflate(format, noise, target, 9)).toBeGreaterThan(0);
      }
    });

    test("the same bytes give the same value at any time", () => {
      const encode = () => {
        const target = new Uint8Array(200);
        return target.slice(0, deflate.deflate(format, bytes.subarray(0, 100), target, 6));
      };
      expect(encode()).toEqual(encode());
      if (format === "gzip") expect([...encode().subarray(4, 8)]).toEqual([0, 0, 0, 0]);
    });

    test("an encoder's target that is too small", () => {
      expect(deflate.deflate(format, bytes, new Uint8Array(100), 6)).toBe(0);
    });

    test("a decoder's target that is too small is an overrun; a bomb stops early", async () => {
      const encoded = FORMATS[format].encode(bytes);
      expect(isOverrun(await errorOf(() => inflate(encoded, bytes.length - 1), "corrupt-chunk"))).toBe(true);
      const bomb = FORMATS[format].encode(new Uint8Array(50_000_000), { level: 9 });
      expect(isOverrun(await errorOf(() => inflate(bomb, 1000), "corrupt-chunk"))).toBe(true);
    });

    test("cut at any byte", async () => {
      const encoded = FORMATS[format].encode(bytes.subarray(0, 300));
      for (let length = 0; length < encoded.length; length++) {
        await errorOf(() => inflate(encoded.subarray(0, length), 300), "corrupt-chunk");
      }
    });

    test("a changed checksum or length", async () => {
      const encoded = FORMATS[format].encode(bytes.subarray(0, 300));
      const trailer = format === "gzip" ? 8 : 4;
      for (let back = 1; back <= trailer; back++) {
        const changed = Uint8Array.from(encoded);
        changed[changed.length - back] = (changed.at(-back) ?? 0) ^ 1;
        await errorOf(() => inflate(changed, 300), "corrupt-chunk");
      }
    });

    test("bytes behind the end", async () => {
      const encoded = FORMATS[format].encode(bytes);
      await errorOf(
        () => inflate(Buffer.concat([encoded, Buffer.from("garbage")]), bytes.length),
        "corrupt-chunk",
      );
    });
  });

  test("several gzip members, one of them empty", () => {
    const parts = [bytes.subarray(0, 40_000), new Uint8Array(0), bytes.subarray(40_000)];
    const target = new Uint8Array(bytes.length);
    const source = Buffer.concat(parts.map((part) => gzipSync(part)));
    expect(deflate.inflate("gzip", source, target)).toBe(bytes.length);
    expectSame(target, bytes);
  });

  test("a wrong checksum in the first of two members", async () => {
    const first = gzipSync(bytes.subarray(0, 50));
    first[first.length - 6] = (first.at(-6) ?? 0) ^ 1;
    const source = Buffer.concat([first, gzipSync(bytes.subarray(50, 100))]);
    await errorOf(() => deflate.inflate("gzip", source, new Uint8Array(100)), "corrupt-chunk");
  });

  test("one format is not the other", async () => {
    await errorOf(
      () => deflate.inflate("gzip", deflateSync(bytes), new Uint8Array(bytes.length)),
      "corrupt-chunk",
    );
    await errorOf(
      () => deflate.inflate("zlib", gzipSync(bytes), new Uint8Array(bytes.length)),
      "corrupt-chunk",
    );
  });
});
