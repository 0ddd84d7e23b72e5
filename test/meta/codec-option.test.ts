import { describe, expect, it } from "vitest";
import { askedCodec, askedCodecs, type CodecText } from "../../src/meta/codec-option.ts";

const plain = (text: string) => {
  const [codec] = askedCodecs(text as CodecText).codecs;
  return codec && { name: codec.name, configuration: codec.configuration };
};

describe("askedCodecs", () => {
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

  it.each([
    ["zstd:5", ["zstd:5"], false],
    ["none", [], false],
    ["bitround:10,zstd:5", ["bitround:10", "zstd:5"], true],
    ["delta", ["delta"], true],
    ["crc32c", ["crc32c"], true],
    [
      ' transpose:1:0 , bytes:big, {"id": "blosc", "cname": "lz4"}, crc32c ',
      ["transpose:1,0", "bytes:big", "blosc:lz4,5,shuffle,0", "crc32c"],
      true,
    ],
    [
      "fixedscaleoffset:-1.5:1e3:i2,shuffle:2,zlib:9",
      ["fixedscaleoffset:-1.5,1000,i2", "shuffle:2", "zlib:9"],
      true,
    ],
  ])("reads the list %s", (text, expected, isList) => {
    const asked = askedCodecs(text as CodecText);
    const words = asked.codecs.map(({ name, configuration }) => {
      const values = Object.values(configuration).filter((value) => value !== null);
      return values.length > 0 ? `${name}:${values.join(",")}` : name;
    });
    expect(words).toEqual(expected);
    expect(asked.isList).toBe(isList);
  });

  it("keeps integers that a JavaScript number does not hold", () => {
    const [codec] = askedCodecs(
      '{"id": "lzma", "format": 3, "filters": [{"id": 4611686018427387905}]}',
    ).codecs;
    expect(JSON.stringify(codec?.configuration)).toContain("4611686018427387905");
  });

  it.each([
    ["zsdt", "Did you mean `zstd`?"],
    ["bitrund:10,zstd", "Did you mean `bitround`?"],
    ["zstd,delta", "`delta`, a filter of items, cannot come after `zstd`, a codec of bytes"],
    ["delta,transpose:1:0", "`transpose`, a filter of arrays, cannot come after `delta`"],
    ["bytes,json2", "both make bytes of items"],
    ["zstd,bytes", "`bytes`, a serializer, cannot come after `zstd`"],
    ["bitround,zstd", "Write bitround:KEEPBITS."],
    ["bitround:53", "0 to 52"],
    ["bitround:ten", "the keepbits `ten` is not a number"],
    ["bitround:10:4", "too many parts"],
    ["fixedscaleoffset:0", "fixedscaleoffset needs a scale"],
    ["shuffle:0,zstd", "the elementsize of shuffle is out of range"],
    ["bytes:middle", "bytes has no endian `middle`"],
    ["delta,none", "`none` cannot be in a list"],
    ["delta,", "there is no codec ``"],
    ["categorize,zstd", "Write it as JSON"],
    ["sharding_indexed", "Write --shards"],
    ["pcodec", "pcodec is not implemented"],
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
    const refuse = () => askedCodecs(text as CodecText);
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
