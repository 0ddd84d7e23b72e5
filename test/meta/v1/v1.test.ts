import { describe, expect, it } from "vitest";
import type { ArrayMetadata } from "../../../src/meta/array-metadata.ts";
import { layoutV1, v1Format } from "../../../src/meta/v1/v1.ts";
import { v2Format } from "../../../src/meta/v2/v2.ts";
import { inWords, titled } from "../../support/words.ts";
import { arrayWith, failure, json, lostPointers, parseWith, writeWith } from "../helpers.ts";

const v1 = v1Format();
const v2 = v2Format();

const META = {
  zarr_format: 1,
  shape: [20, 30],
  chunks: [10, 15],
  dtype: "<i4",
  compression: "zlib",
  compression_opts: 1,
  fill_value: 42,
  order: "C",
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

const codecNames = ({ codecs }: ArrayMetadata) => codecs.map(({ name }) => name);

const refusal = (act: () => unknown) => {
  const { code, details } = failure(act);
  return { code, key: details.key, pointer: details.pointer };
};

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
        { name: "bytes", configuration: { endian: "little" } },
        { name: "blosc", configuration: { cname: "lz4", clevel: 3, shuffle: "shuffle", blocksize: 0 } },
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
    expect(refusal(() => parseWith(v1, { meta: META, attrs }))).toMatchObject({
      code: "invalid-metadata",
      key: "attrs",
    });
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

describe("what breaks the rules of `meta`", () => {
  it.each([
    ["zarr_format", undefined, "invalid-metadata"],
    ["zarr_format", "1", "invalid-metadata"],
    ["zarr_format", 2, "unsupported-format"],
    ["shape", undefined, "invalid-metadata"],
    ["shape", [], "invalid-metadata"],
    ["shape", [20, -1], "invalid-metadata"],
    ["shape", [20, 1.5], "invalid-metadata"],
    ["shape", 20, "invalid-metadata"],
    ["chunks", undefined, "invalid-metadata"],
    ["chunks", [10], "invalid-metadata"],
    ["chunks", [10, 0], "invalid-metadata"],
    ["chunks", true, "invalid-metadata"],
    ["dtype", undefined, "invalid-metadata"],
    ["dtype", "i4", "unsupported-data-type"],
    ["dtype", "|O", "unsupported-data-type"],
    ["order", "X", "invalid-metadata"],
    ["order", null, "invalid-metadata"],
    ["compression", undefined, "invalid-metadata"],
    ["compression", 5, "invalid-metadata"],
    ["compression", "zopfli", "unsupported-codec"],
    ["compression_opts", undefined, "invalid-metadata"],
    ["compression_opts", "fast", "invalid-metadata"],
    ["compression_opts", { level: 1 }, "invalid-metadata"],
    ["fill_value", undefined, "invalid-metadata"],
    ["fill_value", 1.5, "invalid-metadata"],
    ["fill_value", 2 ** 31, "invalid-metadata"],
  ] as const)("%s: %j gives the error of the name", (name, value, code) => {
    const meta = { ...META, [name]: value };
    expect(refusal(() => parseWith(v1, { meta }))).toEqual({ code, key: "meta", pointer: `/${name}` });
  });

  it.each(["{", '{"zarr_format": 1,}', "[]", ""])("%j is no document", (meta) => {
    expect(refusal(() => parseWith(v1, { meta }))).toMatchObject({ code: "invalid-metadata", key: "meta" });
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
  const read: [string | null, unknown, string | undefined][] = [
    ["blosc", { cname: "zlib", clevel: 9, shuffle: 2 }, "blosc"],
    ["blosc", { cname: "zstd", clevel: 5, shuffle: 0 }, "blosc"],
    ["blosc", null, "blosc"],
    ["zlib", 9, "zlib"],
    ["zlib", null, "zlib"],
    ["gzip", 1, "v1.gzip"],
    ["bz2", 1, "bz2"],
    ["lzma", LZMA, "lzma"],
    ["lzma", null, "lzma"],
    ["none", null, undefined],
    [null, null, undefined],
  ];
  const title = (compression: string | null, options: unknown, _name: string | undefined) =>
    `${compression} with options ${inWords(options)}`;
  it.each(titled(read, title))("%s is read and kept as it is", (_, compression, compression_opts, name) => {
    const meta = { ...META, compression, compression_opts };
    const array = arrayWith(v1, { meta });
    expect(codecNames(array)).toEqual(name ? ["bytes", name] : ["bytes"]);
    expect(metaOf(array)).toEqual(meta);
  });

  it("keeps the filters of raw lzma in its configuration", () => {
    const array = arrayWith(v1, { meta: { ...META, compression: "lzma", compression_opts: LZMA } });
    expect(array.codecs.at(-1)?.configuration).toEqual(LZMA);
  });

  const ofV2: [{ readonly id: string; readonly [setting: string]: unknown }, unknown][] = [
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
  ];
  const becomes = (compressor: object, options: unknown) =>
    `of v2, ${inWords(compressor)}, becomes options ${inWords(options)}`;
  it.each(titled(ofV2, becomes))("%s", (_, compressor, compression_opts) => {
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
    expect(array.codecs[0]).toEqual({ name: "transpose", configuration: { order: [1, 0] } });
    expect(metaOf(array)).toMatchObject({ order: "F" });
  });

  it.each([
    ["zlib", 1],
    ["bz2", 1],
    ["lzma", null],
    ["none", null],
  ])("is C in chunks of %s, and written so", (compression, options) => {
    const array = arrayWith(v1, withOrder(compression, options));
    expect(codecNames(array)).not.toContain("transpose");
    expect(metaOf(array)).toMatchObject({ order: "C" });
  });

  it("is taken literally where the reader says so, and cannot be written", () => {
    const literal = v1Format("as-stated");
    const array = arrayWith(literal, withOrder("zlib", 1));
    expect(codecNames(array)).toEqual(["transpose", "bytes", "zlib"]);
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
      v1.adopt?.(arrayWith(v2, { ".zarray": fromV2({ compressor, order: "F" }) }));
    expect(adopted({ id: "zlib", level: 1 })?.codecs.map(({ name }) => name)).toEqual(["bytes", "zlib"]);
    expect(adopted({ id: "blosc", ...LZ4 })?.codecs[0]?.name).toBe("transpose");
  });

  it("takes the place of an order that is neither", () => {
    const order = (...dims: number[]) => ({ name: "transpose", configuration: { order: dims } });
    const array = arrayWith(v1, withOrder("blosc", LZ4));
    const transposed = (...dims: number[]) => ({
      ...array,
      shape: [4, 5, 6],
      chunkGrid: { chunkShape: [4, 5, 6] },
      codecs: [order(...dims), ...array.codecs.slice(1)],
    });
    const names = (metadata: ArrayMetadata) => v1.adopt?.(metadata).codecs.map(({ name }) => name);
    expect(names(transposed(1, 0, 2))).toEqual(["bytes", "blosc"]);
    expect(names(transposed(2, 1, 0))).toEqual(["transpose", "bytes", "blosc"]);
  });
});

describe("what v1 cannot hold", () => {
  const pointers = (array: ArrayMetadata) => lostPointers(() => writeWith(v1, array));
  const ofV2 = (members: object) => arrayWith(v2, { ".zarray": fromV2(members) });
  const blosc = { id: "blosc", cname: "lz4", clevel: 5, shuffle: 1 };

  it.each([
    [{ compressor: { id: "zstd", level: 1 } }, ["/compressor/id"]],
    [{ compressor: { id: "gzip", level: 1 } }, ["/compressor/id"]],
    [{ compressor: { ...blosc, cname: "zstd" } }, ["/compressor/id"]],
    [{ compressor: { ...blosc, blocksize: 4096 } }, ["/compressor/id"]],
    [{ filters: [{ id: "delta", dtype: "<i4" }] }, ["/filters/0/id"]],
    [{ filters: [{ id: "crc32" }] }, ["/filters/0/id"]],
    [{ shape: [], chunks: [] }, ["/shape"]],
    [{ dimension_separator: "/" }, ["/chunk_key_encoding"]],
    [{ order: "F" }, ["/order"]],
    [{ dtype: "|S3", fill_value: "YWI=" }, ["/fill_value"]],
    [{ dtype: "|V2", fill_value: "AQI=" }, ["/fill_value"]],
    [{ dtype: "|O", fill_value: "", filters: [{ id: "vlen-utf8" }] }, ["/data_type"]],
  ])("%j is refused at %j", (members, expected) => {
    expect(pointers(ofV2(members))).toEqual(expected);
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
  return {
    zarr_format: 2,
    shape: META.shape,
    chunks: META.chunks,
    dtype: META.dtype,
    compressor: { id: "zlib", level: 1 },
    fill_value: 42,
    order: "C",
    filters: null,
    ...members,
  };
}

const encoding = { name: "plain", separator: "." } as const;

describe("keys of a v1 array", () => {
  it("lie side by side, attributes before the array", () => {
    expect(layoutV1("").documentKeys).toEqual(["attrs", "meta"]);
    expect(layoutV1("").attributesKey).toBe("attrs");
    expect(layoutV1("").chunkKey([4, 2], encoding)).toBe("4.2");
    expect(layoutV1("").chunkKey([7], encoding)).toBe("7");
  });

  it("lie in the folder that a path names", () => {
    expect(layoutV1("/a//b/").documentKeys).toEqual(["a/b/attrs", "a/b/meta"]);
    expect(layoutV1("a").chunkKey([0, 0], encoding)).toBe("a/0.0");
    expect(failure(() => layoutV1("a/../b")).code).toBe("path-not-allowed");
  });

  it.each([
    ["4.2", [4, 2]],
    ["0.0", [0, 0]],
    ["0.0.k3j4h5.partial", undefined],
    ["0.partial", undefined],
    ["00.1", undefined],
    ["1", undefined],
    ["1.2.3", undefined],
    ["1/2", undefined],
    ["-1.2", undefined],
    ["meta", undefined],
  ])("%s is a chunk of two dimensions at %j", (key, coords) => {
    expect(layoutV1("").parseChunkKey(key, 2, encoding)).toEqual(coords);
  });
});
