import { describe, expect, it } from "vitest";
import type { ArrayMetadata } from "../../src/meta/array-metadata.ts";
import { formatNamed } from "../../src/meta/formats.ts";
import { arrayWith, failure, lostPointers, writeWith } from "./helpers.ts";

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
    expect(moved.v3).toEqual({
      shape: [20, 30],
      data_type: "int32",
      chunk_grid: { name: "regular", configuration: { chunk_shape: [10, 15] } },
      chunk_key_encoding: { name: "v2", configuration: { separator: "/" } },
      fill_value: 42,
      codecs: [
        { name: "transpose", configuration: { order: [1, 0] } },
        { name: "bytes", configuration: { endian: "big" } },
        {
          name: "blosc",
          configuration: { typesize: 4, cname: "lz4", clevel: 5, shuffle: "shuffle", blocksize: 0 },
        },
      ],
      attributes: { units: "m" },
      dimension_names: ["y", "x"],
      zarr_format: 3,
      node_type: "array",
      storage_transformers: [],
    });
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
    [
      [
        ["a", ">i2"],
        [
          "b",
          [
            ["c", ">f4"],
            ["d", "|S2"],
          ],
        ],
      ],
      "AAE/gAAAeAA=",
    ],
  ])("keeps the type %j and its fill value", (dtype, fill_value) => {
    expect(throughV3({ dtype, fill_value, compressor: null }).zarray).toMatchObject({ dtype, fill_value });
  });

  it.each([
    [[{ id: "delta", dtype: ">i4", astype: ">i2" }]],
    [[{ id: "delta", dtype: ">i4" }, { id: "shuffle", elementsize: 4 }, { id: "crc32" }]],
    [
      [
        { id: "quantize", digits: 2, dtype: ">i4" },
        { id: "bitround", keepbits: 3 },
      ],
    ],
    [[{ id: "fletcher32" }]],
  ])("keeps the filters %j", (filters) => {
    expect(throughV3({ filters }).zarray.filters).toEqual(filters);
  });

  it("keeps the bytes of items where filters turn their order", () => {
    const moved = throughV3({ filters: [{ id: "delta", dtype: ">i4", astype: "<i2" }] });
    expect(moved.v3.codecs.slice(1, 3)).toEqual([
      { name: "numcodecs.delta", configuration: { dtype: "<i4", astype: "<i2" } },
      { name: "bytes", configuration: { endian: "little" } },
    ]);
    expect(moved.zarray).toMatchObject({
      dtype: "<i4",
      filters: [{ id: "delta", dtype: "<i4", astype: "<i2" }],
    });
  });

  it("keeps strings and bytes", () => {
    const strings = throughV3({ dtype: "|O", filters: [{ id: "vlen-utf8" }], fill_value: "x", order: "C" });
    expect(strings.v3).toMatchObject({
      data_type: "string",
      fill_value: "x",
      codecs: [{ name: "vlen-utf8" }, {}],
    });
    expect(strings.zarray).toMatchObject({ dtype: "|O", filters: [{ id: "vlen-utf8" }], fill_value: "x" });
    const bytes = throughV3({ dtype: "|O", filters: [{ id: "vlen-bytes" }], fill_value: "AP8=" });
    expect(bytes.v3).toMatchObject({ data_type: "bytes", fill_value: "AP8=" });
    expect(bytes.zarray).toMatchObject({ dtype: "|O", filters: [{ id: "vlen-bytes" }], fill_value: "AP8=" });
  });
});

describe("from v3 to v2", () => {
  const document = {
    ...{
      shape: [4],
      data_type: "float64",
      zarr_format: 3,
      node_type: "array",
      fill_value: "0x7ff8000000000001",
    },
    chunk_grid: { name: "regular", configuration: { chunk_shape: [2] } },
    chunk_key_encoding: { name: "v2" },
    codecs: [
      { name: "bytes", configuration: { endian: "little" } },
      "crc32c",
      { name: "gzip", configuration: { level: 5 } },
    ],
    ext: { must_understand: false },
  };
  const array: ArrayMetadata = arrayWith(v3, { "zarr.json": document });

  it("names what is lost, and leaves out what may be", () => {
    expect(lostPointers(() => writeWith(v2, array))).toEqual(["/ext", "/fill_value"]);
    expect(JSON.parse(writeWith(v2, array, { allowLoss: ["/fill_value", "/ext"] })[".zarray"] ?? "")).toEqual(
      {
        zarr_format: 2,
        shape: [4],
        chunks: [2],
        dtype: "<f8",
        fill_value: "NaN",
        order: "C",
        filters: [{ id: "crc32c" }],
        compressor: { id: "gzip", level: 5 },
      },
    );
  });
});
