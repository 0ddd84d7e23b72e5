import { describe, expect, it } from "vitest";
import { layoutV2, v2Format } from "../../../src/meta/v2/v2.ts";
import { JsonNumber } from "../../../src/util/json-value.ts";
import {
  arrayWith,
  failure,
  hex,
  json,
  lostPointers,
  named,
  parseWith,
  textOf,
  writeWith,
} from "../helpers.ts";
import { v2, ZARRAY } from "./documents.ts";

/** The array of V2-90, as the reference writes it: 264 bytes. */
const EXAMPLE = `{
    "chunks": [
        10,
        10
    ],
    "compressor": {
        "id": "zlib",
        "level": 1
    },
    "dtype": "<i4",
    "fill_value": 42,
    "filters": null,
    "order": "C",
    "shape": [
        20,
        20
    ],
    "zarr_format": 2
}`;

describe("the examples of the specification", () => {
  it("writes the array of V2-90 byte for byte", () => {
    expect(EXAMPLE).toHaveLength(264);
    const array = arrayWith(v2, { ".zarray": EXAMPLE });
    expect(writeWith(v2, array)).toEqual({ ".zarray": EXAMPLE });
    expect(array).toMatchObject({
      shape: [20, 20],
      dataType: { kind: "int", size: 4 },
      chunkGrid: { chunkShape: [10, 10] },
      chunkKeyEncoding: { name: "plain", separator: "." },
      codecs: [named("bytes", { endian: "little" }), named("zlib", { level: 1 })],
      attributes: {},
    });
    expect(hex(array.fillValue.bytes)).toBe("2a000000");
  });

  it("writes its attributes sorted, in 101 bytes", () => {
    const array = arrayWith(v2, { ".zarray": EXAMPLE });
    const zattrs = writeWith(v2, { ...array, attributes: { foo: 42, bar: "apples", baz: [1, 2, 3, 4] } })[
      ".zattrs"
    ];
    expect(zattrs).toHaveLength(101);
    expect(Object.keys(JSON.parse(zattrs ?? ""))).toEqual(["bar", "baz", "foo"]);
  });

  it("reads the array of V2-92, and writes it sorted", () => {
    const document = `{
      "zarr_format": 2, "shape": [10000, 10000], "chunks": [1000, 1000], "dtype": "<f8",
      "compressor": {"id": "blosc", "cname": "lz4", "clevel": 5, "shuffle": 1},
      "fill_value": "NaN", "order": "C", "filters": [{"id": "delta", "dtype": "<f8", "astype": "<f4"}]
    }`;
    const array = arrayWith(v2, { ".zarray": document });
    expect(array.codecs.map(({ name, configuration }) => [name, configuration])).toEqual([
      ["bytes", { endian: "little" }],
      ["delta", { dtype: "<f8", astype: "<f4" }],
      ["blosc", { cname: "lz4", clevel: 5, shuffle: "shuffle", blocksize: 0 }],
    ]);
    const written = writeWith(v2, array)[".zarray"] ?? "";
    expect(JSON.parse(written)).toEqual(JSON.parse(document));
    expect(Object.keys(JSON.parse(written))).toEqual([...Object.keys(JSON.parse(document))].sort());
  });
});

describe("reading and writing again", () => {
  it.each([
    ["a stated `.`", { dimension_separator: "." }],
    ["a `/`", { dimension_separator: "/" }],
    ["an empty list of filters", { filters: [] }],
    ["order F", { order: "F" }],
    ["order F of one dimension", { order: "F", shape: [3], chunks: [2] }],
    ["other names", { something_else: { a: [1] } }],
    ["a fill value in another form", { dtype: "<f8", fill_value: 3 }],
    ["NaT as a word", { dtype: "<M8[s]", fill_value: "NaT" }],
    ["a checksum as the compressor", { compressor: { id: "crc32" } }],
    ["a compressor as a filter", { filters: [{ id: "zlib", level: 2 }], compressor: null }],
    ["a codec with more members", { compressor: { id: "zstd", level: 1, checksum: false } }],
    ["an unknown codec", { compressor: { id: "nosuch", x: [1] } }],
    ["strings", { dtype: "|O", filters: [{ id: "vlen-utf8" }], fill_value: "" }],
    ["strings alone", { dtype: "|O", filters: [{ id: "vlen-utf8" }], fill_value: 0, compressor: null }],
  ])("keeps %s", (_, members) => {
    const document = { ...ZARRAY, ...members };
    expect(JSON.parse(writeWith(v2, arrayWith(v2, { ".zarray": document }))[".zarray"] ?? "")).toEqual(
      document,
    );
  });

  it("keeps number tokens and bytes of a document in the reference's form", () => {
    const zattrs = '{\n    "a": 1.0,\n    "b": 1e-07,\n    "c": 18446744073709551615,\n    "d": "\\u00e9"\n}';
    const node = parseWith(v2, { ".zgroup": '{"zarr_format": 2}', ".zattrs": zattrs });
    expect(writeWith(v2, node?.metadata ?? { kind: "group", attributes: {} })[".zattrs"]).toBe(zattrs);
  });

  it("drops what no longer says the same", () => {
    const array = arrayWith(v2, { ".zarray": { ...ZARRAY, filters: [], fill_value: 42 } });
    const changed = {
      ...array,
      codecs: [...array.codecs.slice(0, 1), named("shuffle", { elementsize: 4 })],
      fillValue: { ...array.fillValue, bytes: Uint8Array.of(1, 0, 0, 0) },
    };
    expect(JSON.parse(writeWith(v2, changed)[".zarray"] ?? "")).toMatchObject({
      filters: [{ id: "shuffle", elementsize: 4 }],
      compressor: null,
      fill_value: 1,
    });
    const compressor = array.codecs[1];
    const retuned = {
      ...array,
      codecs: [...array.codecs.slice(0, 1), { ...compressor, name: "zlib", configuration: { level: 9 } }],
    };
    expect(JSON.parse(writeWith(v2, retuned)[".zarray"] ?? "").compressor).toEqual({ id: "zlib", level: 9 });
  });

  it("writes `|` where a byte order means nothing", () => {
    const array = arrayWith(v2, { ".zarray": { ...ZARRAY, dtype: "<S3", fill_value: "" } });
    expect(JSON.parse(writeWith(v2, array)[".zarray"] ?? "").dtype).toBe("|S3");
  });

  it("adds a missing `filters`", () => {
    const { filters: _, ...document } = ZARRAY;
    expect(JSON.parse(writeWith(v2, arrayWith(v2, { ".zarray": document }))[".zarray"] ?? "")).toEqual(
      ZARRAY,
    );
    expect(parseWith(v2, { ".zarray": document })?.findings).toMatchObject([{ pointer: "/filters" }]);
  });

  it("publishes attributes before the array", () => {
    const array = arrayWith(v2, { ".zarray": ZARRAY, ".zattrs": { a: 1 } });
    expect(Object.keys(writeWith(v2, array))).toEqual([".zattrs", ".zarray"]);
  });
});

describe("what a v2 node says", () => {
  it("is undefined without a document", () => {
    expect(parseWith(v2, {})).toBeUndefined();
    expect(parseWith(v2, { ".zattrs": {} })).toBeUndefined();
  });

  it("takes the array where both documents are, with a finding", () => {
    const node = parseWith(v2, { ".zarray": ZARRAY, ".zgroup": { zarr_format: 2 } });
    expect([node?.metadata.kind, node?.findings.length]).toEqual(["array", 1]);
  });

  it("reads the last of equal names, and `__proto__` as an attribute", () => {
    const text = JSON.stringify(ZARRAY).replace('"order":"C"', '"order":"F","order":"C"');
    const array = arrayWith(v2, { ".zarray": text, ".zattrs": '{"__proto__": {"polluted": true}, "ok": 1}' });
    expect(array.codecs[0]?.name).toBe("bytes");
    expect(Object.keys(array.attributes)).toEqual(["__proto__", "ok"]);
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
    expect(writeWith(v2, array)[".zattrs"]).toContain('"__proto__": {');
  });

  it("does not take an inherited name for a stated one", () => {
    const { shape: _, ...rest } = ZARRAY;
    const text = JSON.stringify(rest).replace("{", '{"__proto__": {"shape": [20, 30]},');
    expect(failure(() => arrayWith(v2, { ".zarray": text })).details.pointer).toBe("/shape");
  });

  it("reads a separator that is not stated as its caller says", () => {
    const nested = v2Format({ separator: "/" });
    expect(arrayWith(nested, { ".zarray": ZARRAY }).chunkKeyEncoding.separator).toBe("/");
    const dotted = { ...ZARRAY, dimension_separator: "." };
    expect(arrayWith(nested, { ".zarray": dotted }).chunkKeyEncoding.separator).toBe(".");
    const written = writeWith(v2, arrayWith(nested, { ".zarray": ZARRAY }))[".zarray"];
    expect(JSON.parse(written ?? "").dimension_separator).toBe("/");
  });

  it("reports names that are not of the format", () => {
    const array = parseWith(v2, { ".zarray": { ...ZARRAY, nczarr: 1 } });
    expect(array?.findings).toEqual([expect.objectContaining({ pointer: "/nczarr" })]);
    const group = parseWith(v2, { ".zgroup": { zarr_format: 2, nczarr: 1 } });
    expect(group?.findings).toHaveLength(1);
    expect(writeWith(v2, group?.metadata ?? { kind: "group", attributes: {} })[".zgroup"]).toContain(
      "nczarr",
    );
  });
});

describe("bare NaN tokens", () => {
  const text = JSON.stringify({ ...ZARRAY, dtype: "<f8" }).replace('"fill_value":42', '"fill_value":NaN');

  it("are read as the fill value, reported, and written as a string", () => {
    const node = parseWith(v2, { ".zarray": text });
    expect(node?.findings).toEqual([expect.objectContaining({ pointer: "/fill_value" })]);
    const array = arrayWith(v2, { ".zarray": text });
    expect(hex(array.fillValue.bytes)).toBe("000000000000f87f");
    expect(JSON.parse(writeWith(v2, array)[".zarray"] ?? "").fill_value).toBe("NaN");
  });

  it("are read in attributes, and refused or written as null", () => {
    const array = arrayWith(v2, { ".zarray": ZARRAY, ".zattrs": '{"a": [NaN, 1], "b": -Infinity}' });
    expect(array.attributes).toEqual({ a: [Number.NaN, 1], b: Number.NEGATIVE_INFINITY });
    expect(failure(() => writeWith(v2, array))).toMatchObject({
      code: "loss-refused",
      details: { pointers: ["/attributes/a/0", "/attributes/b"] },
    });
    const written = writeWith(v2, array, { allowLoss: ["/attributes"] });
    expect(JSON.parse(written[".zattrs"] ?? "")).toEqual({ a: [null, 1], b: null });
  });

  it("are invalid elsewhere", () => {
    const shape = JSON.stringify(ZARRAY).replace("[20,30]", "[NaN,30]");
    expect(failure(() => arrayWith(v2, { ".zarray": shape })).details.pointer).toBe("/shape/0");
    expect(failure(() => arrayWith(v2, { ".zarray": text.replace("<f8", "<i4") })).details.pointer).toBe(
      "/fill_value",
    );
  });
});

describe("dimension names", () => {
  const read = (zattrs: unknown) => parseWith(v2, { ".zarray": ZARRAY, ".zattrs": zattrs });

  it("leave the attributes, and come back to them", () => {
    const array = arrayWith(v2, {
      ".zarray": ZARRAY,
      ".zattrs": { _ARRAY_DIMENSIONS: ["y", "x"], units: "m" },
    });
    expect(array).toMatchObject({ dimensionNames: ["y", "x"], attributes: { units: "m" } });
    expect(Object.keys(array.attributes)).toEqual(["units"]);
    expect(JSON.parse(writeWith(v2, array)[".zattrs"] ?? "")).toEqual({
      _ARRAY_DIMENSIONS: ["y", "x"],
      units: "m",
    });
  });

  it("are an empty list for a scalar", () => {
    const scalar = { ...ZARRAY, shape: [], chunks: [] };
    const array = arrayWith(v2, { ".zarray": scalar, ".zattrs": { _ARRAY_DIMENSIONS: [] } });
    expect(array.dimensionNames).toEqual([]);
    expect(writeWith(v2, array)[".zattrs"]).toContain('"_ARRAY_DIMENSIONS": []');
  });

  it.each([[["y"]], [["y", 1]], ["yx"], [null]])("stay attributes when they are %j", (names) => {
    const node = read({ _ARRAY_DIMENSIONS: names });
    expect(node?.findings).toEqual([expect.objectContaining({ pointer: "/_ARRAY_DIMENSIONS" })]);
    expect(node?.metadata).toMatchObject({ attributes: { _ARRAY_DIMENSIONS: names } });
    expect(node?.metadata).not.toHaveProperty("dimensionNames");
  });

  it("stay attributes of groups", () => {
    const group = parseWith(v2, { ".zgroup": { zarr_format: 2 }, ".zattrs": { _ARRAY_DIMENSIONS: ["x"] } });
    expect(group?.metadata.attributes).toEqual({ _ARRAY_DIMENSIONS: ["x"] });
  });

  it("are a loss where only some dimensions have one", () => {
    const array = arrayWith(v2, { ".zarray": ZARRAY });
    const some = { ...array, dimensionNames: ["y", null] };
    expect(lostPointers(() => writeWith(v2, some))).toEqual(["/dimension_names"]);
    expect(writeWith(v2, some, { allowLoss: ["/dimension_names"] })).toEqual(writeWith(v2, array));
    expect(writeWith(v2, { ...array, dimensionNames: [null, null] })).toEqual(writeWith(v2, array));
  });

  it("do not overwrite an attribute of their name in silence", () => {
    const array = {
      ...arrayWith(v2, { ".zarray": ZARRAY }),
      dimensionNames: ["y", "x"],
      attributes: { _ARRAY_DIMENSIONS: 1 },
    };
    expect(lostPointers(() => writeWith(v2, array))).toEqual(["/attributes/_ARRAY_DIMENSIONS"]);
  });
});

describe("the normal codec list", () => {
  const codecs = (members: object) =>
    arrayWith(v2, { ".zarray": { ...ZARRAY, ...members } }).codecs.map(({ name, configuration }) => [
      name,
      configuration,
    ]);

  it("has order F as a reversal, and no byte order for bytes", () => {
    expect(codecs({ order: "F", dtype: "|u1", compressor: null })).toEqual([
      ["transpose", { order: [1, 0] }],
      ["bytes", {}],
    ]);
  });

  it.each([
    [-1, "auto"],
    [0, "noshuffle"],
    [1, "shuffle"],
    [2, "bitshuffle"],
  ])("names blosc's shuffle %i %s", (shuffle, word) => {
    const compressor = { id: "blosc", cname: "zstd", clevel: 3, shuffle, blocksize: 0 };
    expect(codecs({ compressor })[1]).toEqual([
      "blosc",
      { cname: "zstd", clevel: 3, shuffle: word, blocksize: 0 },
    ]);
    const array = arrayWith(v2, { ".zarray": { ...ZARRAY, compressor } });
    const unstated = array.codecs.map(({ name, configuration }) => ({ name, configuration }));
    expect(JSON.parse(writeWith(v2, { ...array, codecs: unstated })[".zarray"] ?? "").compressor).toEqual(
      compressor,
    );
  });

  it("has plain numbers in configurations", () => {
    const text = JSON.stringify({ ...ZARRAY, filters: ["X"] }).replace(
      '"X"',
      '{"id": "fixedscaleoffset", "scale": 10.0, "offset": 1e2, "dtype": "<i4"}',
    );
    expect(arrayWith(v2, { ".zarray": text }).codecs[1]?.configuration).toEqual({
      scale: 10,
      offset: 100,
      dtype: "<i4",
    });
    expect(writeWith(v2, arrayWith(v2, { ".zarray": text }))[".zarray"]).toContain('"scale": 10.0');
  });

  it.each([
    ["vlen-utf8", "string"],
    ["vlen-bytes", "binary"],
    ["categorize", "string"],
    ["vlen-array", "object"],
    ["json2", "object"],
    ["msgpack2", "object"],
  ])("reads objects by %s as %s", (id, kind) => {
    const array = arrayWith(v2, {
      ".zarray": { ...ZARRAY, dtype: "|O", fill_value: null, filters: [{ id }] },
    });
    expect(array.dataType).toEqual({ kind });
    expect(array.codecs.map(({ name }) => name)).toEqual([id, "zlib"]);
  });

  it("says where each codec was named", () => {
    const array = arrayWith(v2, { ".zarray": { ...ZARRAY, filters: [{ id: "delta", dtype: "<i4" }] } });
    expect(array.codecs.map(({ stated }) => stated?.pointer)).toEqual([
      undefined,
      "/filters/0/id",
      "/compressor/id",
    ]);
  });
});

it("reads documents with a byte order mark", () => {
  expect(
    textOf(v2.write(arrayWith(v2, { ".zarray": `\ufeff${EXAMPLE}` }), v2.layout("")).get(".zarray")),
  ).toBe(EXAMPLE);
  expect(json("1")).toBe(1);
});

it("lays documents and chunks side by side below the path", () => {
  const layout = layoutV2("/foo\\bar//");
  expect(layout).toMatchObject({
    zarrFormat: "v2",
    path: "foo/bar",
    documentKeys: ["foo/bar/.zattrs", "foo/bar/.zarray", "foo/bar/.zgroup"],
  });
  const plain = { name: "plain", separator: "." } as const;
  expect(layout.chunkKey([0, 12], plain)).toBe("foo/bar/0.12");
  expect(layout.parseChunkKey("foo/bar/0.12", 2, plain)).toEqual([0, 12]);
  expect(layout.parseChunkKey("foo/barbaz/0.12", 2, plain)).toBeUndefined();
  expect(layout.parseChunkKey("foo/bar/.zarray", 2, plain)).toBeUndefined();
});

it("has no prefix at the root", () => {
  const layout = layoutV2("");
  expect(layout.documentKeys).toEqual([".zattrs", ".zarray", ".zgroup"]);
  expect(layout.chunkKey([], { name: "plain", separator: "/" })).toBe("0");
});

it("refuses to leave the root", () => {
  expect(failure(() => layoutV2("foo/../bar")).code).toBe("path-not-allowed");
});

// test/spec/v2 has the errors that the specification asks for
describe("errors", () => {
  it.each<[string, string, ...object[]]>([
    ["invalid-metadata", "/shape", { shape: null }],
    ["invalid-metadata", "/shape/0", { shape: [2 ** 60, 30] }],
    ["invalid-metadata", "/chunks", { chunks: [10, 10, 10] }],
    ["invalid-metadata", "/chunks/0", { chunks: [-1, 10] }],
    ["resource-limit", "/dtype", { dtype: "|S1099511627776" }],
    ["invalid-metadata", "/compressor/id", { compressor: { id: 1 } }],
    ["unsupported-codec", "/compressor/id", { compressor: { id: "sharding_indexed" } }],
    ["invalid-metadata", "/filters", { dtype: "|O", compressor: { id: "vlen-utf8" } }],
    ["invalid-metadata", "/filters/0", { filters: [null] }],
    ["invalid-metadata", "/fill_value", { fill_value: "abc" }],
  ])("%s at %s: %j ...", (code, pointer, ...wrong) => {
    for (const members of wrong) {
      const error = failure(() => arrayWith(v2, { ".zarray": { ...ZARRAY, ...members } }));
      expect(error).toMatchObject({ code, details: { format: "v2", path: "", key: ".zarray", pointer } });
    }
  });

  it.each([
    [".zgroup", "[]", "invalid-metadata", ""],
    [".zarray", "null", "invalid-metadata", ""],
    [".zarray", "", "invalid-metadata", ""],
    [".zarray", `${JSON.stringify(ZARRAY)} x`, "invalid-metadata", ""],
    [".zarray", JSON.stringify(ZARRAY).slice(0, 40), "invalid-metadata", ""],
  ])("%s of %j is %s at %s", (key, text, code, pointer) => {
    const error = failure(() => parseWith(v2, { [`a/b/${key}`]: text }, "a/b"));
    expect(error).toMatchObject({ code, details: { path: "a/b", key: `a/b/${key}`, pointer } });
  });

  it.each(['{"a": 1', "[".repeat(48_000)])("attributes %j are refused at their own key", (zattrs) => {
    const error = failure(() => parseWith(v2, { ".zarray": ZARRAY, ".zattrs": zattrs }));
    expect(["invalid-metadata", "resource-limit"]).toContain(error.code);
    expect(error.details.key).toBe(".zattrs");
  });
});

describe("what v2 cannot hold", () => {
  const array = arrayWith(v2, { ".zarray": ZARRAY });
  const bytes = named("bytes", { endian: "little" });

  it.each([
    [
      "keys with `c`",
      { chunkKeyEncoding: { name: "default", separator: "/" } as const },
      ["/chunk_key_encoding"],
    ],
    ["shards", { codecs: [named("sharding_indexed", { chunk_shape: [5, 5] })] }, ["/codecs/0"]],
    [
      "another order",
      { shape: [1, 1, 1], codecs: [named("transpose", { order: [2, 0, 1] }), bytes] },
      ["/codecs/0"],
    ],
    ["a codec of v3 alone", { codecs: [named("cast_value"), bytes] }, ["/codecs/0"]],
    ["a codec that is not known", { codecs: [bytes, named("nosuch")] }, ["/codecs/1"]],
    [
      "times without a unit",
      {
        dataType: { kind: "datetime", size: 8, unit: "generic", scale: 1 } as const,
        fillValue: { bytes: new Uint8Array(8) },
      },
      ["/data_type"],
    ],
    [
      "ZEP 7's layout",
      {
        dataType: { kind: "string" } as const,
        codecs: [named("zep0007", { offset_size: 4 })],
      },
      ["/codecs/0"],
    ],
    ["names of another format", { extra: { zarrFormat: "v3", json: { ext: {} } } as const }, ["/ext"]],
    [
      "NaN payloads",
      {
        dataType: { kind: "float", size: 4 } as const,
        fillValue: { bytes: Uint8Array.of(1, 0, 0xc0, 0x7f) },
      },
      ["/fill_value"],
    ],
  ])("%s", (_, members, pointers) => {
    const error = failure(() => writeWith(v2, { ...array, ...members }));
    expect(error).toMatchObject({ code: "loss-refused", details: { format: "v2", pointers } });
  });

  it("names all losses at once, and lets go of those that are allowed", () => {
    const lossy = {
      ...array,
      extra: { zarrFormat: "v3", json: { ext: {}, more: {} } } as const,
      dimensionNames: ["y", null],
      attributes: { x: new JsonNumber("1.0") },
    };
    expect(lostPointers(() => writeWith(v2, lossy))).toEqual(["/dimension_names", "/ext", "/more"]);
    const written = writeWith(v2, lossy, { allowLoss: ["/ext", "/more", "/dimension_names"] });
    expect(JSON.parse(written[".zarray"] ?? "")).toEqual(ZARRAY);
    expect(written[".zattrs"]).toBe('{\n    "x": 1.0\n}');
  });

  it("does not let go of what the data need", () => {
    const keyed = { ...array, chunkKeyEncoding: { name: "default", separator: "/" } as const };
    expect(failure(() => writeWith(v2, keyed, { allowLoss: ["/chunk_key_encoding"] })).code).toBe(
      "loss-refused",
    );
  });
});

describe("codecs of objects", () => {
  const v2 = v2Format();
  const zarray = (rest: object) => ({
    zarr_format: 2,
    shape: [4, 6],
    chunks: [2, 3],
    dtype: "|O",
    compressor: null,
    fill_value: null,
    order: "F",
    filters: null,
    ...rest,
  });
  const namesOf = (rest: object) => arrayWith(v2, { ".zarray": zarray(rest) }).codecs.map(({ name }) => name);

  describe.each(["json2", "msgpack2"])("%s stores items by their coords", (id) => {
    it("so that the order means nothing, and is kept", () => {
      expect(namesOf({ filters: [{ id }] })).toEqual([id]);
      expect(namesOf({ dtype: "<i4", filters: [{ id }] })).toEqual(["bytes", id]);
      const metadata = arrayWith(v2, { ".zarray": zarray({ filters: [{ id }] }) });
      const written = v2.write(metadata, v2.layout("")).get(".zarray");
      expect(JSON.parse(new TextDecoder().decode(written))).toMatchObject({ order: "F", filters: [{ id }] });
    });

    it("but behind other filters it does", () => {
      const filters = [{ id: "delta", dtype: "<i4" }, { id }];
      expect(namesOf({ dtype: "<i4", filters })).toEqual(["transpose", "bytes", "delta", id]);
    });

    it("an order in front of it cannot be written", () => {
      const metadata = arrayWith(v2, { ".zarray": zarray({ order: "C", filters: [{ id }] }) });
      const transpose = named("transpose", { order: [1, 0] });
      const error = failure(() =>
        v2.write({ ...metadata, codecs: [transpose, ...metadata.codecs] }, v2.layout("")),
      );
      expect(error.code).toBe("loss-refused");
    });
  });

  it("the other codecs of objects follow the order", () => {
    expect(namesOf({ filters: [{ id: "vlen-utf8" }] })).toEqual(["transpose", "vlen-utf8"]);
    expect(namesOf({ filters: [{ id: "categorize", labels: [], dtype: "|O" }] })).toEqual([
      "transpose",
      "categorize",
    ]);
  });

  it.each(["cast_value", "scale_offset", "v3.packbits", "zep0007"])("v2 knows no %s", (id) => {
    const error = failure(() => arrayWith(v2, { ".zarray": zarray({ dtype: "<i4", filters: [{ id }] }) }));
    expect(error).toMatchObject({ code: "unsupported-codec", details: { pointer: "/filters/0/id" } });
  });
});
