import { describe, expect, it } from "vitest";
import type { CodecConfig } from "../../../src/meta/array-metadata.ts";
import { typeAfter } from "../../../src/meta/v3/codec.ts";
import { layoutV3, v3 } from "../../../src/meta/v3/v3.ts";
import { arrayWith, failure, hex, lostPointers, named, parseWith, writeWith } from "../helpers.ts";
import { ARRAY, codecsOf, GROUP, LITTLE, read, written } from "./documents.ts";

describe("reading and writing again", () => {
  it("gives the reference's documents back byte for byte", () => {
    const text = JSON.stringify(ARRAY, null, 2);
    expect(writeWith(v3, arrayWith(v3, { "zarr.json": text }))).toEqual({ "zarr.json": text });
    const group = JSON.stringify(GROUP, null, 2);
    const node = parseWith(v3, { "zarr.json": group });
    expect(node && writeWith(v3, node.metadata)).toEqual({ "zarr.json": group });
  });

  it.each([
    [
      "no optional members",
      { attributes: undefined, storage_transformers: undefined, dimension_names: undefined },
    ],
    ["dimension names of null", { dimension_names: null }],
    ["no dimension names at all", { dimension_names: [null, null] }],
    ["names instead of objects", { chunk_key_encoding: "default", codecs: ["bytes"], data_type: "uint8" }],
    ["objects instead of names", { data_type: { name: "int32" } }],
    ["encodings without configuration", { chunk_key_encoding: { name: "v2" } }],
    ["empty configurations", { data_type: "int8", codecs: [named("bytes")] }],
    ["what may be ignored", { ext: { must_understand: false, x: 1 } }],
    ["raw bits", { data_type: "r24", fill_value: [1, 2, 3], codecs: ["bytes"] }],
    ["old names", { data_type: "complex_float32", fill_value: [0, 1] }],
    ["hexadecimal fill values", { data_type: "float64", fill_value: "0x3ff8000000000000" }],
    [
      "unknown members of codecs",
      { codecs: [LITTLE, { name: "gzip", configuration: { level: 1, mtime: 0 }, note: 1 }] },
    ],
    ["unknown codecs", { codecs: [named("nosuch", { a: 1 }), LITTLE] }],
    ["the codec `endian`", { codecs: [named("endian", { endian: "big" })] }],
    ["a transpose by letter", { codecs: [named("transpose", { order: "F" }), LITTLE] }],
    ["filters", { codecs: [named("numcodecs.delta", { dtype: "<i4" }), LITTLE] }],
    [
      "filters over big-endian bytes",
      {
        codecs: [
          named("numcodecs.quantize", { digits: 2, dtype: "float32", astype: "<f4" }),
          named("numcodecs.bitround", { keepbits: 5 }),
          named("bytes", { endian: "big" }),
        ],
        data_type: "float32",
        fill_value: 0.5,
      },
    ],
    ["filters that leave their type out", { codecs: [named("numcodecs.delta"), LITTLE] }],
    ["strings", { data_type: "string", fill_value: "", codecs: [named("vlen-utf8")] }],
    ["ZEP 7's strings", { data_type: { name: "string" }, fill_value: null, codecs: [] }],
    [
      "ZEP 7's strings with `bytes`",
      { data_type: "LargeBinary", fill_value: [1, 2], codecs: ["bytes", "crc32c"] },
    ],
    [
      "shards",
      {
        codecs: [
          named("sharding_indexed", {
            chunk_shape: [5, 5],
            codecs: ["bytes", named("numcodecs.zlib", { level: 1 })],
            index_codecs: [LITTLE, { name: "crc32c" }],
          }),
        ],
        data_type: "uint8",
      },
    ],
    [
      "structures",
      {
        data_type: named("struct", { fields: [{ name: "a", data_type: "int16" }] }),
        fill_value: { a: 7 },
        codecs: [LITTLE],
      },
    ],
  ])("keeps %s", (_, members) => {
    const document = JSON.parse(JSON.stringify({ ...ARRAY, ...members }));
    expect(written(read(members))).toEqual(document);
  });

  it("writes structures in their new form only", () => {
    const old = {
      data_type: named("structured", {
        fields: [
          ["a", "int16"],
          ["b", "int16"],
        ],
      }),
      fill_value: "AQACAA==",
      codecs: [{ name: "bytes" }],
    };
    const node = parseWith(v3, { "zarr.json": { ...ARRAY, ...old } });
    expect(node?.findings).toEqual([expect.objectContaining({ pointer: "/codecs/0/configuration/endian" })]);
    expect(written(read(old))).toMatchObject({
      data_type: named("struct", {
        fields: [
          { name: "a", data_type: "int16" },
          { name: "b", data_type: "int16" },
        ],
      }),
      fill_value: { a: 1, b: 2 },
      codecs: [LITTLE],
    });
  });

  it("drops what no longer says the same", () => {
    const array = read({
      codecs: [LITTLE, named("gzip", { level: 1, mtime: 0 })],
      data_type: { name: "int32" },
    });
    const gzip = { ...array.codecs[1], name: "gzip", configuration: { level: 9 } };
    const changed = {
      ...array,
      codecs: [...array.codecs.slice(0, 1), gzip],
      dataType: { kind: "uint", size: 4 } as const,
    };
    expect(written(changed)).toMatchObject({
      data_type: "uint32",
      codecs: [LITTLE, named("gzip", { level: 9 })],
    });
    const fill = { ...array.fillValue, bytes: Uint8Array.of(1, 0, 0, 0) };
    expect(written({ ...array, fillValue: fill }).fill_value).toBe(1);
    const attributes = { ...read({ attributes: undefined }), attributes: { a: 1 } };
    expect(written(attributes).attributes).toEqual({ a: 1 });
  });

  it("leaves consolidated metadata aside", () => {
    const consolidated = { kind: "inline", must_understand: false, metadata: { a: GROUP } };
    for (const value of [consolidated, null, { must_understand: false, kind: "other" }]) {
      const node = parseWith(v3, { "zarr.json": { ...GROUP, consolidated_metadata: value } });
      expect(node && written(node.metadata)).toEqual(GROUP);
    }
  });
});

describe("what an array says", () => {
  it("is in the model", () => {
    expect(read()).toMatchObject({
      shape: [20, 30],
      dataType: { kind: "int", size: 4 },
      chunkGrid: { chunkShape: [10, 15] },
      chunkKeyEncoding: { name: "default", separator: "/" },
      attributes: { units: "m" },
      dimensionNames: ["y", null],
    });
    expect(codecsOf(read())).toEqual([LITTLE, named("zstd", { level: 0 })]);
    expect(hex(read().fillValue.bytes)).toBe("2a000000");
    expect(read().codecs.map(({ stated }) => stated?.pointer)).toEqual(["/codecs/0", "/codecs/1"]);
  });

  it("takes bare NaN in attributes alone", () => {
    const text = JSON.stringify(ARRAY).replace('"m"', "NaN");
    const node = parseWith(v3, { "zarr.json": text });
    expect(node?.findings).toEqual([expect.objectContaining({ pointer: "/attributes/units" })]);
    expect(lostPointers(() => written(arrayWith(v3, { "zarr.json": text })))).toEqual(["/attributes/units"]);
    expect(written(arrayWith(v3, { "zarr.json": text }), ["/attributes/units"]).attributes).toEqual({
      units: null,
    });
    const fill = JSON.stringify(ARRAY).replace("42", "NaN").replace("int32", "float32");
    expect(failure(() => arrayWith(v3, { "zarr.json": fill })).details.pointer).toBe("/fill_value");
  });

  it("reports members that a codec does not have", () => {
    const codecs = [LITTLE, named("gzip", { level: 1, mtime: 0 })];
    const node = parseWith(v3, { "zarr.json": { ...ARRAY, codecs } });
    expect(node?.findings).toEqual([expect.objectContaining({ pointer: "/codecs/1" })]);
    expect(codecsOf(read({ codecs }))[1]).toEqual(named("gzip", { level: 1 }));
  });

  it("reports orders of a draft", () => {
    const codecs = [named("transpose", { order: "F" }), LITTLE];
    expect(parseWith(v3, { "zarr.json": { ...ARRAY, codecs } })?.findings).toMatchObject([
      { pointer: "/codecs/0" },
    ]);
  });
});

describe("filters of items", () => {
  const delta = named("numcodecs.delta", { dtype: "<i4", astype: "<i2" });

  it("stand behind `bytes` in the normal list, in its byte order", () => {
    expect(codecsOf(read({ codecs: [delta, LITTLE] }))).toEqual([
      LITTLE,
      named("delta", { dtype: "<i4", astype: "<i2" }),
    ]);
    const big = named("bytes", { endian: "big" });
    expect(codecsOf(read({ codecs: [named("transpose", { order: [1, 0] }), delta, big] }))).toEqual([
      named("transpose", { order: [1, 0] }),
      big,
      named("delta", { dtype: ">i4", astype: ">i2" }),
    ]);
  });

  it("get the type of their place where they leave it out", () => {
    const codecs = [named("numcodecs.astype", { encode_dtype: "<i8" }), named("numcodecs.delta"), LITTLE];
    expect(codecsOf(read({ codecs })).slice(1)).toEqual([
      named("astype", { encode_dtype: "<i8", decode_dtype: "<i4" }),
      named("delta", { dtype: "<i8" }),
    ]);
  });

  it("go back before `bytes`, whose order is that of the last items", () => {
    const codecs: CodecConfig[] = [
      named("bytes", { endian: "big" }),
      named("delta", { dtype: ">i4", astype: "<i2" }),
      named("shuffle", { elementsize: 2 }),
      named("blosc", { cname: "lz4", clevel: 5, shuffle: "auto", blocksize: 0 }),
    ];
    expect(written({ ...read(), codecs }).codecs).toEqual([
      delta,
      LITTLE,
      named("numcodecs.shuffle", { elementsize: 2 }),
      named("blosc", { typesize: 1, cname: "lz4", clevel: 5, shuffle: "bitshuffle", blocksize: 0 }),
    ]);
  });

  it("name types in that order: zarr-python views items as the type that is named", () => {
    const codecs: CodecConfig[] = [
      named("bytes", { endian: "big" }),
      named("delta", { dtype: ">i4", astype: ">i2" }),
    ];
    expect(written({ ...read(), codecs }).codecs).toEqual([
      named("numcodecs.delta", { dtype: ">i4", astype: ">i2" }),
      named("bytes", { endian: "big" }),
    ]);
  });

  it("are a loss where their byte orders do not meet, or behind a codec of bytes", () => {
    const mixed = [LITTLE, named("delta", { dtype: ">i4" })];
    expect(lostPointers(() => written({ ...read(), codecs: mixed }))).toEqual(["/codecs/0"]);
    const late: CodecConfig[] = [LITTLE, named("gzip", { level: 1 }), named("delta", { dtype: "<i4" })];
    expect(lostPointers(() => written({ ...read(), codecs: late }))).toEqual(["/codecs/2"]);
  });

  it("tell blosc the size of their items", () => {
    const blosc = named("blosc", { cname: "zstd", clevel: 1, shuffle: "auto", blocksize: 0 });
    const codecs = [LITTLE, named("delta", { dtype: "<i4", astype: "<i2" }), blosc];
    expect(written({ ...read(), codecs }).codecs[2].configuration).toMatchObject({
      typesize: 2,
      shuffle: "shuffle",
    });
    expect(written({ ...read(), codecs: [LITTLE, blosc] }).codecs[1].configuration).toMatchObject({
      typesize: 4,
    });
  });
});

describe("codecs of the numcodecs package", () => {
  it("have their normal names and forms", () => {
    const codecs = [
      LITTLE,
      named("numcodecs.blosc", { cname: "lz4", clevel: 5, shuffle: 2 }),
      named("numcodecs.crc32c", { location: "start" }),
      named("numcodecs.nosuch"),
      named("packbits"),
    ];
    expect(codecsOf(read({ codecs })).slice(1)).toEqual([
      named("blosc", { cname: "lz4", clevel: 5, shuffle: "bitshuffle", blocksize: 0 }),
      named("crc32c", { location: "start" }),
      named("numcodecs.nosuch"),
      named("v3.packbits"),
    ]);
  });

  it("are written under their names, with a configuration always", () => {
    const codecs: CodecConfig[] = [
      LITTLE,
      named("zlib", { level: 1 }),
      named("crc32"),
      named("crc32c", { location: "start" }),
      named("crc32c", { location: "end" }),
    ];
    expect(written({ ...read(), codecs }).codecs.slice(1)).toEqual([
      named("numcodecs.zlib", { level: 1 }),
      named("numcodecs.crc32"),
      named("numcodecs.crc32c", { location: "start" }),
      { name: "crc32c" },
    ]);
  });
});

describe("shards", () => {
  const sharding = (members: object = {}) =>
    named("sharding_indexed", {
      chunk_shape: [5, 3],
      codecs: [LITTLE],
      index_codecs: [LITTLE, "crc32c"],
      index_location: "start",
      ...members,
    });

  it("give the shape of their chunks, in the array's dimensions", () => {
    expect(read({ codecs: [sharding()] }).chunkGrid).toEqual({
      chunkShape: [10, 15],
      innerChunkShape: [5, 3],
    });
    const transpose = (order: number[]) => named("transpose", { order });
    const transposed = read({ codecs: [transpose([1, 0]), sharding({ chunk_shape: [3, 5] })] });
    expect(transposed.chunkGrid.innerChunkShape).toEqual([5, 3]);
    const turned = read({
      shape: [4, 6, 10],
      chunk_grid: named("regular", { chunk_shape: [4, 6, 10] }),
      dimension_names: null,
      codecs: [transpose([2, 0, 1]), sharding({ chunk_shape: [5, 2, 3] })],
    });
    expect(turned.chunkGrid.innerChunkShape).toEqual([2, 3, 5]);
  });

  it("have normal codecs inside", () => {
    const inner = sharding({
      codecs: [named("numcodecs.delta", { dtype: "<i4" }), "bytes"],
    });
    expect(failure(() => read({ codecs: [inner] })).details.pointer).toBe(
      "/codecs/0/configuration/codecs/1/configuration/endian",
    );
    const codecs = [named("numcodecs.delta", { dtype: "<i4" }), LITTLE];
    expect(
      codecsOf(read({ codecs: [sharding({ codecs, index_location: undefined })] }))[0]?.configuration,
    ).toEqual({
      chunk_shape: [5, 3],
      codecs: [LITTLE, named("delta", { dtype: "<i4" })],
      index_codecs: [LITTLE, named("crc32c")],
      index_location: "end",
    });
  });

  it("are written from their normal form", () => {
    const array = read({
      codecs: [sharding({ codecs: [LITTLE, named("numcodecs.zlib", { level: 1 })] })],
    });
    const [own] = codecsOf(array);
    const changed = named("sharding_indexed", { ...own?.configuration, index_location: "end" });
    expect(written({ ...array, codecs: [changed] }).codecs).toEqual([
      named("sharding_indexed", {
        chunk_shape: [5, 3],
        codecs: [LITTLE, named("numcodecs.zlib", { level: 1 })],
        index_codecs: [LITTLE, { name: "crc32c" }],
        index_location: "end",
      }),
    ]);
  });

  it("may nest, each dividing the one around it", () => {
    const nested = sharding({ codecs: [sharding({ chunk_shape: [1, 3] })] });
    expect(read({ codecs: [nested] }).chunkGrid.innerChunkShape).toEqual([5, 3]);
    const broken = sharding({ codecs: [sharding({ chunk_shape: [2, 3] })] });
    expect(failure(() => read({ codecs: [broken] })).details.pointer).toBe(
      "/codecs/0/configuration/codecs/0/configuration/chunk_shape",
    );
  });
});

describe("variable-size data", () => {
  const strings = (codecs: unknown[], data_type: unknown = "string", fill_value: unknown = "") =>
    read({ data_type, fill_value, codecs });

  it("have ZEP 7's layout where no vlen codec stands", () => {
    const layout = (offset_size: number) => named("zep0007", { offset_size });
    const gzip = named("gzip", { level: 1 });
    const transpose = named("transpose", { order: [1, 0] });
    expect(codecsOf(strings([]))).toEqual([layout(4)]);
    expect(codecsOf(strings([transpose, gzip], "LargeString"))).toEqual([transpose, layout(8), gzip]);
    expect(codecsOf(strings([LITTLE, gzip], "binary"))).toEqual([layout(4), gzip]);
    expect(
      written({ ...strings([gzip], "LargeString"), wording: { zarrFormat: "v3", stated: {}, usual: {} } }),
    ).toMatchObject({ data_type: { name: "LargeString" }, codecs: [gzip] });
  });

  it("have the registered form with one, in shards too", () => {
    expect(codecsOf(strings(["vlen-utf8"]))).toEqual([named("vlen-utf8")]);
    const sharding = (codecs: unknown[]) =>
      named("sharding_indexed", { chunk_shape: [5, 5], codecs, index_codecs: [LITTLE] });
    expect(strings([sharding(["vlen-utf8"])]).codecs[0]?.configuration.codecs).toEqual([named("vlen-utf8")]);
    expect(strings([sharding([])]).codecs[0]?.configuration.codecs).toEqual([
      named("zep0007", { offset_size: 4 }),
    ]);
  });

  it.each([
    [["vlen-bytes"], "LargeBinary", "invalid-metadata", "/codecs"],
    [["bytes"], "bytes", "unsupported-data-type", "/data_type"],
    [["bytes"], "variable_length_bytes", "unsupported-data-type", "/data_type"],
    [[named("bytes", { endian: "big" })], "string", "unsupported-codec", "/codecs/0/configuration/endian"],
  ])("refuse %j for %s", (codecs, type, code, pointer) => {
    expect(failure(() => strings(codecs, type))).toMatchObject({ code, details: { pointer } });
  });

  it("take a null fill value in ZEP 7's layout alone", () => {
    expect(hex(strings([], "string", null).fillValue.bytes)).toBe("");
    expect(failure(() => strings(["vlen-utf8"], "string", null)).details.pointer).toBe("/fill_value");
  });
});

// test/spec/v3-final has the errors that the specification asks for
describe("errors", () => {
  it.each([
    [{ zarr_format: "https://purl.org/zarr/spec/protocol/core/3.0" }, "unsupported-format", "/zarr_format"],
    [{ chunk_grid: { name: "rectilinear", must_understand: false } }, "unsupported-extension", "/chunk_grid"],
    [{ codecs: [{ name: "bytes", configuration: 3 }] }, "invalid-metadata", "/codecs/0/configuration"],
    [{ codecs: [LITTLE, named("numcodecs.delta", { dtype: "<i4" })] }, "invalid-metadata", "/codecs"],
    [
      {
        data_type: "uint8",
        codecs: [named("numcodecs.astype", { encode_dtype: "<i4" }), "bytes"],
      },
      "invalid-metadata",
      "/codecs/1/configuration/endian",
    ],
    [{ dimension_names: "yx" }, "invalid-metadata", "/dimension_names"],
    [{ storage_transformers: [{ name: "cache" }] }, "unsupported-extension", "/storage_transformers/0"],
    [{ strange: null }, "unsupported-extension", "/strange"],
  ])("%j is %s at %s", (members, code, pointer) => {
    const error = failure(() => read(members));
    expect(error).toMatchObject({ code, details: { format: "v3", path: "", key: "zarr.json", pointer } });
  });

  it("judges names by themselves, not by what objects inherit", () => {
    const text = JSON.stringify(ARRAY).replace("{", '{"__proto__": {"must_understand": false},');
    expect(arrayWith(v3, { "zarr.json": text }).extra?.json).toHaveProperty(["__proto__"]);
    const polluted = JSON.stringify({ ...ARRAY, shape: undefined }).replace(
      "{",
      '{"__proto__": {"must_understand": false, "shape": [1]},',
    );
    expect(failure(() => arrayWith(v3, { "zarr.json": polluted })).details.pointer).toBe("/shape");
    expect(failure(() => read({ data_type: "__proto__" })).code).toBe("unsupported-data-type");
  });

  it("are found in groups", () => {
    const group = (members: object) =>
      failure(() => parseWith(v3, { "g/zarr.json": { ...GROUP, ...members } }, "g"));
    expect(group({ attributes: 1 })).toMatchObject({
      details: { path: "g", key: "g/zarr.json", pointer: "/attributes" },
    });
    const extended = { ...GROUP, ext: { must_understand: false } };
    const node = parseWith(v3, { "zarr.json": extended });
    expect(node && written(node.metadata)).toEqual(extended);
  });
});

describe("what v3 cannot hold", () => {
  const struct = (field: object) => ({
    dataType: {
      kind: "struct",
      size: 4,
      fields: [{ name: "a", dataType: { kind: "int", size: 4 }, ...field }],
    } as const,
    fillValue: { bytes: new Uint8Array(4) },
  });
  it.each([
    [
      "objects",
      { dataType: { kind: "object" } as const, codecs: [named("json2")] },
      ["/data_type", "/codecs/0"],
    ],
    ["sub-arrays", struct({ shape: [1] }), ["/data_type"]],
    ["padding", struct({ name: "" }), ["/data_type"]],
    ["byte orders of fields", struct({ endian: "big" }), ["/data_type"]],
    ["codecs of v2 alone", { codecs: [LITTLE, named("base64")] }, ["/codecs/1"]],
    ["names of another format", { extra: { zarrFormat: "v2", json: { "a/b": 1 } } as const }, ["/a~1b"]],
  ])("%s", (_, members, pointers) => {
    expect(failure(() => written({ ...read(), ...members }))).toMatchObject({
      code: "loss-refused",
      details: { format: "v3", pointers },
    });
  });

  it("gives zero for a fill value that v2 leaves undefined", () => {
    expect(written({ ...read(), fillValue: { bytes: null } }).fill_value).toBe(0);
  });
});

describe("what v3 holds in another form where chunks are made anew", () => {
  const field = (name: string, endian?: "little" | "big") => ({
    name,
    dataType: { kind: "int", size: 4 } as const,
    ...(endian && { endian }),
  });

  it("stores structures of mixed byte orders little-endian, those inside too", () => {
    const inner = { kind: "struct", size: 8, fields: [field("x"), field("y", "big")] } as const;
    const dataType = {
      kind: "struct",
      size: 12,
      fields: [field("a"), { name: "b", dataType: inner }],
    } as const;
    const mixed = { ...read(), dataType, fillValue: { bytes: new Uint8Array(12) } };
    const adopted = v3.adopt?.(mixed) ?? mixed;
    expect(written(adopted).data_type.configuration.fields).toEqual([
      { name: "a", data_type: "int32" },
      {
        name: "b",
        data_type: named("struct", { fields: ["x", "y"].map((name) => ({ name, data_type: "int32" })) }),
      },
    ]);
    expect(codecsOf(adopted)[0]).toEqual(LITTLE);
  });

  it("leaves all others as they are", () => {
    const one = { kind: "struct", size: 8, fields: [field("x"), field("y")] } as const;
    const array = { ...read(), dataType: one, codecs: [named("bytes", { endian: "big" })] };
    expect(v3.adopt?.(array)).toBe(array);
    expect(v3.adopt?.(read())).toEqual(read());
  });
});

it("puts one document and the chunks below the path", () => {
  const layout = layoutV3("/foo/bar/");
  expect(layout).toMatchObject({ zarrFormat: "v3", path: "foo/bar", documentKeys: ["foo/bar/zarr.json"] });
  const encoding = { name: "default", separator: "/" } as const;
  expect(layout.chunkKey([1, 2], encoding)).toBe("foo/bar/c/1/2");
  expect(layout.parseChunkKey("foo/bar/c/1/2", 2, encoding)).toEqual([1, 2]);
  expect(layout.parseChunkKey("foo/bar/zarr.json", 2, encoding)).toBeUndefined();
  expect(layoutV3("/").documentKeys).toEqual(["zarr.json"]);
});

it.each(["a", "é", "中文", "a b", ".a", "a.", "_x", "c", "zarr.jsonx", "x".repeat(300)])(
  "takes the name %j",
  (name) => expect(layoutV3(`g/${name}`).path).toBe(`g/${name}`),
);

it.each([
  ["a//b", "is empty"],
  ["//a", "is empty"],
  [".", "has only periods"],
  ["a/..", "has only periods"],
  ["a/..../b", "has only periods"],
  ["a/__x", "starts with `__`"],
  ["zarr.json", "is reserved"],
])("refuses %j, whose name %s", (path, rule) => {
  const error = failure(() => layoutV3(path));
  expect(error).toMatchObject({ code: "invalid-node-name", details: { format: "v3", path } });
  expect(error.message).toContain(rule);
});

describe("casts", () => {
  const zarr = (codecs: readonly unknown[], rest = {}) => ({
    zarr_format: 3,
    node_type: "array",
    shape: [4, 6],
    data_type: "float64",
    chunk_grid: named("regular", { chunk_shape: [4, 6] }),
    chunk_key_encoding: { name: "default" },
    fill_value: 0,
    codecs,
    ...rest,
  });
  const cast = (data_type: string) => named("cast_value", { data_type });
  const little = named("bytes", { endian: "little" });

  /** The codecs, read and written again without what the document stated. */
  function rewritten(document: unknown): unknown {
    const metadata = arrayWith(v3, { "zarr.json": document });
    const codecs = metadata.codecs.map(({ stated: _, ...codec }) => codec);
    const written = v3.write({ ...metadata, codecs }, v3.layout("")).get("zarr.json");
    return JSON.parse(new TextDecoder().decode(written)).codecs;
  }

  it("each cast counts from its place on", () => {
    const list = [cast("int16"), named("transpose", { order: [1, 0] }), cast("uint8")];
    const types = [0, 1, 2, 3].map((n) =>
      typeAfter({ dataType: { kind: "bool", size: 1 } }, list.slice(0, n), ""),
    );
    expect(types.map(({ dataType }) => dataType)).toEqual([
      { kind: "bool", size: 1 },
      { kind: "int", size: 2 },
      { kind: "int", size: 2 },
      { kind: "uint", size: 1 },
    ]);
  });

  describe("codecs that compute", () => {
    it.each([
      ["a cast", [cast("int16"), little]],
      ["to single bytes, which need no order", [cast("uint8"), { name: "bytes" }]],
      [
        "a scale, a cast and a transpose",
        [
          named("scale_offset", { offset: 5, scale: 2 }),
          cast("int32"),
          named("transpose", { order: [1, 0] }),
          little,
        ],
      ],
      [
        "a cast in front of shards",
        [
          cast("int16"),
          named("sharding_indexed", {
            chunk_shape: [2, 3],
            codecs: [little],
            index_codecs: [little, { name: "crc32c" }],
            index_location: "end",
          }),
        ],
      ],
      ["bits", [cast("uint8"), named("packbits", { last_bit: 3 })]],
    ])("%s is written as it is read", (_, codecs) => expect(rewritten(zarr(codecs))).toEqual(codecs));

    it("filters behind a cast work on its type", () => {
      const codecs = [cast("int16"), named("numcodecs.delta"), little];
      const metadata = arrayWith(v3, { "zarr.json": zarr(codecs) });
      expect(metadata.codecs.map(({ name, configuration }) => [name, configuration])).toEqual([
        ["cast_value", { data_type: "int16" }],
        ["bytes", { endian: "little" }],
        ["delta", { dtype: "<i2" }],
      ]);
    });

    it("packbits of v3 is not that of numcodecs", () => {
      const names = (codecs: readonly unknown[]) =>
        arrayWith(v3, { "zarr.json": zarr(codecs, { data_type: "bool", fill_value: false }) }).codecs.map(
          ({ name }) => name,
        );
      expect(names([{ name: "packbits" }])).toEqual(["v3.packbits"]);
      expect(names([named("numcodecs.packbits"), { name: "bytes" }])).toEqual(["bytes", "packbits"]);
    });

    it("a type that is not known, and a missing byte order, are named at their places", () => {
      const error = failure(() => arrayWith(v3, { "zarr.json": zarr([cast("int5"), little]) }));
      expect(error).toMatchObject({
        code: "unsupported-data-type",
        details: { pointer: "/codecs/0/configuration/data_type" },
      });
      const order = failure(() => arrayWith(v3, { "zarr.json": zarr([cast("int16"), { name: "bytes" }]) }));
      expect(order).toMatchObject({ code: "invalid-metadata" });
    });
  });
});
