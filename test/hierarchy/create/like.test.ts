import { describe, expect, test } from "vitest";
import { create, like, type NewArray, openArray, type ZarrArray } from "../../../src/index.ts";
import { MemoryStore } from "../../../src/stores/memory.ts";
import { rejection } from "../../streams/support.ts";

async function made(array: NewArray): Promise<ZarrArray> {
  const store = new MemoryStore();
  await (await create(store, array)).close();
  return openArray(store);
}

/** Metadata without the words in which a document stated them. */
const shown = ({ metadata, layout }: ZarrArray) =>
  JSON.parse(
    JSON.stringify({ ...metadata, zarrFormat: layout.zarrFormat }, (name, value) =>
      name === "stated" || name === "original" ? undefined : value,
    ),
  );

const grid = { shape: [6, 8], chunks: [3, 4] };

describe("like", () => {
  test.each<[string, NewArray]>([
    ["v3", { ...grid, dataType: "float32", fillValue: Number.NaN, dimensionNames: ["y", null] }],
    ["shards", { ...grid, dataType: "int16", shards: [6, 4], codec: "zstd:7" }],
    ["F order", { ...grid, dataType: "complex64", order: "F", fillValue: [1, -0] }],
    [
      "filters of v2",
      {
        ...grid,
        zarrFormat: "v2",
        dataType: ">i4",
        codecs: [
          { id: "delta", dtype: ">i4" },
          { id: "zlib", level: 3 },
        ],
      },
    ],
    [
      "no fill value",
      {
        ...grid,
        zarrFormat: "v2",
        dataType: "datetime64[s]",
        fillValue: null,
        attributes: { units: "K", big: 2n ** 60n },
      },
    ],
    [
      "fields",
      {
        ...grid,
        zarrFormat: "v2",
        dataType: [
          ["a", "<i2"],
          ["b", "<f8", [2]],
        ],
      },
    ],
    ["strings", { ...grid, dataType: "string", fillValue: "ä" }],
    ["v1", { ...grid, zarrFormat: "v1", dataType: "uint8" }],
    ["the draft", { ...grid, zarrFormat: "v3-draft-2019", dataType: "bool", fillValue: true }],
    ["a scalar", { shape: [], chunks: [], dataType: "int64", fillValue: 2n ** 62n }],
  ])("describes an array with %s just as it is", async (_, array) => {
    const source = await made(array);
    expect(shown(await made(like(source)))).toEqual(shown(source));
  });

  test("what is given beside it counts", async () => {
    const source = await made({ ...grid, dataType: "int16", attributes: { units: "K" }, codec: "gzip:1" });
    const array = await made({
      ...like(source),
      chunks: [6, 8],
      dataType: "float64",
      attributes: {},
      zarrFormat: "v2",
    });
    expect(array).toMatchObject({ shape: [6, 8], chunkShape: [6, 8], dataType: "float64", attributes: {} });
    expect(array.layout.zarrFormat).toBe("v2");
  });

  test("of what is no open array there is none", async () => {
    const error = await rejection((async () => like("a.zarr" as never))());
    expect(error).toMatchObject({ code: "invalid-option" });
  });
});
