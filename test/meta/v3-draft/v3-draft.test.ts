import { describe, expect, it } from "vitest";
import type { ArrayMetadata } from "../../../src/meta/array-metadata.ts";
import { formatNamed } from "../../../src/meta/formats.ts";
import { PROTOCOL } from "../../../src/meta/v3-draft/form.ts";
import {
  arrayWith,
  bytesOf,
  failure,
  lostPointers,
  named,
  parseWith,
  textOf,
  writeWith,
} from "../helpers.ts";

const draft = formatNamed("v3-draft-2019");
const later = formatNamed("v3-draft-2020");
const v2 = formatNamed("v2");
const v3 = formatNamed("v3");

const ARRAY = "meta/root.array";
const GROUP = "meta/root.group";
const URI = "http://purl.org/zarr/spec/codec/gzip";
const document = {
  shape: [20, 30],
  data_type: ">i4",
  chunk_grid: { type: "regular", chunk_shape: [10, 15] },
  chunk_memory_layout: "C",
  compressor: { codec: URI, configuration: { level: 1 } },
  fill_value: 42,
  extensions: [] as unknown[],
  attributes: { units: "m" },
};

const arrayOf = (members: object = {}): ArrayMetadata =>
  arrayWith(draft, { [ARRAY]: { ...document, ...members } });
const without = (name: string) =>
  Object.fromEntries(Object.entries(document).filter(([other]) => other !== name));
/** What the draft writes again of a document. */
const again = (members: object) => JSON.parse(writeWith(draft, arrayOf(members))[ARRAY] ?? "");

describe("an array", () => {
  it("is read into the model", () => {
    expect(arrayOf({ chunk_memory_layout: "F" })).toMatchObject({
      shape: [20, 30],
      dataType: { kind: "int", size: 4 },
      chunkGrid: { chunkShape: [10, 15] },
      chunkKeyEncoding: { name: "plain", separator: "." },
      codecs: [
        named("transpose", { order: [1, 0] }),
        named("bytes", { endian: "big" }),
        { name: "gzip", configuration: { level: 1 }, stated: { pointer: "/compressor/codec" } },
      ],
      attributes: { units: "m" },
    });
  });

  it("is written in the order of the text", () => {
    expect(Object.keys(again({}))).toEqual(Object.keys(document));
    expect(again({})).toEqual(document);
  });

  it.each([
    { chunk_grid: { type: "regular", chunk_shape: [10, 15], separator: "." } },
    { chunk_grid: { type: "regular", chunk_shape: [10, 15], separator: "/" } },
    { chunk_memory_layout: "F" },
    { shape: [4], chunk_grid: { type: "regular", chunk_shape: [2] }, chunk_memory_layout: "F" },
    { shape: [], chunk_grid: { type: "regular", chunk_shape: [] } },
    { compressor: null },
    { compressor: { codec: `${URI}/1.0` } },
    { compressor: { codec: "https://purl.org/zarr/spec/codec/blosc", configuration: { cname: "zstd" } } },
    { fill_value: null },
    { data_type: "bool", fill_value: true },
    { data_type: "<f4", fill_value: "NaN" },
    { data_type: { extension: "http://example.org/dt", type: 1, fallback: "<i8" } },
    { extensions: [{ extension: "http://example.org/e", must_understand: false }] },
  ])("says the same again: %j", (members) => expect(again(members)).toEqual({ ...document, ...members }));

  it("is written without names that are not of the format", () => {
    expect(again({ novel: { x: 1 } })).toEqual(document);
  });

  it.each(["extensions", "attributes"])("may lack %s, which is written again", (name) => {
    const parsed = parseWith(draft, { [ARRAY]: without(name) });
    expect(parsed?.findings).toMatchObject([{ pointer: `/${name}` }]);
    expect(
      JSON.parse(writeWith(draft, arrayWith(draft, { [ARRAY]: without(name) }))[ARRAY] ?? ""),
    ).toHaveProperty(name);
  });

  it("may lack a compressor", () => {
    const array = arrayWith(draft, { [ARRAY]: without("compressor") });
    expect(array.codecs.map(({ name }) => name)).toEqual(["bytes"]);
    expect(JSON.parse(writeWith(draft, array)[ARRAY] ?? "")).not.toHaveProperty("compressor");
  });

  // test/spec/v3-draft-2019 has what the specification asks for
  const grid = "http://example.org/grid";
  it.each([
    [{ shape: 20 }, "invalid-metadata", "/shape"],
    [{ shape: new Array(65).fill(1) }, "resource-limit", "/shape"],
    [{ chunk_grid: "regular" }, "invalid-metadata", "/chunk_grid"],
    [{ chunk_grid: { type: 1, extension: grid } }, "unsupported-extension", "/chunk_grid"],
    [{ chunk_grid: { extension: 5, type: "x" } }, "invalid-metadata", "/chunk_grid/extension"],
    [{ chunk_memory_layout: {} }, "invalid-metadata", "/chunk_memory_layout/extension"],
    [{ compressor: { codec: "gzip" } }, "unsupported-codec", "/compressor/codec"],
    [{ fill_value: 1.5 }, "invalid-metadata", "/fill_value"],
  ])("is refused with %j", (members, code, pointer) => {
    expect(failure(() => arrayOf(members))).toMatchObject({ code, details: { key: ARRAY, pointer } });
  });

  it.each(["gzip", "zlib", "blosc", "bz2", "lz4", "lzma", "zstd"])("may be compressed by %s", (id) => {
    for (const uri of [
      `http://purl.org/zarr/spec/codec/${id}`,
      `https://purl.org/zarr/spec/codec/${id}/1.0`,
    ]) {
      expect(arrayOf({ compressor: { codec: uri, configuration: {} } }).codecs[1]?.name).toBe(id);
    }
  });

  it("takes bare NaN among its attributes alone", () => {
    const text = JSON.stringify(document);
    const parsed = parseWith(draft, { [ARRAY]: text.replace('"m"', "NaN") });
    expect(parsed?.findings).toMatchObject([{ pointer: "/attributes/units" }]);
    expect(failure(() => parseWith(draft, { [ARRAY]: text.replace("42", "NaN") })).code).toBe(
      "invalid-metadata",
    );
    const array = parsed?.metadata as ArrayMetadata;
    expect(lostPointers(() => writeWith(draft, array))).toEqual(["/attributes/units"]);
  });
});

describe("a group", () => {
  it("is read and written", () => {
    const text = { extensions: [], attributes: { spam: "ham", eggs: 42 } };
    const parsed = parseWith(draft, { [GROUP]: { ...text, novel: 1 } });
    expect(parsed).toEqual({ metadata: { kind: "group", attributes: text.attributes }, findings: [] });
    expect(JSON.parse(writeWith(draft, { kind: "group", attributes: text.attributes })[GROUP] ?? "")).toEqual(
      text,
    );
  });

  it("keeps extensions that need not be understood", () => {
    const text = {
      extensions: [{ extension: "http://example.org/e", must_understand: false }],
      attributes: {},
    };
    const group = parseWith(draft, { [GROUP]: text })?.metadata;
    expect(group && JSON.parse(writeWith(draft, group)[GROUP] ?? "")).toEqual(text);
    expect(lostPointers(() => group && writeWith(v3, group))).toEqual(["/extensions"]);
  });

  it("may lack its names", () => {
    expect(parseWith(draft, { [GROUP]: {} })?.findings).toHaveLength(2);
    expect(parseWith(later, { "meta/root.group.json": { attributes: {} } })?.findings).toEqual([]);
  });

  it("gives way to an array of its name", () => {
    const parsed = parseWith(draft, { [ARRAY]: document, [GROUP]: { extensions: [], attributes: {} } });
    expect(parsed?.metadata.kind).toBe("array");
    expect(parsed?.findings).toHaveLength(1);
  });
});

describe("the document that all nodes share", () => {
  const bootstrap = { zarr_format: PROTOCOL, metadata_encoding: "application/json", extensions: [] };

  it("is judged where it is given, also without a node", () => {
    expect(parseWith(draft, { "zarr.json": bootstrap })).toBeUndefined();
    expect(parseWith(draft, { "zarr.json": bootstrap, [ARRAY]: document })?.metadata.kind).toBe("array");
    const bad = { ...bootstrap, metadata_encoding: "application/cbor" };
    expect(failure(() => parseWith(draft, { "zarr.json": bad, [ARRAY]: document }))).toMatchObject({
      code: "unsupported-encoding",
      details: { format: "v3-draft-2019", key: "zarr.json", pointer: "/metadata_encoding" },
    });
  });

  it("is written for a new hierarchy", () => {
    expect(JSON.parse(textOf(draft.writeShared?.().get("zarr.json")))).toEqual(bootstrap);
    expect(v3.writeShared).toBeUndefined();
  });
});

describe("the later draft", () => {
  const key = "meta/root.array.json";
  const text = {
    ...document,
    chunk_grid: { type: "regular", chunk_shape: [10, 15], separator: "/" },
    compressor: { codec: "https://purl.org/zarr/spec/codec/gzip/1.0", configuration: { level: 1 } },
  };

  it("differs in URIs and in its separator", () => {
    const array = arrayWith(later, { [key]: text });
    expect(array.chunkKeyEncoding).toEqual({ name: "plain", separator: "/" });
    expect(JSON.parse(writeWith(later, array)[key] ?? "")).toEqual(text);
    const anew = { ...array, codecs: array.codecs.map(({ stated: _, ...codec }) => codec) };
    expect(JSON.parse(writeWith(later, anew)[key] ?? "")).toEqual(text);
    expect(JSON.parse(writeWith(draft, array)[ARRAY] ?? "").compressor.codec).toBe(URI);
  });

  it("has slashes between indices where it does not say", () => {
    const array = arrayWith(later, { [key]: { ...text, chunk_grid: document.chunk_grid } });
    expect(array.chunkKeyEncoding.separator).toBe("/");
  });
});

describe("from v2 to the draft and back", () => {
  const ZARRAY = {
    zarr_format: 2,
    shape: [20, 30],
    chunks: [10, 15],
    dtype: ">f4",
    compressor: { id: "blosc", cname: "lz4", clevel: 5, shuffle: 1, blocksize: 0 },
    fill_value: "NaN",
    order: "F",
    filters: null as unknown,
    dimension_separator: "/",
  };
  const moved = (members: object, allowLoss: string[] = []) => {
    const array = arrayWith(v2, { ".zarray": { ...ZARRAY, ...members } });
    const text = writeWith(draft, array, { allowLoss })[ARRAY] ?? "";
    const back = writeWith(v2, arrayWith(draft, { [ARRAY]: text }), { allowLoss });
    return { text: JSON.parse(text), zarray: JSON.parse(back[".zarray"] ?? "") };
  };

  it("keeps order, byte order, separator and compressor", () => {
    const { text, zarray } = moved({});
    expect(text).toEqual({
      shape: [20, 30],
      data_type: ">f4",
      chunk_grid: { type: "regular", chunk_shape: [10, 15], separator: "/" },
      chunk_memory_layout: "F",
      compressor: {
        codec: "http://purl.org/zarr/spec/codec/blosc",
        configuration: { cname: "lz4", clevel: 5, shuffle: 1, blocksize: 0 },
      },
      fill_value: "NaN",
      extensions: [],
      attributes: {},
    });
    expect(zarray).toEqual(ZARRAY);
  });

  it.each([
    ["|b1", true],
    ["|u1", 255],
    ["<i8", null],
    [">u8", 7],
    ["<f2", -0.5],
  ])("keeps the type %s and its fill value %j", (dtype, fill_value) => {
    expect(moved({ dtype, fill_value, compressor: null }).zarray).toMatchObject({ dtype, fill_value });
  });

  it.each([
    [{ dtype: "<c8", fill_value: [0, 0] }, ["/data_type"]],
    [{ dtype: "|S3", fill_value: "" }, ["/data_type"]],
    [{ dtype: "<M8[s]", fill_value: 0 }, ["/data_type"]],
    [{ filters: [{ id: "delta", dtype: ">f4" }] }, ["/filters/0/id"]],
    [{ filters: [{ id: "crc32" }], compressor: null }, ["/filters/0/id"]],
  ])("names what it cannot hold: %j", (members, pointers) => {
    expect(lostPointers(() => moved(members))).toEqual(pointers);
  });

  it("holds times as integers, where that is allowed", () => {
    const { text, zarray } = moved({ dtype: "<M8[s]", fill_value: -5 }, ["/data_type"]);
    expect(text).toMatchObject({ data_type: { type: "<M8[s]", fallback: "<i8" }, fill_value: -5 });
    expect(zarray).toMatchObject({ dtype: "<i8", fill_value: -5 });
  });
});

describe("from v3", () => {
  const array: ArrayMetadata = {
    ...arrayOf({ data_type: "<f4" }),
    codecs: [
      named("transpose", { order: [1, 0] }),
      named("bytes", { endian: "little" }),
      named("zstd", { level: 3 }),
    ],
    fillValue: { bytes: Uint8Array.of(1, 0, 0xc0, 0x7f) },
    dimensionNames: ["y", "x"],
  };

  it("names what is lost, and leaves out what may be", () => {
    expect(lostPointers(() => writeWith(draft, array))).toEqual(["/dimension_names", "/fill_value"]);
    const text = writeWith(draft, array, { allowLoss: ["/dimension_names", "/fill_value"] })[ARRAY] ?? "";
    expect(JSON.parse(text)).toMatchObject({
      chunk_memory_layout: "F",
      compressor: { codec: "http://purl.org/zarr/spec/codec/zstd", configuration: { level: 3 } },
      fill_value: "NaN",
    });
  });

  it.each([
    [
      ["bytes", "gzip", "crc32c"],
      ["/codecs/1", "/codecs/2"],
    ],
    [["bytes", "crc32c"], ["/codecs/1"]],
    [["sharding_indexed"], ["/codecs/0"]],
  ])("cannot hold the codecs %j", (names, pointers) => {
    const codecs = names.map((name) => ({ name, configuration: {} }));
    const { dimensionNames: _, ...plain } = { ...array, codecs, fillValue: { bytes: new Uint8Array(4) } };
    expect(lostPointers(() => writeWith(draft, plain))).toEqual(pointers);
  });

  it("cannot hold another order than C and F", () => {
    const turned = arrayOf({ shape: [4, 4, 4], chunk_grid: { type: "regular", chunk_shape: [2, 2, 2] } });
    const codecs = [named("transpose", { order: [2, 0, 1] }), ...turned.codecs];
    expect(lostPointers(() => writeWith(draft, { ...turned, codecs }))).toEqual(["/codecs/0"]);
  });

  it("cannot hold keys that start with `c`", () => {
    const keyed: ArrayMetadata = { ...arrayOf(), chunkKeyEncoding: { name: "default", separator: "/" } };
    expect(lostPointers(() => writeWith(draft, keyed))).toEqual(["/chunk_key_encoding"]);
  });

  it("takes back order and extension types as losses only", () => {
    const extended = arrayOf({ data_type: { extension: "http://example.org/dt", type: 1, fallback: "<i8" } });
    expect(
      failure(() => writeWith(v3, { ...extended, chunkKeyEncoding: array.chunkKeyEncoding })),
    ).toMatchObject({ code: "loss-refused", details: { pointers: ["/data_type"] } });
    const text = writeWith(v3, arrayOf({ chunk_memory_layout: "F" }))["zarr.json"] ?? "";
    expect(JSON.parse(text).codecs[0]).toEqual(named("transpose", { order: [1, 0] }));
  });
});

it("reads no prototype out of a document", () => {
  const text = '{"__proto__": {"shape": [1]}, "data_type": "<i4"}';
  const documents = new Map([[ARRAY, bytesOf(text)]]);
  expect(failure(() => draft.parse(documents, draft.layout(""))).details.pointer).toBe("/shape");
});
