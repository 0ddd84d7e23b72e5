import { describe, expect, it } from "vitest";
import type { ArrayMetadata, ChunkKeyEncoding } from "../../src/meta/array-metadata.ts";
import { detectFormat, detectionKeys, hierarchyFormat } from "../../src/meta/detect.ts";
import { Losses } from "../../src/meta/documents.ts";
import { formatNamed } from "../../src/meta/formats.ts";
import {
  decodeChunkKey,
  encodeChunkKey,
  movedKey,
  outerPrefixes,
  parseChunkKeyEncoding,
  writeChunkKeyEncoding,
} from "../../src/meta/node-layout.ts";
import { restoreSpelling, wordingOf } from "../../src/meta/round-trip.ts";
import { layoutV2 } from "../../src/meta/v2/v2.ts";
import { DRAFT_2019 } from "../../src/meta/v3-draft/form.ts";
import { layoutDraft } from "../../src/meta/v3-draft/layout.ts";
import type { JsonObject, JsonValue } from "../../src/util/json-value.ts";
import { arrayWith, bytesOf, failure, json, lostPointers, named, refusal, writeWith } from "./helpers.ts";

const v2 = formatNamed("v2");
const v3 = formatNamed("v3");

it.each(["v1", "v2", "v3-draft-2019", "v3-draft-2020", "v3"] as const)("knows %s", (name) => {
  expect(formatNamed(name).name).toBe(name);
});

it("knows no others", () => {
  expect(failure(() => formatNamed("v4" as "v3"))).toMatchObject({
    code: "unsupported-format",
    details: { value: "v4" },
  });
});

it("passes options on", () => {
  expect(formatNamed("v2", { v2: { separator: "/" } }).name).toBe("v2");
  expect(formatNamed("v1", { v1Order: "as-stated" }).name).toBe("v1");
});

const ZARRAY = {
  zarr_format: 2,
  shape: [20, 30],
  chunks: [10, 15],
  dtype: ">i4",
  compressor: { id: "blosc", cname: "lz4", clevel: 5, shuffle: 1, blocksize: 0 },
  fill_value: 42,
  order: "F",
  filters: null as unknown,
  dimension_separator: "/",
};

/** What v3 makes of a v2 array, and v2 of that again. */
function throughV3(members: object, zattrs?: object) {
  const array = arrayWith(v2, { ".zarray": { ...ZARRAY, ...members }, ...(zattrs && { ".zattrs": zattrs }) });
  const document = writeWith(v3, array)["zarr.json"] ?? "";
  const back = writeWith(v2, arrayWith(v3, { "zarr.json": document }));
  return {
    v3: JSON.parse(document),
    zarray: JSON.parse(back[".zarray"] ?? ""),
    zattrs: JSON.parse(back[".zattrs"] ?? "{}"),
  };
}

describe("from v2 to v3 and back", () => {
  it("keeps order, byte order, key encoding, codecs and dimension names", () => {
    const moved = throughV3({}, { _ARRAY_DIMENSIONS: ["y", "x"], units: "m" });
    const { codecs, ...rest } = moved.v3;
    expect(rest).toEqual({
      ...{ zarr_format: 3, node_type: "array", shape: [20, 30], data_type: "int32", fill_value: 42 },
      chunk_grid: named("regular", { chunk_shape: [10, 15] }),
      chunk_key_encoding: named("v2", { separator: "/" }),
      ...{ attributes: { units: "m" }, dimension_names: ["y", "x"], storage_transformers: [] },
    });
    const blosc = { typesize: 4, cname: "lz4", clevel: 5, shuffle: "shuffle", blocksize: 0 };
    const listed = [named("transpose", { order: [1, 0] }), named("bytes", { endian: "big" })];
    expect(codecs).toEqual([...listed, named("blosc", blosc)]);
    expect(moved.zarray).toEqual(ZARRAY);
    expect(moved.zattrs).toEqual({ _ARRAY_DIMENSIONS: ["y", "x"], units: "m" });
  });

  it.each([
    ["|b1", true],
    ["<f2", "NaN"],
    ["<f8", -0.5],
    [">c8", [1.5, "-Infinity"]],
    ["<M8[25s]", -5],
    ["|S3", "eHk="],
    ["<U2", "\u{1f600}"],
    ["|V2", "AP8="],
    [json('[["a", ">i2"], ["b", [["c", ">f4"], ["d", "|S2"]]]]'), "AAE/gAAAeAA="],
  ])("keeps the type %j and its fill value", (dtype, fill_value) => {
    expect(throughV3({ dtype, fill_value, compressor: null }).zarray).toMatchObject({ dtype, fill_value });
  });

  const delta = { id: "delta", dtype: ">i4" };
  it.each([
    [[{ ...delta, astype: ">i2" }]],
    [[delta, { id: "shuffle", elementsize: 4 }, { id: "crc32" }]],
    [[{ id: "quantize", digits: 2, dtype: ">i4" }].concat({ id: "bitround", keepbits: 3 } as never)],
    [[{ id: "fletcher32" }]],
  ])("keeps the filters %j", (filters) => expect(throughV3({ filters }).zarray.filters).toEqual(filters));

  it("keeps the bytes of items where filters turn their order", () => {
    const moved = throughV3({ filters: [{ id: "delta", dtype: ">i4", astype: "<i2" }] });
    const filter = { dtype: "<i4", astype: "<i2" };
    const listed = [named("numcodecs.delta", filter), named("bytes", { endian: "little" })];
    expect(moved.v3.codecs.slice(1, 3)).toEqual(listed);
    expect(moved.zarray).toMatchObject({ dtype: "<i4", filters: [{ id: "delta", ...filter }] });
  });

  it("keeps strings and bytes", () => {
    const strings = throughV3({ dtype: "|O", filters: [{ id: "vlen-utf8" }], fill_value: "x", order: "C" });
    const listed = { data_type: "string", fill_value: "x", codecs: [{ name: "vlen-utf8" }, {}] };
    expect(strings.v3).toMatchObject(listed);
    expect(strings.zarray).toMatchObject({ dtype: "|O", filters: [{ id: "vlen-utf8" }], fill_value: "x" });
    const bytes = throughV3({ dtype: "|O", filters: [{ id: "vlen-bytes" }], fill_value: "AP8=" });
    expect(bytes.v3).toMatchObject({ data_type: "bytes", fill_value: "AP8=" });
    expect(bytes.zarray).toMatchObject({ dtype: "|O", filters: [{ id: "vlen-bytes" }], fill_value: "AP8=" });
  });
});

describe("from v3 to v2", () => {
  const bits = { data_type: "float64", fill_value: "0x7ff8000000000001" };
  const document = {
    ...{ ...bits, shape: [4], zarr_format: 3, node_type: "array", ext: { must_understand: false } },
    ...{ chunk_grid: named("regular", { chunk_shape: [2] }), chunk_key_encoding: { name: "v2" } },
    codecs: [named("bytes", { endian: "little" }), "crc32c", named("gzip", { level: 5 })],
  };
  const array: ArrayMetadata = arrayWith(v3, { "zarr.json": document });

  it("names what is lost, and leaves out what may be", () => {
    expect(lostPointers(() => writeWith(v2, array))).toEqual(["/ext", "/fill_value"]);
    const { ".zarray": text = "" } = writeWith(v2, array, { allowLoss: ["/fill_value", "/ext"] });
    expect(JSON.parse(text)).toEqual({
      ...{ zarr_format: 2, shape: [4], chunks: [2], dtype: "<f8", fill_value: "NaN", order: "C" },
      ...{ filters: [{ id: "crc32c" }], compressor: { id: "gzip", level: 5 } },
    });
  });
});

const DRAFT = "https://purl.org/zarr/spec/protocol/core/3.0";
const detect = (documents: Record<string, unknown>, path = "") =>
  detectFormat(new Map(Object.entries(documents).map(([key, document]) => [key, bytesOf(document)])), path);

describe("detectDialect", () => {
  it("looks at keys in the order in which they count", () => {
    expect(detectionKeys("a/b")).toEqual(["a/b/zarr.json", "a/b/.zarray", "a/b/.zgroup", "a/b/meta"]);
    expect(detectionKeys("")[0]).toBe("zarr.json");
  });

  it.each([
    [{ "zarr.json": { zarr_format: 3 } }, "v3"],
    [{ "zarr.json": "not JSON" }, "v3"],
    [{ "zarr.json": { zarr_format: 7 } }, "v3"],
    [{ "zarr.json": { zarr_format: DRAFT } }, "v3-draft-2019"],
    [{ "zarr.json": { zarr_format: DRAFT, metadata_key_suffix: ".json" } }, "v3-draft-2020"],
    [{ ".zarray": {} }, "v2"],
    [{ ".zgroup": "[" }, "v2"],
    [{ meta: {} }, "v1"],
  ])("%j is %s", (documents, zarrFormat) => expect(detect(documents)).toEqual({ zarrFormat, findings: [] }));

  it("finds nothing without any of them", () => {
    expect(detect({ ".zattrs": {}, "x/.zgroup": {} })).toBeUndefined();
    expect(detect({ ".zgroup": {} }, "x")).toBeUndefined();
  });

  it("takes the first of several formats, and names the others", () => {
    const found = detect({ "a/.zarray": {}, "a/zarr.json": { zarr_format: 3 }, "a/meta": {} }, "a");
    expect(found?.zarrFormat).toBe("v3");
    expect(found?.findings[0]?.message).toContain(".zarray and meta");
    expect(detect({ ".zarray": {}, ".zgroup": {} })).toEqual({ zarrFormat: "v2", findings: [] });
  });

  it("recognizes hierarchies whose nodes do not lie at their paths", () => {
    const formatOf = (document: unknown) => hierarchyFormat(bytesOf(document));
    expect(formatOf({ zarr_format: DRAFT })).toBe("v3-draft-2019");
    expect(formatOf({ zarr_format: DRAFT, metadata_key_suffix: ".json" })).toBe("v3-draft-2020");
    for (const other of [{ zarr_format: 3 }, { zarr_format: "3" }, "[", []])
      expect(formatOf(other)).toBeUndefined();
  });
});

it("gathers losses, but for those that are allowed by their pointer or one above", () => {
  const losses = new Losses(["/attributes", "/ext"]);
  losses.add("/attributes/a", "NaN is not JSON");
  losses.add("/ext", "a name of v3 alone");
  losses.check("v2", "");
  const allowable = new Losses();
  allowable.add("/extra", "a name of v3 alone");
  expect(failure(() => allowable.check("v2", "a")).details.hint).toMatch(/^List each pointer/);
  losses.add("/extra", "a name of v3 alone");
  losses.add("/extra", "twice");
  losses.require("/attributes", "whatever is allowed");
  const error = failure(() => losses.check("v2", "a"));
  expect(error).toMatchObject({
    code: "loss-refused",
    details: { format: "v2", path: "a", pointers: ["/extra", "/attributes"] },
  });
  expect(error.message).toContain("/extra (a name of v3 alone)");
  expect(error.details.hint).toMatch(/cannot be read without it/);
});

describe("the spelling of a document", () => {
  const document = json('{"a": 1, "b": [], "d": 2}') as JsonObject;
  const usual = json('{"a": 1.0, "b": null, "c": {}, "e": 5}') as JsonObject;
  const wording = wordingOf("v3", document, usual, ["a", "b", "c", "d", "e"], ["c"]);

  it("holds the members that are worded otherwise, and the optional ones that are left out", () => {
    expect(wording).toEqual({ zarrFormat: "v3", stated: { b: [], d: 2 }, usual: { b: null, c: {} } });
    expect(wordingOf("v3", document, document, ["a", "b"])).toBeUndefined();
  });

  it("holds as long as the usual words are the same", () => {
    expect(restoreSpelling(usual, "v3", wording)).toEqual({ ...document, a: usual.a, e: 5 });
    expect(restoreSpelling({ ...usual, b: [1], c: { x: 1 }, d: 3 }, "v3", wording)).toEqual({
      ...usual,
      b: [1],
      c: { x: 1 },
      d: 3,
    });
    expect(restoreSpelling(usual, "v2", wording)).toEqual(usual);
    expect(restoreSpelling(usual, "v3", undefined)).toEqual(usual);
  });
});

describe("keys that move", () => {
  const draft = (path: string) => layoutDraft(DRAFT_2019, path);

  it("lists no key twice", () => {
    expect(outerPrefixes(layoutV2("a"))).toEqual(["a/"]);
    expect(outerPrefixes(draft("a"))).toEqual(["meta/root/a/", "data/a/"]);
    expect(outerPrefixes(draft(""))).toEqual([""]);
  });

  it.each([
    ["data/a/x", draft("a"), draft("b"), "data/b/x"],
    ["meta/root/a/x", draft("a"), draft("b/c"), "meta/root/b/c/x"],
    ["data/x", draft(""), draft("b"), "data/b/x"],
    ["README", draft(""), draft("b"), "data/b/README"],
    ["README", draft(""), draft(""), "README"],
    ["meta/root/a/x", draft("a"), layoutV2("b"), "b/x"],
    ["data/a/x", draft("a"), layoutV2(""), "x"],
    ["a/x", layoutV2("a"), draft("b"), "data/b/x"],
    ["a/x", layoutV2("a"), layoutV2("b/c"), "b/c/x"],
  ])("moves %j to its like", (key, from, to, moved) => expect(movedKey(key, from, to)).toBe(moved));
});

describe("keys", () => {
  const encoding = (name: "default" | "plain", separator: "." | "/"): ChunkKeyEncoding => ({
    name,
    separator,
  });

  describe("chunk keys", () => {
    it.each([
      ["default", "/", [1, 23, 45], "c/1/23/45"],
      ["default", ".", [1, 23, 45], "c.1.23.45"],
      ["default", "/", [], "c"],
      ["default", ".", [], "c"],
      ["plain", ".", [2, 4], "2.4"],
      ["plain", "/", [2, 4], "2/4"],
      ["plain", ".", [7], "7"],
      ["plain", ".", [], "0"],
      ["plain", "/", [], "0"],
    ] as const)("%s with %s: %j is %s, and back", (name, separator, coords, key) => {
      expect(encodeChunkKey(coords, encoding(name, separator))).toBe(key);
      expect(decodeChunkKey(key, coords.length, encoding(name, separator))).toEqual(coords);
    });

    it.each<["default" | "plain", "." | "/", number, ...string[]]>([
      ["plain", ".", 2, "0", "0.0.0", "0/0", "00.0", "-1.0", "1e1.0", "0.0.partial", ".0", " 0.0"],
      ["plain", ".", 1, "", "99999999999999999999"],
      ["plain", ".", 0, "1", ""],
      ["default", "/", 2, "0/0", "c/0", "c.0.0", "d/0/0"],
      ["default", "/", 0, "c/0"],
      ["default", "/", 1, "c/01"],
    ])("%s with %s has no chunk of rank %i at %j ...", (name, separator, rank, ...keys) => {
      for (const key of keys)
        expect(decodeChunkKey(key, rank, encoding(name, separator)), key).toBeUndefined();
    });
  });

  describe("chunk key encodings of v3", () => {
    it.each([
      ["default", encoding("default", "/")],
      [{ name: "default" }, encoding("default", "/")],
      [named("default", { separator: "." }), encoding("default", ".")],
      [{ name: "v2" }, encoding("plain", ".")],
      [named("v2", { separator: "/" }), encoding("plain", "/")],
      [{ name: "v2", must_understand: false, configuration: {} }, encoding("plain", ".")],
    ])("reads %j", (json, expected) => {
      expect(parseChunkKeyEncoding(json as JsonValue, "/chunk_key_encoding")).toEqual(expected);
      expect(parseChunkKeyEncoding(writeChunkKeyEncoding(expected), "")).toEqual(expected);
    });

    it.each([
      [named("default", { separator: "-" }), "invalid-metadata", "/configuration/separator"],
      [{ name: "fancy" }, "unsupported-extension", ""],
      [named("default", { base: 16 }), "unsupported-extension", "/configuration/base"],
      [{ name: "default", configuration: [] }, "invalid-metadata", "/configuration"],
      [{}, "invalid-metadata", "/name"],
      [{ name: 3 }, "invalid-metadata", "/name"],
      [null, "invalid-metadata", ""],
    ])("refuses %j", (json, code, pointer) => {
      expect(refusal(() => parseChunkKeyEncoding(json as JsonValue, "/k"))).toBe(`${code} /k${pointer}`);
    });
  });
});

function parse(dataType: unknown, fillValue: unknown) {
  const document = {
    zarr_format: 3,
    node_type: "array",
    shape: [2],
    data_type: dataType,
    chunk_grid: named("regular", { chunk_shape: [2] }),
    chunk_key_encoding: { name: "default" },
    codecs: [{ name: "bytes" }],
    fill_value: fillValue,
  };
  const bytes = new TextEncoder().encode(JSON.stringify(document));
  return v3.parse(new Map([["zarr.json", bytes]]), v3.layout(""));
}

it("text of a fixed length whose `bytes` state no byte order is little-endian, with a note", () => {
  const parsed = parse(named("fixed_length_utf32", { length_bytes: 8 }), "");
  expect(parsed?.metadata).toMatchObject({
    codecs: [named("bytes", { endian: "little" })],
  });
  expect(parsed?.findings).toMatchObject([
    { message: expect.stringContaining("no byte order is stated for text") },
  ]);
});

it("numbers must state theirs", () => {
  expect(() => parse("int32", 0)).toThrow("the data type needs a byte order");
});
