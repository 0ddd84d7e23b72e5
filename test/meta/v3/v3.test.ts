import { describe, expect, it } from "vitest";
import type { CodecConfig } from "../../../src/meta/array-metadata.ts";
import { v3 } from "../../../src/meta/v3/v3.ts";
import { arrayWith, failure, hex, lostPointers, parseWith, writeWith } from "../helpers.ts";
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
    ["empty configurations", { data_type: "int8", codecs: [{ name: "bytes", configuration: {} }] }],
    ["what may be ignored", { ext: { must_understand: false, x: 1 } }],
    ["raw bits", { data_type: "r24", fill_value: [1, 2, 3], codecs: ["bytes"] }],
    ["old names", { data_type: "complex_float32", fill_value: [0, 1] }],
    ["hexadecimal fill values", { data_type: "float64", fill_value: "0x3ff8000000000000" }],
    [
      "unknown members of codecs",
      { codecs: [LITTLE, { name: "gzip", configuration: { level: 1, mtime: 0 }, note: 1 }] },
    ],
    ["unknown codecs", { codecs: [{ name: "nosuch", configuration: { a: 1 } }, LITTLE] }],
    ["the codec `endian`", { codecs: [{ name: "endian", configuration: { endian: "big" } }] }],
    ["a transpose by letter", { codecs: [{ name: "transpose", configuration: { order: "F" } }, LITTLE] }],
    ["filters", { codecs: [{ name: "numcodecs.delta", configuration: { dtype: "<i4" } }, LITTLE] }],
    [
      "filters over big-endian bytes",
      {
        codecs: [
          { name: "numcodecs.quantize", configuration: { digits: 2, dtype: "float32", astype: "<f4" } },
          { name: "numcodecs.bitround", configuration: { keepbits: 5 } },
          { name: "bytes", configuration: { endian: "big" } },
        ],
        data_type: "float32",
        fill_value: 0.5,
      },
    ],
    [
      "filters that leave their type out",
      { codecs: [{ name: "numcodecs.delta", configuration: {} }, LITTLE] },
    ],
    ["strings", { data_type: "string", fill_value: "", codecs: [{ name: "vlen-utf8", configuration: {} }] }],
    ["ZEP 7's strings", { data_type: { name: "string" }, fill_value: null, codecs: [] }],
    [
      "ZEP 7's strings with `bytes`",
      { data_type: "LargeBinary", fill_value: [1, 2], codecs: ["bytes", "crc32c"] },
    ],
    [
      "shards",
      {
        codecs: [
          {
            name: "sharding_indexed",
            configuration: {
              chunk_shape: [5, 5],
              codecs: ["bytes", { name: "numcodecs.zlib", configuration: { level: 1 } }],
              index_codecs: [LITTLE, { name: "crc32c" }],
            },
          },
        ],
        data_type: "uint8",
      },
    ],
    [
      "structures",
      {
        data_type: { name: "struct", configuration: { fields: [{ name: "a", data_type: "int16" }] } },
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
      data_type: {
        name: "structured",
        configuration: {
          fields: [
            ["a", "int16"],
            ["b", "int16"],
          ],
        },
      },
      fill_value: "AQACAA==",
      codecs: [{ name: "bytes" }],
    };
    const node = parseWith(v3, { "zarr.json": { ...ARRAY, ...old } });
    expect(node?.findings).toEqual([expect.objectContaining({ pointer: "/codecs/0/configuration/endian" })]);
    expect(written(read(old))).toMatchObject({
      data_type: {
        name: "struct",
        configuration: {
          fields: [
            { name: "a", data_type: "int16" },
            { name: "b", data_type: "int16" },
          ],
        },
      },
      fill_value: { a: 1, b: 2 },
      codecs: [LITTLE],
    });
  });

  it("drops what no longer says the same", () => {
    const array = read({
      codecs: [LITTLE, { name: "gzip", configuration: { level: 1, mtime: 0 } }],
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
      codecs: [LITTLE, { name: "gzip", configuration: { level: 9 } }],
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
    expect(codecsOf(read())).toEqual([LITTLE, { name: "zstd", configuration: { level: 0 } }]);
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

  it("passes over storage transformers that may be ignored, for reading", () => {
    const members = { storage_transformers: [{ name: "cache", must_understand: false }] };
    const node = parseWith(v3, { "zarr.json": { ...ARRAY, ...members } });
    expect(node?.findings).toEqual([expect.objectContaining({ pointer: "/storage_transformers/0" })]);
    expect(failure(() => written(read(members)))).toMatchObject({
      code: "unsupported-operation",
      details: { pointer: "/storage_transformers" },
    });
  });

  it("reports members that a codec does not have", () => {
    const codecs = [LITTLE, { name: "gzip", configuration: { level: 1, mtime: 0 } }];
    const node = parseWith(v3, { "zarr.json": { ...ARRAY, codecs } });
    expect(node?.findings).toEqual([expect.objectContaining({ pointer: "/codecs/1" })]);
    expect(codecsOf(read({ codecs }))[1]).toEqual({ name: "gzip", configuration: { level: 1 } });
  });

  it("reports orders of a draft, and consolidated metadata that it passes over", () => {
    const codecs = [{ name: "transpose", configuration: { order: "F" } }, LITTLE];
    expect(parseWith(v3, { "zarr.json": { ...ARRAY, codecs } })?.findings).toMatchObject([
      { pointer: "/codecs/0" },
    ]);
    const group = { zarr_format: 3, node_type: "group", consolidated_metadata: { kind: "external" } };
    expect(parseWith(v3, { "zarr.json": group })?.findings).toMatchObject([
      { pointer: "/consolidated_metadata/kind" },
    ]);
  });
});

describe("filters of items", () => {
  const delta = { name: "numcodecs.delta", configuration: { dtype: "<i4", astype: "<i2" } };

  it("stand behind `bytes` in the normal list, in its byte order", () => {
    expect(codecsOf(read({ codecs: [delta, LITTLE] }))).toEqual([
      LITTLE,
      { name: "delta", configuration: { dtype: "<i4", astype: "<i2" } },
    ]);
    const big = { name: "bytes", configuration: { endian: "big" } };
    expect(
      codecsOf(read({ codecs: [{ name: "transpose", configuration: { order: [1, 0] } }, delta, big] })),
    ).toEqual([
      { name: "transpose", configuration: { order: [1, 0] } },
      big,
      { name: "delta", configuration: { dtype: ">i4", astype: ">i2" } },
    ]);
  });

  it("get the type of their place where they leave it out", () => {
    const codecs = [
      { name: "numcodecs.astype", configuration: { encode_dtype: "<i8" } },
      { name: "numcodecs.delta", configuration: {} },
      LITTLE,
    ];
    expect(codecsOf(read({ codecs })).slice(1)).toEqual([
      { name: "astype", configuration: { encode_dtype: "<i8", decode_dtype: "<i4" } },
      { name: "delta", configuration: { dtype: "<i8" } },
    ]);
  });

  it("go back before `bytes`, whose order is that of the last items", () => {
    const codecs: CodecConfig[] = [
      { name: "bytes", configuration: { endian: "big" } },
      { name: "delta", configuration: { dtype: ">i4", astype: "<i2" } },
      { name: "shuffle", configuration: { elementsize: 2 } },
      { name: "blosc", configuration: { cname: "lz4", clevel: 5, shuffle: "auto", blocksize: 0 } },
    ];
    expect(written({ ...read(), codecs }).codecs).toEqual([
      delta,
      LITTLE,
      { name: "numcodecs.shuffle", configuration: { elementsize: 2 } },
      {
        name: "blosc",
        configuration: { typesize: 1, cname: "lz4", clevel: 5, shuffle: "bitshuffle", blocksize: 0 },
      },
    ]);
  });

  it("name types in that order: zarr-python views items as the type that is named", () => {
    const codecs: CodecConfig[] = [
      { name: "bytes", configuration: { endian: "big" } },
      { name: "delta", configuration: { dtype: ">i4", astype: ">i2" } },
    ];
    expect(written({ ...read(), codecs }).codecs).toEqual([
      { name: "numcodecs.delta", configuration: { dtype: ">i4", astype: ">i2" } },
      { name: "bytes", configuration: { endian: "big" } },
    ]);
  });

  it("are a loss where their byte orders do not meet, or behind a codec of bytes", () => {
    const mixed = [LITTLE, { name: "delta", configuration: { dtype: ">i4" } }];
    expect(lostPointers(() => written({ ...read(), codecs: mixed }))).toEqual(["/codecs/0"]);
    const late: CodecConfig[] = [
      LITTLE,
      { name: "gzip", configuration: { level: 1 } },
      { name: "delta", configuration: { dtype: "<i4" } },
    ];
    expect(lostPointers(() => written({ ...read(), codecs: late }))).toEqual(["/codecs/2"]);
  });

  it("tell blosc the size of their items", () => {
    const blosc = {
      name: "blosc",
      configuration: { cname: "zstd", clevel: 1, shuffle: "auto", blocksize: 0 },
    };
    const codecs = [LITTLE, { name: "delta", configuration: { dtype: "<i4", astype: "<i2" } }, blosc];
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
      { name: "numcodecs.blosc", configuration: { cname: "lz4", clevel: 5, shuffle: 2 } },
      { name: "numcodecs.crc32c", configuration: { location: "start" } },
      { name: "numcodecs.nosuch", configuration: {} },
      { name: "packbits", configuration: {} },
    ];
    expect(codecsOf(read({ codecs })).slice(1)).toEqual([
      { name: "blosc", configuration: { cname: "lz4", clevel: 5, shuffle: "bitshuffle", blocksize: 0 } },
      { name: "crc32c", configuration: { location: "start" } },
      { name: "numcodecs.nosuch", configuration: {} },
      { name: "v3.packbits", configuration: {} },
    ]);
  });

  it("are written under their names, with a configuration always", () => {
    const codecs: CodecConfig[] = [
      LITTLE,
      { name: "zlib", configuration: { level: 1 } },
      { name: "crc32", configuration: {} },
      { name: "crc32c", configuration: { location: "start" } },
      { name: "crc32c", configuration: { location: "end" } },
    ];
    expect(written({ ...read(), codecs }).codecs.slice(1)).toEqual([
      { name: "numcodecs.zlib", configuration: { level: 1 } },
      { name: "numcodecs.crc32", configuration: {} },
      { name: "numcodecs.crc32c", configuration: { location: "start" } },
      { name: "crc32c" },
    ]);
  });
});

describe("shards", () => {
  const sharding = (members: object = {}) => ({
    name: "sharding_indexed",
    configuration: {
      chunk_shape: [5, 3],
      codecs: [LITTLE],
      index_codecs: [LITTLE, "crc32c"],
      index_location: "start",
      ...members,
    },
  });

  it("give the shape of their chunks, in the array's dimensions", () => {
    expect(read({ codecs: [sharding()] }).chunkGrid).toEqual({
      chunkShape: [10, 15],
      innerChunkShape: [5, 3],
    });
    const transpose = (order: number[]) => ({ name: "transpose", configuration: { order } });
    const transposed = read({ codecs: [transpose([1, 0]), sharding({ chunk_shape: [3, 5] })] });
    expect(transposed.chunkGrid.innerChunkShape).toEqual([5, 3]);
    const turned = read({
      shape: [4, 6, 10],
      chunk_grid: { name: "regular", configuration: { chunk_shape: [4, 6, 10] } },
      dimension_names: null,
      codecs: [transpose([2, 0, 1]), sharding({ chunk_shape: [5, 2, 3] })],
    });
    expect(turned.chunkGrid.innerChunkShape).toEqual([2, 3, 5]);
  });

  it("have normal codecs inside", () => {
    const inner = sharding({
      codecs: [{ name: "numcodecs.delta", configuration: { dtype: "<i4" } }, "bytes"],
    });
    expect(failure(() => read({ codecs: [inner] })).details.pointer).toBe(
      "/codecs/0/configuration/codecs/1/configuration/endian",
    );
    const codecs = [{ name: "numcodecs.delta", configuration: { dtype: "<i4" } }, LITTLE];
    expect(
      codecsOf(read({ codecs: [sharding({ codecs, index_location: undefined })] }))[0]?.configuration,
    ).toEqual({
      chunk_shape: [5, 3],
      codecs: [LITTLE, { name: "delta", configuration: { dtype: "<i4" } }],
      index_codecs: [LITTLE, { name: "crc32c", configuration: {} }],
      index_location: "end",
    });
  });

  it("are written from their normal form", () => {
    const array = read({
      codecs: [sharding({ codecs: [LITTLE, { name: "numcodecs.zlib", configuration: { level: 1 } }] })],
    });
    const [codec] = codecsOf(array);
    const changed = {
      name: "sharding_indexed",
      configuration: { ...codec?.configuration, index_location: "end" },
    };
    expect(written({ ...array, codecs: [changed] }).codecs).toEqual([
      {
        name: "sharding_indexed",
        configuration: {
          chunk_shape: [5, 3],
          codecs: [LITTLE, { name: "numcodecs.zlib", configuration: { level: 1 } }],
          index_codecs: [LITTLE, { name: "crc32c" }],
          index_location: "end",
        },
      },
    ]);
  });

  it.each([
    [{ chunk_shape: [5, 4] }, "/chunk_shape"],
    [{ chunk_shape: [5] }, "/chunk_shape"],
    [{ chunk_shape: [0, 3] }, "/chunk_shape/0"],
    [{ chunk_shape: undefined }, "/chunk_shape"],
    [{ codecs: undefined }, "/codecs"],
    [{ codecs: [] }, "/codecs"],
    [{ index_codecs: undefined }, "/index_codecs"],
    [{ index_codecs: [LITTLE, { name: "gzip", configuration: { level: 1 } }] }, "/index_codecs/1"],
    [{ index_codecs: ["bytes"] }, "/index_codecs/0/configuration/endian"],
    [{ index_location: "middle" }, "/index_location"],
  ])("refuse %j", (members, pointer) => {
    expect(failure(() => read({ codecs: [sharding(members)] }))).toMatchObject({
      code: "invalid-metadata",
      details: { pointer: `/codecs/0/configuration${pointer}` },
    });
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

describe("variable data", () => {
  const strings = (codecs: unknown[], data_type: unknown = "string", fill_value: unknown = "") =>
    read({ data_type, fill_value, codecs });

  it("have ZEP 7's layout where no vlen codec stands", () => {
    const layout = (offset_size: number) => ({ name: "zep0007", configuration: { offset_size } });
    const gzip = { name: "gzip", configuration: { level: 1 } };
    const transpose = { name: "transpose", configuration: { order: [1, 0] } };
    expect(codecsOf(strings([]))).toEqual([layout(4)]);
    expect(codecsOf(strings([transpose, gzip], "LargeString"))).toEqual([transpose, layout(8), gzip]);
    expect(codecsOf(strings([LITTLE, gzip], "binary"))).toEqual([layout(4), gzip]);
    expect(
      written({ ...strings([gzip], "LargeString"), wording: { zarrFormat: "v3", stated: {}, usual: {} } }),
    ).toMatchObject({
      data_type: { name: "LargeString" },
      codecs: [gzip],
    });
  });

  it("have the registered form with one, in shards too", () => {
    expect(codecsOf(strings(["vlen-utf8"]))).toEqual([{ name: "vlen-utf8", configuration: {} }]);
    const sharding = (codecs: unknown[]) => ({
      name: "sharding_indexed",
      configuration: { chunk_shape: [5, 5], codecs, index_codecs: [LITTLE] },
    });
    expect(strings([sharding(["vlen-utf8"])]).codecs[0]?.configuration.codecs).toEqual([
      { name: "vlen-utf8", configuration: {} },
    ]);
    expect(strings([sharding([])]).codecs[0]?.configuration.codecs).toEqual([
      { name: "zep0007", configuration: { offset_size: 4 } },
    ]);
  });

  it.each([
    [["vlen-bytes"], "LargeBinary", "invalid-metadata", "/codecs"],
    [["bytes"], "bytes", "unsupported-data-type", "/data_type"],
    [["bytes"], "variable_length_bytes", "unsupported-data-type", "/data_type"],
    [
      [{ name: "bytes", configuration: { endian: "big" } }],
      "string",
      "unsupported-codec",
      "/codecs/0/configuration/endian",
    ],
  ])("refuse %j for %s", (codecs, type, code, pointer) => {
    expect(failure(() => strings(codecs, type))).toMatchObject({ code, details: { pointer } });
  });

  it("take a null fill value in ZEP 7's layout alone", () => {
    expect(hex(strings([], "string", null).fillValue.bytes)).toBe("");
    expect(failure(() => strings(["vlen-utf8"], "string", null)).details.pointer).toBe("/fill_value");
  });
});
