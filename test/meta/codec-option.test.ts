import { describe, expect, it } from "vitest";
import { askedCodec, parseCodec } from "../../src/meta/codec-option.ts";

const plain = (text: string) => {
  const codec = parseCodec(text);
  return codec && { name: codec.name, configuration: codec.configuration };
};

describe("parseCodec", () => {
  it.each([
    ["none", undefined],
    ["zstd", { name: "zstd", configuration: { level: 3 } }],
    ["gzip:1", { name: "gzip", configuration: { level: 1 } }],
    [
      "blosc:zstd:9:bitshuffle",
      { name: "blosc", configuration: { cname: "zstd", clevel: 9, shuffle: "bitshuffle", blocksize: 0 } },
    ],
    ['{"id": "zlib", "level": 2}', { name: "zlib", configuration: { level: 2 } }],
    [
      '{"id": "blosc", "shuffle": 2}',
      { name: "blosc", configuration: { cname: "lz4", clevel: 5, shuffle: "bitshuffle", blocksize: 0 } },
    ],
    ['{"name": "zstd", "configuration": {"level": 7}}', { name: "zstd", configuration: { level: 7 } }],
    [
      '{"name": "numcodecs.zlib", "configuration": {"level": 2}}',
      { name: "zlib", configuration: { level: 2 } },
    ],
    ['{"id": "gzip"}', { name: "gzip", configuration: { level: 5 } }],
    ['{"name": "gzip"}', { name: "gzip", configuration: { level: 5 } }],
    [
      '{"name": "zstd", "configuration": {"checksum": true}}',
      { name: "zstd", configuration: { level: 3, checksum: true } },
    ],
    ['{"name": "crc32c"}', { name: "crc32c", configuration: {} }],
  ])("reads %s", (text, expected) => {
    expect(plain(text)).toEqual(expected);
  });

  it("keeps integers that a JavaScript number does not hold", () => {
    const codec = parseCodec('{"id": "lzma", "format": 3, "filters": [{"id": 4611686018427387905}]}');
    expect(JSON.stringify(codec?.configuration)).toContain("4611686018427387905");
  });

  it.each([
    ["zsdt", "Did you mean `zstd`?"],
    ["zstd:fast", "not a whole number"],
    ["zstd:1:2", "too many parts"],
    ["blosc:lz5", "lz4"],
    ['{"id": ', "is not a codec"],
    ['{"level": 1}', "is not a codec"],
    ["{}", "is not a codec"],
    ['{"name": "zstd", "configuration": {"levle": 19}}', "Did you mean `level`?"],
    ['{"id": "zstd", "levle": 19}', "Did you mean `level`?"],
    ['{"id": "zstd", "lvl": 19}', "zstd has no setting `lvl`; expected level, checksum"],
    ['{"name": "numcodecs.zlib", "configuration": {"levle": 2}}', "Did you mean `level`?"],
    ['{"id": "lzma", "prest": 2}', "Did you mean `preset`?"],
    ['{"name": "zstd", "configuration": {"level": 3}, "foo": 1}', "a codec has no member `foo`"],
  ])("refuses %s", (text, words) => {
    const refuse = () => parseCodec(text);
    expect(refuse).toThrow(expect.objectContaining({ code: "invalid-option" }));
    try {
      refuse();
    } catch (error) {
      expect(JSON.stringify([(error as Error).message, (error as { details: object }).details])).toContain(
        words,
      );
    }
  });
});

describe("askedCodec", () => {
  // as callers from JavaScript write it, without types
  const asked = (config: object) => {
    const { name, configuration } = askedCodec(config as Parameters<typeof askedCodec>[0]);
    return { name, configuration };
  };

  it("takes the settings of the name alone where none are given", () => {
    expect(asked({ name: "zstd" })).toEqual({ name: "zstd", configuration: { level: 3 } });
    expect(asked({ name: "blosc", configuration: { cname: "zstd" } })).toEqual({
      name: "blosc",
      configuration: { cname: "zstd", clevel: 5, shuffle: "shuffle", blocksize: 0 },
    });
    expect(asked({ name: "gzip", configuration: { level: null } }).configuration).toEqual({ level: 5 });
    expect(asked({ name: "mine", configuration: { own: 1 } }).configuration).toEqual({ own: 1 });
  });

  it.each([
    [{ name: "zstd", configuration: { levle: 1 } }, "zstd has no setting `levle`"],
    [{ name: "zstd", configuration: {}, level: 1 }, "a codec has no member `level`"],
    [{ name: "zstd", configuration: 5 }, "the configuration of zstd is not an object"],
  ])("refuses %j", (config, reason) => {
    expect(() => asked(config)).toThrow(
      expect.objectContaining({ code: "invalid-option", message: expect.stringContaining(reason) }),
    );
  });
});
