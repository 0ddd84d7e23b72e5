import { describe, expect, test } from "vitest";
import { typeAfter } from "../../../src/meta/v3/cast.ts";
import { v3 } from "../../../src/meta/v3/v3.ts";
import { arrayWith, failure } from "../helpers.ts";

const zarr = (codecs: readonly unknown[], rest = {}) => ({
  zarr_format: 3,
  node_type: "array",
  shape: [4, 6],
  data_type: "float64",
  chunk_grid: { name: "regular", configuration: { chunk_shape: [4, 6] } },
  chunk_key_encoding: { name: "default" },
  fill_value: 0,
  codecs,
  ...rest,
});
const cast = (data_type: string) => ({ name: "cast_value", configuration: { data_type } });
const little = { name: "bytes", configuration: { endian: "little" } };

/** The codecs, read and written again without what the document stated. */
function rewritten(document: unknown): unknown {
  const metadata = arrayWith(v3, { "zarr.json": document });
  const codecs = metadata.codecs.map(({ stated: _, ...codec }) => codec);
  const written = v3.write({ ...metadata, codecs }, v3.layout("")).get("zarr.json");
  return JSON.parse(new TextDecoder().decode(written)).codecs;
}

test("each cast counts from its place on", () => {
  const list = [cast("int16"), { name: "transpose", configuration: { order: [1, 0] } }, cast("uint8")];
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
  test.each([
    ["a cast", [cast("int16"), little]],
    ["to single bytes, which need no order", [cast("uint8"), { name: "bytes" }]],
    [
      "a scale, a cast and a transpose",
      [
        { name: "scale_offset", configuration: { offset: 5, scale: 2 } },
        cast("int32"),
        { name: "transpose", configuration: { order: [1, 0] } },
        little,
      ],
    ],
    [
      "a cast in front of shards",
      [
        cast("int16"),
        {
          name: "sharding_indexed",
          configuration: {
            chunk_shape: [2, 3],
            codecs: [little],
            index_codecs: [little, { name: "crc32c" }],
            index_location: "end",
          },
        },
      ],
    ],
    ["bits", [cast("uint8"), { name: "packbits", configuration: { last_bit: 3 } }]],
  ])("%s is written as it is read", (_, codecs) => {
    expect(rewritten(zarr(codecs))).toEqual(codecs);
  });

  test("filters behind a cast work on its type", () => {
    const codecs = [cast("int16"), { name: "numcodecs.delta", configuration: {} }, little];
    const metadata = arrayWith(v3, { "zarr.json": zarr(codecs) });
    expect(metadata.codecs.map(({ name, configuration }) => [name, configuration])).toEqual([
      ["cast_value", { data_type: "int16" }],
      ["bytes", { endian: "little" }],
      ["delta", { dtype: "<i2" }],
    ]);
  });

  test("packbits of v3 is not that of numcodecs", () => {
    const names = (codecs: readonly unknown[]) =>
      arrayWith(v3, { "zarr.json": zarr(codecs, { data_type: "bool", fill_value: false }) }).codecs.map(
        ({ name }) => name,
      );
    expect(names([{ name: "packbits" }])).toEqual(["v3.packbits"]);
    expect(names([{ name: "numcodecs.packbits", configuration: {} }, { name: "bytes" }])).toEqual([
      "bytes",
      "packbits",
    ]);
  });

  test("a type that is not known, and a missing byte order, are named at their places", () => {
    const error = failure(() => arrayWith(v3, { "zarr.json": zarr([cast("int5"), little]) }));
    expect(error).toMatchObject({
      code: "unsupported-data-type",
      details: { pointer: "/codecs/0/configuration/data_type" },
    });
    const order = failure(() => arrayWith(v3, { "zarr.json": zarr([cast("int16"), { name: "bytes" }]) }));
    expect(order).toMatchObject({ code: "invalid-metadata" });
  });
});
