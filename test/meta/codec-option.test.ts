import { describe, expect, it } from "vitest";
import { parseCodec } from "../../src/meta/codec-option.ts";

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
