import { describe, expect, it } from "vitest";
import { layoutV3, v3 } from "../../../src/meta/v3/v3.ts";
import { arrayWith, failure, parseWith } from "../helpers.ts";
import { ARRAY, codecsOf, GROUP, LITTLE, read, written } from "./documents.ts";

describe("errors", () => {
  const grid = (configuration?: object) => ({ chunk_grid: { name: "regular", configuration } });
  it.each([
    [{ zarr_format: undefined }, "invalid-metadata", "/zarr_format"],
    [{ zarr_format: 4 }, "unsupported-format", "/zarr_format"],
    [{ zarr_format: "3" }, "invalid-metadata", "/zarr_format"],
    [{ zarr_format: "https://purl.org/zarr/spec/protocol/core/3.0" }, "unsupported-format", "/zarr_format"],
    [{ node_type: undefined }, "invalid-metadata", "/node_type"],
    [{ node_type: "table" }, "invalid-metadata", "/node_type"],
    [{ shape: undefined }, "invalid-metadata", "/shape"],
    [{ shape: [-1, 30] }, "invalid-metadata", "/shape/0"],
    [{ shape: [1.5, 30] }, "invalid-metadata", "/shape/0"],
    [{ data_type: undefined }, "invalid-metadata", "/data_type"],
    [{ data_type: "int24" }, "unsupported-data-type", "/data_type"],
    [{ chunk_grid: undefined }, "invalid-metadata", "/chunk_grid"],
    [{ chunk_grid: { name: "hexagonal" } }, "unsupported-extension", "/chunk_grid"],
    [{ chunk_grid: { name: "rectilinear", must_understand: false } }, "unsupported-extension", "/chunk_grid"],
    [grid(), "invalid-metadata", "/chunk_grid/configuration/chunk_shape"],
    [grid({ chunk_shape: [10] }), "invalid-metadata", "/chunk_grid/configuration/chunk_shape"],
    [grid({ chunk_shape: [10, 0] }), "invalid-metadata", "/chunk_grid/configuration/chunk_shape/1"],
    [grid({ chunk_shape: [10, 15], origin: 0 }), "unsupported-extension", "/chunk_grid/configuration/origin"],
    [{ chunk_key_encoding: undefined }, "invalid-metadata", "/chunk_key_encoding"],
    [{ fill_value: undefined }, "invalid-metadata", "/fill_value"],
    [{ fill_value: null }, "invalid-metadata", "/fill_value"],
    [{ codecs: undefined }, "invalid-metadata", "/codecs"],
    [{ codecs: [] }, "invalid-metadata", "/codecs"],
    [{ codecs: {} }, "invalid-metadata", "/codecs"],
    [{ codecs: [3] }, "invalid-metadata", "/codecs/0"],
    [{ codecs: [{}] }, "invalid-metadata", "/codecs/0/name"],
    [{ codecs: [{ name: "bytes", configuration: 3 }] }, "invalid-metadata", "/codecs/0/configuration"],
    [{ codecs: ["bytes"] }, "invalid-metadata", "/codecs/0/configuration/endian"],
    [
      { codecs: [{ name: "bytes", configuration: { endian: "middle" } }] },
      "invalid-metadata",
      "/codecs/0/configuration/endian",
    ],
    [
      { codecs: [LITTLE, { name: "numcodecs.delta", configuration: { dtype: "<i4" } }] },
      "invalid-metadata",
      "/codecs",
    ],
    [
      {
        data_type: "uint8",
        codecs: [{ name: "numcodecs.astype", configuration: { encode_dtype: "<i4" } }, "bytes"],
      },
      "invalid-metadata",
      "/codecs/1/configuration/endian",
    ],
    [{ attributes: [] }, "invalid-metadata", "/attributes"],
    [{ dimension_names: ["y"] }, "invalid-metadata", "/dimension_names"],
    [{ dimension_names: ["y", 1] }, "invalid-metadata", "/dimension_names/1"],
    [{ dimension_names: "yx" }, "invalid-metadata", "/dimension_names"],
    [{ storage_transformers: {} }, "invalid-metadata", "/storage_transformers"],
    [{ storage_transformers: [{ name: "cache" }] }, "unsupported-extension", "/storage_transformers/0"],
    [{ strange: { must_understand: true } }, "unsupported-extension", "/strange"],
    [{ strange: {} }, "unsupported-extension", "/strange"],
    [{ strange: 1 }, "unsupported-extension", "/strange"],
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
    expect(group({ strange: 1 }).code).toBe("unsupported-extension");
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
      { dataType: { kind: "object" } as const, codecs: [{ name: "json2", configuration: {} }] },
      ["/data_type", "/codecs/0"],
    ],
    ["sub-arrays", struct({ shape: [1] }), ["/data_type"]],
    ["padding", struct({ name: "" }), ["/data_type"]],
    ["byte orders of fields", struct({ endian: "big" }), ["/data_type"]],
    ["codecs of v2 alone", { codecs: [LITTLE, { name: "base64", configuration: {} }] }, ["/codecs/1"]],
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
        data_type: {
          name: "struct",
          configuration: { fields: ["x", "y"].map((name) => ({ name, data_type: "int32" })) },
        },
      },
    ]);
    expect(codecsOf(adopted)[0]).toEqual(LITTLE);
  });

  it("leaves all others as they are", () => {
    const one = { kind: "struct", size: 8, fields: [field("x"), field("y")] } as const;
    const array = { ...read(), dataType: one, codecs: [{ name: "bytes", configuration: { endian: "big" } }] };
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
  (name) => {
    expect(layoutV3(`g/${name}`).path).toBe(`g/${name}`);
  },
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
