import { describe, expect, it } from "vitest";
import { createPipeline } from "../../src/codecs/chain/codec-chain.ts";
import { ConfigReader } from "../../src/codecs/config-reader.ts";
import { foreignSizeBound, MAX_CHUNK_SIZE, maxStoredSize } from "../../src/codecs/limits.ts";
import { JsonNumber, type JsonObject } from "../../src/util/json-value.ts";
import { inWords, titled } from "../support/words.ts";
import { errorOf, fixedCodec, specOf } from "./support.ts";

/** What is written with good settings, and settings of other writers that only an encoder would look at. */
const CASES: readonly [string, JsonObject, JsonObject][] = [
  ["zstd", { level: 1 }, { level: 100 }],
  ["zstd", { level: 1 }, { level: "fast" }],
  ["zstd", { level: 1 }, { level: 1, checksum: 1 }],
  ["gzip", { level: 1 }, { level: 99 }],
  ["zlib", { level: 1 }, { level: -5 }],
  ["v1.gzip", { level: 1 }, { level: 12 }],
  ["bz2", { level: 1 }, { level: 0 }],
  ["lz4", {}, { acceleration: 1.5 }],
  ["lzma", {}, { preset: 12 }],
  ["lzma", {}, { check: 77 }],
  ["lzma", {}, { filters: [] }],
  ["blosc", {}, { clevel: 12 }],
  ["blosc", {}, { cname: "lz5" }],
  ["blosc", {}, { cname: 4 }],
  ["blosc", {}, { shuffle: "best" }],
  ["blosc", {}, { typesize: 0 }],
  ["blosc", {}, { blocksize: -1 }],
  ["shuffle", { elementsize: 1 }, { elementsize: 0 }],
  ["shuffle", { elementsize: 1 }, { elementsize: -3 }],
  ["bitround", { keepbits: 23 }, { keepbits: 99 }],
  ["quantize", { digits: 5, dtype: "<f4" }, { digits: 1000, dtype: "<f4" }],
];

describe("settings that only an encoder needs", () => {
  const title = (name: string, _: unknown, odd: unknown) => `of ${name}, ${inWords(odd)},`;
  it.each(titled(CASES, title))(
    "%s do not stop a decoder, and are refused by an encoder",
    async (_, name, good, odd) => {
      const listOf = (configuration: JsonObject) => [
        { name: "bytes", configuration: { endian: "little" } },
        { name, configuration },
      ];
      const float = { kind: "float", size: 4 } as const;
      const bytes = new Uint8Array(Float32Array.from({ length: 64 }, (_, i) => (i % 8) * 0.5).buffer);
      const [writer, reader] = [
        await fixedCodec(listOf(good), float, 64),
        await fixedCodec(listOf(odd), float, 64),
      ];
      expect(await reader.decode(await writer.encode(bytes))).toEqual(bytes);
      const error = await errorOf(() => reader.encode(bytes), "invalid-metadata", "unsupported-codec");
      expect(error.details.codec).toBe(name);
      const making = () => createPipeline(listOf(odd), specOf([64], float), { isWritten: true });
      expect((await errorOf(making, "invalid-metadata", "unsupported-codec")).details).toMatchObject({
        codec: name,
        pointer: expect.stringMatching(/^\/codecs\/1/),
        hint: expect.any(String),
      });
    },
  );
});

describe("a reader of settings", () => {
  const scale = new JsonNumber("1.50");
  const settings = new ConfigReader({ level: 3, scale, flag: true, word: "end", none: null });

  it("reads what is there, takes the fallback for what is absent or null, and sees no inherited names", () => {
    expect(settings.integer("level", 0, 9)).toBe(3);
    expect(settings.number("scale")).toBe(1.5);
    expect(settings.flag("flag", false)).toBe(true);
    expect([settings.word("word", ["start", "end"]), settings.text("word")]).toEqual(["end", "end"]);
    expect(settings.integer("none", 0, 9, 5)).toBe(5);
    expect(settings.flag("absent", false)).toBe(false);
    expect(settings.word("absent", ["a", "b"], "b")).toBe("b");
    for (const name of ["none", "toString", "__proto__"]) expect(settings.value(name)).toBeUndefined();
  });

  it.each([
    ["level", () => settings.integer("level", 4, 9)],
    ["scale", () => settings.integer("scale", 0, 9)],
    ["word", () => settings.number("word")],
    ["level", () => settings.flag("level", true)],
    ["word", () => settings.word("word", ["start"])],
    ["flag", () => settings.text("flag")],
    ["absent", () => settings.integer("absent", 0, 9)],
  ])("refuses others with their name: %s", async (name, read) => {
    expect((await errorOf(read, "invalid-metadata")).message).toContain(`\`${name}\``);
  });
});

it("chunks of fixed items may be stored some larger than ours, of varying ones as large as any", () => {
  const bool = specOf([4], { kind: "bool", size: 1 });
  expect(maxStoredSize({ spec: bool, maxEncodedSize: 1000 })).toBe(foreignSizeBound(1000));
  expect(maxStoredSize({ spec: bool, maxEncodedSize: 2 ** 31 })).toBe(MAX_CHUNK_SIZE);
  const strings = specOf([4], { kind: "string" });
  expect(maxStoredSize({ spec: strings, maxEncodedSize: 1000 })).toBe(MAX_CHUNK_SIZE);
});
