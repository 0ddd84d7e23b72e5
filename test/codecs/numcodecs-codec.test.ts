// @module-tag slow
// @module-tag registers
import LZ4 from "numcodecs/lz4";
import Zlib from "numcodecs/zlib";
import Zstd from "numcodecs/zstd";
import { describe, expect, test } from "vitest";
import type { NumcodecsCodec } from "../../src/codecs/numcodecs-codec.ts";
import { registerCodec } from "../../src/codecs/registry.ts";
import { decodeBytes, encodeBytes } from "../../src/codecs/standalone/decode-bytes.ts";
import { openArray, slice } from "../../src/index.ts";
import { given } from "../support/given.ts";
import { errorOf } from "./support.ts";

const bytes = new Uint8Array(Float32Array.from({ length: 500 }, (_, i) => Math.round(i / 7)).buffer);

describe.each([
  ["their-lz4", LZ4, { acceleration: 2 }, "lz4"],
  ["their-zstd", Zstd, { level: 1 }, "zstd"],
  ["their-zlib", Zlib, { level: 9 }, "zlib"],
] as const)("%s of the package numcodecs", (name, numcodecs, configuration, ours) => {
  registerCodec(name, numcodecs);
  registerCodec(`lazy-${name}`, async () => numcodecs);

  test("gives what ours reads, and reads what ours gives", async () => {
    const encoded = await encodeBytes({ id: name, ...configuration }, bytes);
    expect(await decodeBytes({ id: ours }, encoded)).toEqual(bytes);
    expect(await decodeBytes({ id: `lazy-${name}` }, await encodeBytes({ id: ours }, bytes))).toEqual(bytes);
  });

  test.each(["v2", "v3"] as const)("holds a whole array of %s", async (zarrFormat) => {
    const items = Int32Array.from({ length: 70 }, (_, i) => i * i);
    const codec = zarrFormat === "v2" ? { id: name, ...configuration } : { name, configuration };
    const grid = { shape: [7, 10], chunks: [3, 4], dataType: "int32" };
    const store = await given({ zarrFormat, arrays: { a: { ...grid, codecs: [codec], values: items } } });
    const { data } = await slice(await openArray({ store, path: "a" })).read();
    expect(data).toEqual(items);
  });

  test("may not give more or less than the metadata promise", async () => {
    const encoded = await encodeBytes({ id: name }, bytes);
    await errorOf(() => decodeBytes({ id: name }, encoded, { size: bytes.length - 1 }), "corrupt-chunk");
    await errorOf(() => decodeBytes({ id: name }, encoded, { size: bytes.length + 1 }), "corrupt-chunk");
  });
});

describe("a class of the user's", () => {
  const register = (name: string, codec: Partial<NumcodecsCodec>) =>
    registerCodec(name, {
      fromConfig: () => ({ encode: (data) => data, decode: (data) => data, ...codec }),
    });

  test("is given its configuration with its id, as plain values", async () => {
    let given: unknown;
    registerCodec("test-config", {
      fromConfig(config) {
        given = config;
        return { encode: async (data) => data, decode: async (data) => data };
      },
    });
    await encodeBytes({ name: "test-config", configuration: { level: 3, deep: [1.5] } }, bytes);
    expect(given).toEqual({ id: "test-config", level: 3, deep: [1.5] });
  });

  test("goes by a name of the package's for v3 where it is registered so", async () => {
    register("numcodecs.test-named", {});
    expect(await decodeBytes({ name: "numcodecs.test-named" }, bytes)).toEqual(bytes);
    register("test-short", {});
    expect(await decodeBytes({ name: "numcodecs.test-short" }, bytes)).toEqual(bytes);
  });

  test("that refuses its configuration", async () => {
    registerCodec("test-refusal", {
      fromConfig() {
        throw new RangeError("no such level");
      },
    });
    const error = await errorOf(() => encodeBytes({ id: "test-refusal" }, bytes), "invalid-metadata");
    expect(error.message).toContain("no such level");
  });

  test("that gives too much, no bytes, or fails", async () => {
    register("test-bomb", { encode: () => new Uint8Array(100_000) });
    await errorOf(() => encodeBytes({ id: "test-bomb" }, bytes), "codec-error");
    register("test-text", { decode: (() => "text") as never });
    await errorOf(() => decodeBytes({ id: "test-text" }, bytes), "codec-error");
    register("test-failure", { decode: () => Promise.reject(new Error("bad magic")) });
    const error = await errorOf(() => decodeBytes({ id: "test-failure" }, bytes), "codec-error");
    expect(error.message).toContain("bad magic");
  });
});
