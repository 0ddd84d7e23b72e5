import { describe, expect, it } from "vitest";
import type { ArrayMetadata } from "../../../src/meta/array-metadata.ts";
import type { DataType } from "../../../src/meta/data-type.ts";
import { parseFillV1, writeFillV1 } from "../../../src/meta/v1/array.ts";
import { layoutV1, v1Format } from "../../../src/meta/v1/v1.ts";
import { parseNumpyType } from "../../../src/meta/v2/data-type.ts";
import { v2Format } from "../../../src/meta/v2/v2.ts";
import type { JsonObject, JsonValue } from "../../../src/util/json-value.ts";
import { writeJson } from "../../../src/util/json-write.ts";
import {
  arrayWith,
  failure,
  hex,
  json,
  lostPointers,
  named,
  parseWith,
  refusal,
  writeWith,
} from "../helpers.ts";

const v1 = v1Format();
const v2 = v2Format();

const META = {
  ...{ zarr_format: 1, shape: [20, 30], chunks: [10, 15], dtype: "<i4" },
  ...{ compression: "zlib", compression_opts: 1, fill_value: 42, order: "C" },
};

/** The array of V1-15, as the reference writes it: 313 bytes. */
const EXAMPLE = `{
    "chunks": [
        10000,
        100
    ],
    "compression": "blosc",
    "compression_opts": {
        "clevel": 3,
        "cname": "lz4",
        "shuffle": 1
    },
    "dtype": "<i4",
    "fill_value": 42,
    "order": "C",
    "shape": [
        1000000,
        1000
    ],
    "zarr_format": 1
}`;

const metaOf = (array: ArrayMetadata, options?: Parameters<typeof v1.write>[2]) =>
  json(writeWith(v1, array, options).meta ?? "");

const namesOf = (array?: ArrayMetadata) => array?.codecs.map(({ name }) => name);

describe("the example of the specification", () => {
  it("is written byte for byte", () => {
    expect(EXAMPLE).toHaveLength(313);
    const array = arrayWith(v1, { meta: EXAMPLE, attrs: {} });
    expect(writeWith(v1, array)).toEqual({ attrs: "{}", meta: EXAMPLE });
    expect(array).toMatchObject({
      shape: [1000000, 1000],
      dataType: { kind: "int", size: 4 },
      chunkGrid: { chunkShape: [10000, 100] },
      chunkKeyEncoding: { name: "plain", separator: "." },
      codecs: [
        named("bytes", { endian: "little" }),
        named("blosc", { cname: "lz4", clevel: 3, shuffle: "shuffle", blocksize: 0 }),
      ],
      fillValue: { bytes: Uint8Array.of(42, 0, 0, 0) },
    });
  });

  it("has its attributes sorted, in 52 bytes", () => {
    const array = arrayWith(v1, { meta: EXAMPLE });
    const attributes = { foo: 42, bar: 4.2, baz: "quux" };
    const { attrs = "" } = writeWith(v1, { ...array, attributes });
    expect(attrs).toHaveLength(52);
    expect(Object.keys(JSON.parse(attrs))).toEqual(["bar", "baz", "foo"]);
  });
});

describe("attributes", () => {
  it("are none where there is no document, and always written", () => {
    const array = arrayWith(v1, { meta: META });
    expect(array.attributes).toEqual({});
    expect(writeWith(v1, array).attrs).toBe("{}");
  });

  it("hold the names of dimensions", () => {
    const attrs = { _ARRAY_DIMENSIONS: ["y", "x"], units: "K" };
    const array = arrayWith(v1, { meta: META, attrs });
    expect(array).toMatchObject({ dimensionNames: ["y", "x"], attributes: { units: "K" } });
    expect(JSON.parse(writeWith(v1, array).attrs ?? "")).toEqual(attrs);
  });

  it.each(["[]", "3", "null", "{"])("cannot be %s", (attrs) => {
    const { code, details } = failure(() => parseWith(v1, { meta: META, attrs }));
    expect([code, details.key]).toEqual(["invalid-metadata", "attrs"]);
  });

  it("take bare NaN tokens with a finding, and lose them on writing", () => {
    const parsed = parseWith(v1, { meta: META, attrs: '{"lowest": NaN}' });
    expect(parsed?.findings).toMatchObject([{ pointer: "/lowest" }]);
    const array = arrayWith(v1, { meta: META, attrs: '{"lowest": NaN}' });
    expect(lostPointers(() => writeWith(v1, array))).toEqual(["/attributes/lowest"]);
    const { attrs = "" } = writeWith(v1, array, { allowLoss: ["/attributes/lowest"] });
    expect(JSON.parse(attrs)).toEqual({ lowest: null });
  });
});

// test/spec/v1 has what the specification asks for
describe("what breaks the rules of `meta`", () => {
  const invalid = "invalid-metadata";
  it.each<[string, string, ...unknown[]]>([
    [invalid, "chunks", true],
    [invalid, "compression_opts", { level: 1 }],
    [invalid, "fill_value", 2 ** 31],
  ])("is %s at the name %s: %j ...", (code, name, ...values) => {
    for (const value of values) {
      const error = failure(() => parseWith(v1, { meta: { ...META, [name]: value } }));
      expect(error, String(value)).toMatchObject({ code, details: { key: "meta", pointer: `/${name}` } });
    }
  });

  it.each(['{"zarr_format": 1,}', "[]", ""])("is invalid where %j is no document", (meta) => {
    expect(failure(() => parseWith(v1, { meta }))).toMatchObject({ code: invalid, details: { key: "meta" } });
  });

  it("is nothing where there are attributes alone", () => {
    expect(parseWith(v1, { attrs: {} })).toBeUndefined();
  });
});

describe("what may be left out or added", () => {
  it("takes C for an order that is not stated, and states it on writing", () => {
    const { order: _, ...meta } = META;
    expect(metaOf(arrayWith(v1, { meta }))).toEqual(META);
  });

  it("ignores names that it does not know, and keeps them", () => {
    const meta = { ...META, filters: null, note: { a: 1 } };
    expect(metaOf(arrayWith(v1, { meta }))).toEqual(meta);
  });

  it("takes a byte order mark", () => {
    expect(arrayWith(v1, { meta: `\ufeff${JSON.stringify(META)}` }).shape).toEqual([20, 30]);
  });

  it("takes bare NaN tokens as a fill value, with a finding, and writes them", () => {
    const meta = JSON.stringify({ ...META, dtype: "<f8" }).replace("42", "NaN");
    expect(parseWith(v1, { meta })?.findings).toMatchObject([{ pointer: "/fill_value" }]);
    expect(writeWith(v1, arrayWith(v1, { meta })).meta).toContain('"fill_value": NaN,');
  });
});

describe("compression", () => {
  const LZMA = { format: 3, check: 0, preset: null, filters: [{ id: 33, preset: 1 }] };
  it.each<[string | undefined, string | null, unknown]>([
    ["blosc", "blosc", { cname: "zlib", clevel: 9, shuffle: 2 }],
    ["blosc", "blosc", { cname: "zstd", clevel: 5, shuffle: 0 }],
    ["blosc", "blosc", null],
    ["zlib", "zlib", 9],
    ["zlib", "zlib", null],
    ["v1.gzip", "gzip", 1],
    ["bz2", "bz2", 1],
    ["lzma", "lzma", LZMA],
    ["lzma", "lzma", null],
    [undefined, "none", null],
    [undefined, null, null],
  ])("is read as %s, and kept as it is: %j with options %j", (name, compression, compression_opts) => {
    const meta = { ...META, compression, compression_opts };
    const array = arrayWith(v1, { meta });
    expect(namesOf(array)).toEqual(name ? ["bytes", name] : ["bytes"]);
    expect(metaOf(array)).toEqual(meta);
  });

  it("keeps the filters of raw lzma in its configuration", () => {
    const array = arrayWith(v1, { meta: { ...META, compression: "lzma", compression_opts: LZMA } });
    expect(array.codecs.at(-1)?.configuration).toEqual(LZMA);
  });

  it.each<[JsonObject & { id: string }, JsonValue]>([
    [
      { id: "blosc", cname: "lz4", clevel: 5, shuffle: -1 },
      { cname: "lz4", clevel: 5, shuffle: 1 },
    ],
    [
      { id: "blosc", cname: "snappy", clevel: 1, shuffle: 2 },
      { cname: "snappy", clevel: 1, shuffle: 2 },
    ],
    [{ id: "zlib", level: 3 }, 3],
    [{ id: "bz2", level: 9 }, 9],
    [{ id: "lzma", ...LZMA }, LZMA],
  ])("of v2, %j, becomes options %j", (compressor, compression_opts) => {
    const array = arrayWith(v2, { ".zarray": fromV2({ compressor }) });
    expect(metaOf(array)).toEqual({ ...META, compression: compressor.id, compression_opts });
  });

  it("shuffles bits of items of one byte where v2 leaves it to the codec", () => {
    const compressor = { id: "blosc", cname: "lz4", clevel: 5, shuffle: -1 };
    const array = arrayWith(v2, { ".zarray": fromV2({ compressor, dtype: "|u1" }) });
    expect(metaOf(array)).toMatchObject({ compression_opts: { shuffle: 2 } });
  });

  it("is `none` where there is none", () => {
    const array = arrayWith(v2, { ".zarray": fromV2({ compressor: null }) });
    expect(metaOf(array)).toEqual({ ...META, compression: "none", compression_opts: null });
  });
});

describe("order F", () => {
  const LZ4 = { cname: "lz4", clevel: 5, shuffle: 1 };
  const withOrder = (compression: string, compression_opts: unknown) => ({
    meta: { ...META, order: "F", compression, compression_opts },
  });

  it("is the layout of blosc chunks", () => {
    const array = arrayWith(v1, withOrder("blosc", LZ4));
    expect(array.codecs[0]).toEqual(named("transpose", { order: [1, 0] }));
    expect(metaOf(array)).toMatchObject({ order: "F" });
  });

  it.each(["zlib 1", "bz2 1", "lzma null", "none null"])("is C in chunks of %s, and written so", (words) => {
    const [compression = "", options = ""] = words.split(" ");
    const array = arrayWith(v1, withOrder(compression, JSON.parse(options)));
    expect(namesOf(array)).not.toContain("transpose");
    expect(metaOf(array)).toMatchObject({ order: "C" });
  });

  it("is taken literally where the reader says so, and cannot be written", () => {
    const literal = v1Format("as-stated");
    const array = arrayWith(literal, withOrder("zlib", 1));
    expect(namesOf(array)).toEqual(["transpose", "bytes", "zlib"]);
    expect(lostPointers(() => writeWith(v1, array))).toEqual(["/order"]);
  });

  it("goes to v2 as the chunks lie", () => {
    const order = (compression: string, options: unknown) =>
      json(writeWith(v2, arrayWith(v1, withOrder(compression, options)))[".zarray"] ?? "");
    expect(order("zlib", 1)).toMatchObject({
      order: "C",
      compressor: { id: "zlib", level: 1 },
      filters: null,
    });
    expect(order("blosc", LZ4)).toMatchObject({ order: "F", compressor: { id: "blosc", ...LZ4 } });
    expect(order("none", null)).toMatchObject({ order: "C", compressor: null });
  });

  it("is given up where chunks are made anew without blosc", () => {
    const adopted = (compressor: unknown) =>
      namesOf(v1.adopt?.(arrayWith(v2, { ".zarray": fromV2({ compressor, order: "F" }) })));
    expect(adopted({ id: "zlib", level: 1 })).toEqual(["bytes", "zlib"]);
    expect(adopted({ id: "blosc", ...LZ4 })).toEqual(["transpose", "bytes", "blosc"]);
  });

  it("takes the place of an order that is neither", () => {
    const array = arrayWith(v1, withOrder("blosc", LZ4));
    const names = (...order: number[]) => {
      const codecs = [named("transpose", { order }), ...array.codecs.slice(1)];
      const shape = [4, 5, 6];
      return namesOf(v1.adopt?.({ ...array, shape, chunkGrid: { chunkShape: shape }, codecs }));
    };
    expect(names(1, 0, 2)).toEqual(["bytes", "blosc"]);
    expect(names(2, 1, 0)).toEqual(["transpose", "bytes", "blosc"]);
  });
});

describe("what v1 cannot hold", () => {
  const pointers = (array: ArrayMetadata) => lostPointers(() => writeWith(v1, array));
  const ofV2 = (members: object) => arrayWith(v2, { ".zarray": fromV2(members) });
  const blosc = { id: "blosc", cname: "lz4", clevel: 5, shuffle: 1 };

  it.each<[string, ...object[]]>([
    ["/compressor/id", { compressor: { id: "zstd", level: 1 } }, { compressor: { id: "gzip", level: 1 } }],
    ["/compressor/id", { compressor: { ...blosc, cname: "zstd" } }],
    ["/compressor/id", { compressor: { ...blosc, blocksize: 4096 } }],
    ["/filters/0/id", { filters: [{ id: "delta", dtype: "<i4" }] }, { filters: [{ id: "crc32" }] }],
    ["/shape", { shape: [], chunks: [] }],
    ["/chunk_key_encoding", { dimension_separator: "/" }],
    ["/order", { order: "F" }],
    ["/fill_value", { dtype: "|S3", fill_value: "YWI=" }, { dtype: "|V2", fill_value: "AQI=" }],
    ["/data_type", { dtype: "|O", fill_value: "", filters: [{ id: "vlen-utf8" }] }],
  ])("is refused at %s: %j ...", (pointer, ...refused) => {
    for (const members of refused)
      expect(pointers(ofV2(members)), JSON.stringify(members)).toEqual([pointer]);
  });

  it("names of some dimensions, and an attribute in the place of names", () => {
    const array = ofV2({});
    expect(pointers({ ...array, dimensionNames: ["y", null] })).toEqual(["/dimension_names"]);
    expect(pointers({ ...array, dimensionNames: ["y", "x"], attributes: { _ARRAY_DIMENSIONS: 1 } })).toEqual([
      "/attributes/_ARRAY_DIMENSIONS",
    ]);
    expect(JSON.parse(writeWith(v1, { ...array, dimensionNames: [null, null] }).attrs ?? "")).toEqual({});
  });

  it("may go where it is allowed by name", () => {
    const array = ofV2({ dtype: "|S3", fill_value: "YWI=" });
    expect(metaOf(array, { allowLoss: ["/fill_value"] })).toMatchObject({ fill_value: null });
  });

  it("a group, which leaves nothing where that is allowed", () => {
    const group = { kind: "group", attributes: { title: "x" } } as const;
    expect(lostPointers(() => writeWith(v1, group))).toEqual(["/node_type", "/attributes"]);
    expect(writeWith(v1, group, { allowLoss: ["/node_type", "/attributes"] })).toEqual({});
  });

  it("zstd inside blosc is kept in what was read, and refused in what is made anew", () => {
    const compression_opts = { cname: "zstd", clevel: 5, shuffle: 1 };
    const array = arrayWith(v1, { meta: { ...META, compression: "blosc", compression_opts } });
    expect(metaOf(array)).toMatchObject({ compression_opts });
    expect(pointers(v1.adopt?.(array) ?? array)).toEqual(["/compression"]);
  });

  it("the alias gzip becomes zlib in what is made anew", () => {
    const array = arrayWith(v1, { meta: { ...META, compression: "gzip" } });
    expect(metaOf(v1.adopt?.(array) ?? array)).toMatchObject({ compression: "zlib", compression_opts: 1 });
    expect(failure(() => writeWith(v2, array)).code).toBe("loss-refused");
  });
});

describe("the same array in v2", () => {
  it.each([
    ['"<f8"', "NaN"],
    ['"<c16"', "[1.5,Infinity]"],
    ['"|b1"', "true"],
    ['">u8"', "18446744073709551615"],
    ['"<M8[ns]"', "-9223372036854775808"],
    ['[["x","<f4"],["y",">i2"]]', "0"],
    ['"<U3"', '"abc"'],
    ['"<i4"', "null"],
  ])("of %s with the fill value %s comes back as it was", (dtype, fill) => {
    const text = JSON.stringify(META).replace('"<i4"', dtype).replace("42", fill);
    const before = arrayWith(v1, { meta: text });
    const there = arrayWith(v2, writeWith(v2, before));
    expect(there.fillValue.bytes).toEqual(before.fillValue.bytes);
    expect(there.dataType).toEqual(before.dataType);
    expect(metaOf(there)).toEqual(json(text));
  });
});

/** A `.zarray` that says what META says, with other members. */
function fromV2(members: object): object {
  const { compression: _, compression_opts: level, ...same } = META;
  return { ...same, zarr_format: 2, compressor: { id: "zlib", level }, filters: null, ...members };
}

const encoding = { name: "plain", separator: "." } as const;

describe("keys of a v1 array", () => {
  it("lie side by side in the folder that a path names, attributes before the array", () => {
    expect(layoutV1("")).toMatchObject({ documentKeys: ["attrs", "meta"], attributesKey: "attrs" });
    expect(layoutV1("").chunkKey([7], encoding)).toBe("7");
    expect(layoutV1("/a//b/").documentKeys).toEqual(["a/b/attrs", "a/b/meta"]);
    expect(layoutV1("a").chunkKey([4, 2], encoding)).toBe("a/4.2");
    expect(failure(() => layoutV1("a/../b")).code).toBe("path-not-allowed");
  });

  it("are told from others", () => {
    const { parseChunkKey } = layoutV1("");
    for (const coords of [
      [4, 2],
      [0, 0],
    ])
      expect(parseChunkKey(coords.join("."), 2, encoding)).toEqual(coords);
    for (const key of ["0.0.k3j4h5.partial", "0.partial", "00.1", "1", "1.2.3", "1/2", "-1.2", "meta"])
      expect(parseChunkKey(key, 2, encoding), key).toBeUndefined();
  });
});

const typed = (numpy: string): DataType => parseNumpyType(json(numpy), "").dataType;

const STRUCT = '[["x","<f4"],["n","<i2"]]';
const WITH_TEXT = '[["x","<f4"],["deep",[["s","|S3"]]]]';

describe("fill values that v1 holds", () => {
  it.each([
    ['"<i4"', "42", "2a000000"],
    ['"<i8"', "-9223372036854775808", "0000000000000080"],
    ['"<u8"', "18446744073709551615", "ffffffffffffffff"],
    ['"<f8"', "1.5", "000000000000f83f"],
    ['"<f4"', "NaN", "0000c07f"],
    ['"<f4"', "-Infinity", "000080ff"],
    ['"|b1"', "true", "01"],
    ['"<c8"', "0.0", "0000000000000000"],
    ['"<c8"', "[1.0,-2.5]", "0000803f000020c0"],
    ['"<c8"', "[NaN,Infinity]", "0000c07f0000807f"],
    ['"<M8[s]"', "-9223372036854775808", "0000000000000080"],
    ['"<U2"', '"a\u00e9"', "61000000e9000000"],
    ['"|S3"', '""', "000000"],
    ['"|V2"', "0", "0000"],
    [STRUCT, "0", "000000000000"],
    [WITH_TEXT, '""', "00000000000000"],
  ])("of %s: %s", (numpy, text, bytes) => {
    const dataType = typed(numpy);
    const read = parseFillV1(json(text), dataType, "little", "");
    expect(hex(read)).toBe(bytes);
    expect(writeJson(writeFillV1(read, dataType) ?? null, { nonFinite: "token" })).toBe(text);
  });

  it("is undefined for null", () => {
    expect(parseFillV1(null, typed('"<c8"'), "little", "")).toBeNull();
    expect(writeFillV1(null, typed('"<c8"'))).toBeNull();
  });

  it.each([
    ['"<f8"', '"NaN"', "000000000000f87f"],
    ['"<f8"', '"-Infinity"', "000000000000f0ff"],
    ['"<i4"', "1.0", "01000000"],
    ['"|b1"', "0", "00"],
    ['"<c8"', "3", "0000404000000000"],
    ['"<c8"', '["NaN", 0]', "0000c07f00000000"],
    ['"|S3"', '"YWI="', "616200"],
    ['"|V2"', '"AQI="', "0102"],
    ['">i4"', "1", "01000000"],
  ])("of %s may be worded as %s", (numpy, text, bytes) => {
    expect(hex(parseFillV1(json(text), typed(numpy), "big", ""))).toBe(bytes);
  });

  it.each([
    ['"|i1"', "-129"],
    ['"|b1"', "2"],
    ['"<f8"', "true"],
    ['"<c8"', "true", "[1, 2, 3]"],
  ])("of %s cannot be %s", (numpy, ...texts) => {
    for (const text of texts) {
      const refused = refusal(() => parseFillV1(json(text), typed(numpy), "little", "/fill_value"));
      expect(refused).toMatch(/^invalid-metadata \/fill_value/);
    }
  });

  it.each([
    ['"|S3"', [97, 0, 0]],
    ['"|V2"', [0, 1]],
    [STRUCT, [0, 0, 0, 0, 1, 0]],
    ['"<f4"', [1, 0, 0xc0, 0x7f]],
    ['"<c8"', [1, 0, 0xc0, 0x7f, 0, 0, 0, 0]],
  ])("has no form for bytes that say more than it can: %s", (numpy, bytes) =>
    expect(writeFillV1(Uint8Array.from(bytes), typed(numpy))).toBeUndefined(),
  );
});
