import { describe, expect, test } from "vitest";
import { openArray } from "../../../src/hierarchy/open/open.ts";
import type { ArrayMetadata, ZarrFormat } from "../../../src/meta/array-metadata.ts";
import type { ConventionNode } from "../../../src/meta/conventions/convention.ts";
import { convertConventions } from "../../../src/meta/conventions/conventions.ts";
import { missingValueOf } from "../../../src/meta/conventions/missing-values.ts";
import { FORMAT_DEFAULTS, formatNamed } from "../../../src/meta/formats.ts";
import { given } from "../../support/given.ts";
import { named } from "../helpers.ts";

type Json = Readonly<Record<string, unknown>>;

const encode = (json: unknown) => new TextEncoder().encode(JSON.stringify(json));

function v2(zarray: Json, attributes: Json = { _ARRAY_DIMENSIONS: ["x"] }): ArrayMetadata {
  const zarrFormat = formatNamed("v2");
  const document = {
    zarr_format: 2,
    shape: [4],
    chunks: [2],
    order: "C",
    filters: null,
    compressor: null,
    ...zarray,
  };
  const documents = new Map([
    [".zarray", encode(document)],
    [".zattrs", encode(attributes)],
  ]);
  return arrayOf(zarrFormat.parse(documents, zarrFormat.layout(""))?.metadata);
}

function v3(zarr: Json): ArrayMetadata {
  const zarrFormat = formatNamed("v3");
  const document = {
    zarr_format: 3,
    node_type: "array",
    shape: [4],
    chunk_grid: named("regular", { chunk_shape: [2] }),
    chunk_key_encoding: named("default", { separator: "/" }),
    codecs: [named("bytes", { endian: "little" })],
    attributes: {},
    storage_transformers: [],
    dimension_names: ["x"],
    ...zarr,
  };
  return arrayOf(
    zarrFormat.parse(new Map([["zarr.json", encode(document)]]), zarrFormat.layout(""))?.metadata,
  );
}

function arrayOf(metadata: ConventionNode["metadata"] | undefined): ArrayMetadata {
  if (metadata?.kind === "array") return metadata;
  throw new Error("no array");
}

/** The documents of an array after a conversion, read again from what would be written. */
function through(metadata: ArrayMetadata, ...formats: readonly [ZarrFormat, ...ZarrFormat[]]): ArrayMetadata {
  return formats.slice(1).reduce((now, to, i) => {
    const from = formats[i] ?? to;
    const { nodes } = convertConventions([{ path: "", metadata: now }], { from, to });
    const zarrFormat = formatNamed(to);
    const keyed = { ...arrayOf(nodes[0]?.metadata), chunkKeyEncoding: FORMAT_DEFAULTS[to].keys };
    const layout = zarrFormat.layout("");
    return arrayOf(zarrFormat.parse(zarrFormat.write(keyed, layout), layout)?.metadata);
  }, metadata);
}

function written(metadata: ArrayMetadata, format: "v2" | "v3"): Json {
  const zarrFormat = formatNamed(format);
  const documents = [...zarrFormat.write(metadata, zarrFormat.layout("")).values()];
  return Object.assign({}, ...documents.map((bytes) => JSON.parse(new TextDecoder().decode(bytes))));
}

const NAN = "AAAAAAAA+H8=";
const TWO = "AAAAAAAAAEA=";

describe("to v3, an array with dimension names gets the attribute _FillValue", () => {
  test.each([
    ["|b1", true, true],
    ["<i2", -999, -999],
    ["<u8", 5, 5],
    ["<f2", 2, TWO],
    ["<f4", "NaN", NAN],
    [">f8", 2.0, TWO],
    ["<c16", [2, "NaN"], [TWO, NAN]],
  ])("%s: %j is %j", (dtype, fill, attribute) => {
    const document = written(through(v2({ dtype, fill_value: fill }), "v2", "v3"), "v3");
    expect(document.attributes).toEqual({ _FillValue: attribute });
    expect(document).not.toHaveProperty("zarrflow.before_conversion");
  });

  test("integers of 64 bits keep all digits", () => {
    const text = '{"zarr_format":2,"shape":[4],"chunks":[2],"order":"C","filters":null,"compressor":null';
    const zarray = `${text},"dtype":"<u8","fill_value":18446744073709551615}`;
    const zarrFormat = formatNamed("v2");
    const documents = new Map([
      [".zarray", new TextEncoder().encode(zarray)],
      [".zattrs", encode({ _ARRAY_DIMENSIONS: ["x"] })],
    ]);
    const metadata = through(
      arrayOf(zarrFormat.parse(documents, zarrFormat.layout(""))?.metadata),
      "v2",
      "v3",
    );
    expect(String(metadata.attributes._FillValue)).toBe("[object Object]");
    expect(metadata.attributes._FillValue).toMatchObject({ text: "18446744073709551615" });
  });

  test.each([
    ["null gives none", v2({ dtype: "<i2", fill_value: null })],
    ["without dimension names it has none", v2({ dtype: "<i2", fill_value: 7 }, {})],
  ])("%s", (_, metadata) => expect(through(metadata, "v2", "v3").attributes).toEqual({}));

  test("the fill value goes before an attribute that says otherwise, as xarray reads it", () => {
    const metadata = v2({ dtype: "<i2", fill_value: -1 }, { _ARRAY_DIMENSIONS: ["x"], _FillValue: -2, a: 1 });
    expect(through(metadata, "v2", "v3").attributes).toEqual({ _FillValue: -1, a: 1 });
    expect(through(metadata, "v2", "v3", "v2").attributes).toEqual({ _FillValue: -2, a: 1 });
  });

  test.each([
    ["<U2", "b"],
    ["|S2", "Yg=="],
    ["|O", "b"],
  ])("%s has none that xarray could read: that is reported", (dtype, fill) => {
    const filters = dtype === "|O" ? [{ id: "vlen-utf8" }] : null;
    const metadata = v2({ dtype, fill_value: fill, filters });
    const { nodes, notes } = convertConventions([{ path: "s", metadata }], { from: "v2", to: "v3" });
    expect(nodes[0]?.metadata.attributes).toEqual({});
    expect(notes).toEqual([
      { path: "s", message: expect.stringContaining(JSON.stringify(fill)), hint: expect.any(String) },
    ]);
  });
});

describe("to v2, the attribute becomes the fill value", () => {
  test.each([
    ["bool", false, true, true],
    ["int16", 0, -999, -999],
    ["float32", 0, NAN, "NaN"],
    ["float64", "NaN", TWO, 2],
    ["complex128", [0, 0], [TWO, NAN], [2, "NaN"]],
    ["string", "", "b", "b"],
  ])("of %s", (type, fill, attribute, expected) => {
    const codecs = type === "string" ? [{ name: "vlen-utf8" }] : undefined;
    const attributes = { _FillValue: attribute, a: 1 };
    const metadata = v3({ data_type: type, fill_value: fill, attributes, ...(codecs && { codecs }) });
    const document = written(through(metadata, "v3", "v2"), "v2");
    expect(document.fill_value).toEqual(expected);
    expect(document).toMatchObject({ a: 1, _ARRAY_DIMENSIONS: ["x"] });
    expect(document).not.toHaveProperty("_FillValue");
  });

  test("without it the fill value is null", () => {
    expect(
      written(through(v3({ data_type: "int16", fill_value: 0 }), "v3", "v2"), "v2").fill_value,
    ).toBeNull();
  });

  test("a number of floats, as other writers put it, is read, and restored", () => {
    const metadata = v3({ data_type: "float32", fill_value: 0, attributes: { _FillValue: 1.5 } });
    expect(written(through(metadata, "v3", "v2"), "v2").fill_value).toBe(1.5);
    expect(through(metadata, "v3", "v2", "v3").attributes._FillValue).toBe(1.5);
  });

  test("what is no value of the type stays an attribute", () => {
    const metadata = v3({ data_type: "uint8", fill_value: 0, attributes: { _FillValue: -999 } });
    const document = written(through(metadata, "v3", "v2"), "v2");
    expect(document).toMatchObject({ fill_value: null, _FillValue: -999 });
  });

  test("without dimension names nothing changes", () => {
    const metadata = v3({ data_type: "int16", fill_value: 3, dimension_names: undefined });
    expect(written(through(metadata, "v3", "v2"), "v2")).toMatchObject({ fill_value: 3 });
  });

  test("GDAL's nodata stays the fill value, which is reported", () => {
    const attributes = { _CRS: { wkt: "GEOGCRS[]" } };
    const metadata = v3({ data_type: "int16", fill_value: -9, attributes });
    const { nodes, notes } = convertConventions([{ path: "dem", metadata }], { from: "v3", to: "v2" });
    expect(written(arrayOf(through(metadata, "v3", "v2")), "v2").fill_value).toBe(-9);
    expect(nodes[0]?.metadata.attributes).toEqual(attributes);
    expect(notes).toMatchObject([{ path: "dem", message: expect.stringContaining("-9") }]);
    expect(through(metadata, "v3", "v2", "v3").attributes).toEqual(attributes);
  });
});

describe("there and back", () => {
  const packed = { data_type: "int16", fill_value: 0, attributes: { scale_factor: 0.1, _FillValue: -999 } };
  test.each([
    ["packed", packed],
    ["floats without a missing value", { data_type: "float32", fill_value: "NaN" }],
    ["integers without one", { data_type: "int16", fill_value: 0 }],
    ["text with one", { data_type: "string", fill_value: "", attributes: { _FillValue: "x" } }],
    ["GDAL's", { data_type: "int16", fill_value: -9, attributes: { _CRS: {} } }],
  ])("v3 -> v2 -> v3 of %s", (_, of) => {
    const codecs = of.data_type === "string" ? { codecs: [{ name: "vlen-utf8" }] } : {};
    const before = v3({ ...of, ...codecs });
    expect(written(through(before, "v3", "v2", "v3"), "v3")).toEqual(written(before, "v3"));
  });

  test.each([
    ["<i2", -999, {}],
    ["<i2", null, {}],
    ["<i2", null, { _FillValue: 3 }],
    ["<f4", null, { _FillValue: "huh" }],
    ["<f4", "NaN", { _FillValue: 3.5 }],
    ["<U2", "b", {}],
    ["<M8[ns]", 3, {}],
    ["|V2", "AAE=", {}],
  ])("v2 -> v3 -> v2 of %s with %j", (dtype, fill, attributes) => {
    const before = v2({ dtype, fill_value: fill }, { _ARRAY_DIMENSIONS: ["x"], ...attributes });
    expect(written(through(before, "v2", "v3", "v2"), "v2")).toEqual(written(before, "v2"));
  });

  test("what was changed in between is not undone", () => {
    const there = through(v3(packed), "v3", "v2");
    const bytes = Uint8Array.of(1, 0);
    const back = through({ ...there, fillValue: { bytes } }, "v2", "v3");
    expect(back.attributes).toEqual({ scale_factor: expect.anything(), _FillValue: 1 });
    expect(back.fillValue.bytes).toEqual(bytes);
  });
});

describe("an array without dimensions", () => {
  const scalar = v3({
    shape: [],
    chunk_grid: grid([]),
    data_type: "int64",
    fill_value: 0,
    dimension_names: undefined,
  });
  const variable = v3({ data_type: "int16", fill_value: 0 });

  test("has _ARRAY_DIMENSIONS in v2 among arrays with dimension names, and none in v3 again", () => {
    const nodes = [
      { path: "crs", metadata: scalar },
      { path: "n", metadata: variable },
    ];
    const there = convertConventions(nodes, { from: "v3", to: "v2" }).nodes;
    expect(there[0]?.metadata).toMatchObject({ dimensionNames: [] });
    const back = convertConventions(there, { from: "v2", to: "v3" }).nodes;
    expect(back[0]?.metadata).not.toHaveProperty("dimensionNames");
  });

  test("stays as it is alone", () => {
    const { nodes } = convertConventions([{ path: "", metadata: scalar }], { from: "v3", to: "v2" });
    expect(nodes[0]?.metadata).toBe(scalar);
  });
});

test("formats that have no readers of CF conventions keep fill value and attribute", () => {
  const metadata = v3({ data_type: "int16", fill_value: 0, attributes: { _FillValue: -999 } });
  for (const to of ["v1", "v3-draft-2019", "v3-draft-2020"] as const) {
    const { nodes } = convertConventions([{ path: "", metadata }], { from: "v3", to });
    expect(nodes[0]?.metadata).toBe(metadata);
  }
});

function grid(chunk_shape: readonly number[]): Json {
  return named("regular", { chunk_shape });
}

test("scalars of v3 are variables without stating that they have no dimensions, and those of v2 are not", async () => {
  const store = await given({ dataType: "int16", shape: [], values: [1], attributes: { _FillValue: -1 } });
  const { dimensionNames: _, ...scalar } = (await openArray(store)).metadata;
  expect(missingValueOf(scalar, "v3")).toEqual(Uint8Array.of(255, 255));
  expect(missingValueOf(scalar, "v2")).toBeUndefined();
});
