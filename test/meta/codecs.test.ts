import { describe, expect, it } from "vitest";
import { slowestOf } from "../../src/codecs/descriptor.ts";
import type { ArrayMetadata, CodecConfig } from "../../src/meta/array-metadata.ts";
import { askedCodec, askedCodecs, type CodecText } from "../../src/meta/codec-option.ts";
import { costClassOf } from "../../src/meta/codec-traits.ts";
import type { DataType } from "../../src/meta/data-type.ts";
import { parseDataTypeOption } from "../../src/meta/data-type-option.ts";
import { recoded } from "../../src/meta/recode.ts";
import { byInnermost, wholeShards, withinShards, withoutShards, withShards } from "../../src/meta/shards.ts";
import { inMemoryOrder, orderOf, transposesOf } from "../../src/meta/v2/codecs.ts";
import { ZarrflowError } from "../../src/util/errors.ts";
import { named } from "./helpers.ts";

const plain = (text: string) => {
  const [codec] = askedCodecs(text as CodecText).codecs;
  return codec && { name: codec.name, configuration: codec.configuration };
};

describe("askedCodecs", () => {
  it.each([
    ["none", undefined],
    ["zstd", named("zstd", { level: 3 })],
    ["gzip:1", named("gzip", { level: 1 })],
    [
      "blosc:zstd:9:bitshuffle",
      named("blosc", { cname: "zstd", clevel: 9, shuffle: "bitshuffle", blocksize: 0 }),
    ],
    ['{"id": "zlib", "level": 2}', named("zlib", { level: 2 })],
    [
      '{"id": "blosc", "shuffle": 2}',
      named("blosc", { cname: "lz4", clevel: 5, shuffle: "bitshuffle", blocksize: 0 }),
    ],
    ['{"name": "zstd", "configuration": {"level": 7}}', named("zstd", { level: 7 })],
    ['{"name": "numcodecs.zlib", "configuration": {"level": 2}}', named("zlib", { level: 2 })],
    ['{"id": "gzip"}', named("gzip", { level: 5 })],
    ['{"name": "gzip"}', named("gzip", { level: 5 })],
    ['{"name": "zstd", "configuration": {"checksum": true}}', named("zstd", { level: 3, checksum: true })],
    ['{"name": "crc32c"}', named("crc32c")],
  ])("reads %s", (text, expected) => expect(plain(text)).toEqual(expected));

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
    ["bytes,json2", "both turn items into bytes"],
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
    expect(asked({ name: "zstd" })).toEqual(named("zstd", { level: 3 }));
    expect(asked(named("blosc", { cname: "zstd" }))).toEqual(
      named("blosc", { cname: "zstd", clevel: 5, shuffle: "shuffle", blocksize: 0 }),
    );
    expect(asked(named("gzip", { level: null })).configuration).toEqual({ level: 5 });
    expect(asked(named("mine", { own: 1 })).configuration).toEqual({ own: 1 });
  });

  it.each([
    [named("zstd", { levle: 1 }), "zstd has no setting `levle`"],
    [{ name: "zstd", configuration: {}, level: 1 }, "a codec has no member `level`"],
    [{ name: "zstd", configuration: 5 }, "the configuration of zstd is not an object"],
  ])("refuses %j", (config, reason) => {
    expect(() => asked(config)).toThrow(
      expect.objectContaining({ code: "invalid-option", message: expect.stringContaining(reason) }),
    );
  });
});

describe("the codecs of an array that becomes those that are asked for", () => {
  const bytes = named("bytes", { endian: "little" });
  const big = named("bytes", { endian: "big" });
  const order = named("transpose", { order: [1, 0] });
  const zstd = (level: number) => named("zstd", { level });
  const crc32c = named("crc32c");
  const delta = named("delta", { dtype: "<i4" });

  const typeOf = (name: string): DataType => parseDataTypeOption(name).dataType;

  /** The codecs of an array that becomes those of a text. */
  function becoming(codecs: readonly CodecConfig[], dataType: string, text: string): object[] {
    const all = recoded({ codecs, dataType: typeOf(dataType) }, askedCodecs(text as CodecText));
    return all.map(({ name, configuration }) => ({ name, configuration }));
  }

  const text = named("vlen-utf8");
  const plain = named("bytes");
  const deltaOf = (dtype: string) => named("delta", { dtype });
  const shards = (...codecs: CodecConfig[]) => named("sharding_indexed", { chunk_shape: [2], codecs });
  const FILTERED = [bytes, delta, zstd(3), crc32c];
  const TURNED = [order, big, delta, zstd(3), crc32c];
  const scale = named("fixedscaleoffset", { offset: 10, scale: 100, astype: "<i2", dtype: "<f8" });
  const SCALED = [bytes, scale, deltaOf("<i2"), named("shuffle", { elementsize: 2 })];
  const KEPT = named("transpose", { order: [0, 1] });
  const CAST = named("cast_value", { data_type: "int16" });
  const ROUNDED = shards(bytes, named("bitround", { keepbits: 4 }), zstd(9));

  it.each<[string, CodecConfig[], string, string, CodecConfig[]]>([
    ["a compressor, for compressors alone", FILTERED, "int32", "zstd:9", [bytes, delta, zstd(9), crc32c]],
    ["none, likewise", [order, ...FILTERED], "int32", "none", [order, bytes, delta, crc32c]],
    [
      "a list, for all but order and serializer",
      TURNED,
      "int32",
      "zstd:9,crc32c",
      [order, big, zstd(9), crc32c],
    ],
    [
      "filters with the type of the array",
      [big, zstd(3)],
      "int16",
      "delta,zstd:9",
      [big, deltaOf(">i2"), zstd(9)],
    ],
    [
      "filters one after the other",
      [bytes],
      "float64",
      "fixedscaleoffset:10:100:int16,delta,shuffle",
      SCALED,
    ],
    [
      "an order that is asked for",
      [order, bytes],
      "uint16",
      "transpose:0:1,bytes:big,zstd:1",
      [KEPT, big, zstd(1)],
    ],
    [
      "a byte order where a cast needs one",
      [plain],
      "uint8",
      "cast_value:int16,zstd:1",
      [CAST, bytes, zstd(1)],
    ],
    ["no byte order where nothing needs one", [], "uint8", "bytes:big", [plain]],
    ["booleans as bits", [plain], "bool", "packbits", [plain, named("packbits")]],
    [
      "what makes bytes of text",
      [text, zstd(3)],
      "string",
      "gzip:1,crc32c",
      [text, named("gzip", { level: 1 }), crc32c],
    ],
    ["codecs in shards", [shards(bytes, zstd(3)), crc32c], "float32", "bitround:4,zstd:9", [ROUNDED, crc32c]],
  ])("takes %s", (_, codecs, dataType, text, expected) =>
    expect(becoming(codecs, dataType, text)).toEqual(expected),
  );

  it.each([
    ["int16", "bitround:4", { reason: "bitround encodes floats only", details: { found: "<i2" } }],
    ["float32", "bitround:24", { details: { expected: "at most 23 for float32", found: "24" } }],
    ["float64", "fixedscaleoffset:0:1:i2,bitround:4", { reason: "bitround encodes floats only" }],
    [
      "string",
      "delta,zstd",
      { reason: "delta encodes integers or floats only", details: { found: "string" } },
    ],
    ["uint8", "packbits", { reason: "packbits encodes booleans only" }],
    ["float32", "quantize:3:xx", { code: "unsupported-data-type" }],
  ])("refuses for %s %s", (dataType, text, error) => {
    const { details, ...rest } = { code: "invalid-option", ...error } as { code: string; details?: object };
    expect(() => becoming([bytes], dataType, text)).toThrow(
      expect.objectContaining({ ...rest, ...(details && { details: expect.objectContaining(details) }) }),
    );
  });
});

describe("codecs", () => {
  const blosc = (cname: string) => named("blosc", { cname });
  const shards = (...codecs: CodecConfig[]) =>
    named("sharding_indexed", { codecs: codecs.map(({ name, configuration }) => ({ name, configuration })) });

  it.each<[string, ...CodecConfig[][]]>([
    ["none", [], [named("transpose", { order: [1, 0] }), named("bytes"), named("crc32c")]],
    ["none", [named("vlen-utf8")], [shards(named("bytes"), named("crc32c"))]],
    ["lz4", [named("bytes"), named("lz4")], [named("bytes"), blosc("lz4hc")]],
    ["lz4", [named("bytes"), named("delta"), blosc("snappy")]],
    ["zstd", [named("bytes"), blosc("zstd")], [shards(named("bytes"), named("zstd"))]],
    ["deflate", [named("bytes"), blosc("zlib")], [named("bytes"), named("v1.gzip")]],
    ["other", [named("bytes"), named("lzma"), named("crc32c")], [named("bytes"), named("no-such-codec")]],
  ])("takes as long as the slowest: %s", (expected, ...lists) => {
    for (const codecs of lists) expect(slowestOf(codecs.map(costClassOf))).toBe(expected);
  });
});

describe("arrays", () => {
  const plain: ArrayMetadata = {
    kind: "array",
    shape: [10, 20],
    dataType: { kind: "uint", size: 1 },
    chunkGrid: { chunkShape: [2, 5] },
    chunkKeyEncoding: { name: "default", separator: "/" },
    codecs: [named("transpose", { order: [1, 0] }), named("bytes"), named("gzip", { level: 1 })],
    fillValue: { bytes: new Uint8Array(1) },
    attributes: {},
  };
  const sharded = withShards(plain, [4, 20]);

  describe("shards", () => {
    it("are put around chunks, and taken away again", () => {
      expect(sharded.chunkGrid).toEqual({ chunkShape: [4, 20], innerChunkShape: [2, 5] });
      expect(sharded.codecs.map(({ name }) => name)).toEqual(["sharding_indexed"]);
      expect(withoutShards(sharded)).toEqual(plain);
      expect(withoutShards(plain)).toBe(plain);
    });

    it("hold whole chunks", () => {
      for (const shape of [[3, 20], [4], [0, 5]])
        expect(() => withShards(plain, shape)).toThrow(ZarrflowError);
      expect(wholeShards([-1, 10], plain)).toEqual([10, 10]);
      expect(wholeShards([4, -1], { ...plain, shape: [10, 21] })).toEqual([4, 25]);
    });

    it("behind a transpose hold chunks of the array's dimensions", () => {
      const inner = named("sharding_indexed", { chunk_shape: [5, 2], codecs: [named("bytes")] });
      const array = { ...sharded, codecs: [named("transpose", { order: [1, 0] }), inner] };
      const within = withinShards(array);
      expect(within).toMatchObject({ dimensions: [1, 0], shardShape: [4, 20], chunksPerShard: [2, 4] });
      expect(within?.inner.chunkGrid).toEqual({ chunkShape: [2, 5] });
      expect(within?.inner.codecs.map(({ name }) => name)).toEqual(["transpose", "bytes"]);
    });

    it("in shards are seen by the innermost chunks", () => {
      const nested = withShards({ ...sharded, chunkGrid: { chunkShape: [4, 20] } }, [8, 40]);
      expect(withinShards(nested)?.inner.chunkGrid).toEqual({ chunkShape: [4, 20], innerChunkShape: [2, 5] });
      expect(byInnermost(nested)).toEqual(plain);
      expect(withoutShards(nested)).toEqual(plain);
    });

    it("cannot be seen into where other codecs follow or come before", () => {
      const [own] = sharded.codecs;
      if (own === undefined) throw new Error("no codec");
      for (const codecs of [
        [own, named("crc32c")],
        [named("cast_value"), own],
      ]) {
        const array = { ...sharded, codecs };
        expect(withinShards(array)).toBeUndefined();
        expect(byInnermost(array)).toBe(array);
        expect(withoutShards(array).chunkGrid).toEqual({ chunkShape: [2, 5] });
      }
      expect(withinShards(plain)).toBeUndefined();
    });
  });
});

describe("the order of items", () => {
  const transpose = (...order: number[]) => named("transpose", { order });

  it("puts an order into transposes and finds it there", () => {
    expect(transposesOf("C", 3)).toEqual([]);
    expect(transposesOf("F", 1)).toEqual([]);
    expect(transposesOf("F", 3)).toEqual([transpose(2, 1, 0)]);
    expect(orderOf([], 3)).toBe("C");
    expect(orderOf([transpose(0, 1, 2)], 3)).toBe("C");
    expect(orderOf([transpose(2, 1, 0)], 3)).toBe("F");
    expect(orderOf([transpose(2, 0, 1)], 3)).toBeUndefined();
    expect(orderOf([transpose(1, 0), transpose(1, 0)], 2)).toBeUndefined();
  });

  it("leaves C and Fortran order, and takes C for any other", () => {
    const array = (...codecs: ArrayMetadata["codecs"]): ArrayMetadata => ({
      kind: "array",
      shape: [4, 5, 6],
      dataType: { kind: "uint", size: 1 },
      chunkGrid: { chunkShape: [2, 5, 3] },
      chunkKeyEncoding: { name: "default", separator: "/" },
      codecs,
      fillValue: { bytes: new Uint8Array(1) },
      attributes: {},
    });
    const bytes = named("bytes");
    for (const kept of [array(bytes), array(transpose(2, 1, 0), bytes)])
      expect(inMemoryOrder(kept)).toBe(kept);
    expect(inMemoryOrder(array(transpose(1, 0, 2), bytes)).codecs).toEqual([bytes]);
    expect(inMemoryOrder(array(transpose(1, 0, 2), transpose(0, 2, 1), bytes)).codecs).toEqual([bytes]);
  });
});
