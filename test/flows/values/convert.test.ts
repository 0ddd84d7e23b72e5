import { describe, expect, test } from "vitest";
import { planFlow } from "../../../src/flows/request/flow.ts";
import { copy, openArray, plan, rechunk, type ValueChanges } from "../../../src/index.ts";
import { MemoryStore } from "../../../src/stores/memory.ts";
import { type GivenArray, given } from "../../support/given.ts";

/** An array of a group, after its values were changed by a copy. */
async function changed(array: GivenArray, changes: ValueChanges, options: Parameters<typeof copy>[2] = {}) {
  const source = await given({ arrays: { a: array } });
  const target = new MemoryStore();
  await copy(source, target, { arrays: { a: changes }, verify: "values", ...options });
  const opened = await openArray({ store: target, path: "a" });
  const { data } = await opened.slice().read();
  return { array: opened, data, values: Array.from(data as ArrayLike<number>) };
}

const floats: GivenArray = { dataType: "float64", shape: [5, 7], chunks: [2, 3], values: (i) => i / 4 };

test("filters of the old type are left out with a warning, unless other codecs are asked for", async () => {
  const delta = { name: "numcodecs.delta", configuration: { dtype: "<i4" } };
  const array: GivenArray = { dataType: "int32", shape: [6], codecs: [delta, { name: "zstd" }] };
  const source = await given({ arrays: { a: array } });
  const arrays = { a: { dataType: "float64" } } as const;
  const warningsOf = async (changes: Parameters<typeof plan>[2]) => {
    const planned = await plan(source, new MemoryStore(), { arrays, ...changes });
    await planned.close();
    return planned.plan.warnings.map(({ path, message }) => `${path}: ${message}`);
  };
  expect(await warningsOf({})).toEqual([
    "a: the data type is new, and filters of the old one are left out: delta",
  ]);
  expect(await warningsOf({ codec: "zstd" })).toEqual([]);
  const { values } = await changed(array, arrays.a);
  expect(values).toEqual([0, 1, 2, 3, 4, 5]);
});

describe("dataType", () => {
  test("casts values, the fill value and the codecs, also of chunks at the edge", async () => {
    const { array, data, values } = await changed(
      { ...floats, codec: "blosc:lz4:5:shuffle" },
      { dataType: "float32" },
    );
    expect(array.dataType).toBe("float32");
    expect(data).toBeInstanceOf(Float32Array);
    expect(values).toEqual(Array.from({ length: 35 }, (_, i) => i / 4));
  });
  test.each([
    [">f4", { endian: "big" }],
    [">f8", { endian: "big" }],
    ["float32", { endian: "little" }],
  ])("writes %s in its byte order", async (dataType, configuration) => {
    const { array, values } = await changed(floats, { dataType: dataType as ">f4" });
    expect(array.metadata.codecs[0]).toMatchObject({ name: "bytes", configuration });
    expect(values.slice(0, 3)).toEqual([0, 0.25, 0.5]);
  });
  test("leaves out filters that compute with the old type", async () => {
    const codecs = [
      { id: "delta", dtype: "<f8" },
      { id: "zlib", level: 1 },
    ];
    const { array } = await changed(
      { ...floats, zarrFormat: "v2", codecs },
      { dataType: "float32" },
      { to: "v2" },
    );
    expect(array.metadata.codecs.map(({ name }) => name)).toEqual(["bytes", "zlib"]);
  });
  test("refuses what the type cannot hold, with count and first place", async () => {
    const source = await given({ arrays: { a: floats } });
    await expect(
      copy(source, new MemoryStore(), { arrays: { a: { dataType: "int8" } } }),
    ).rejects.toMatchObject({ code: "invalid-option", details: { path: "a" } });
  });
});

describe("map", () => {
  test("computes values by where they are", async () => {
    const { values } = await changed(
      { ...floats, values: () => 1 },
      {
        map: ({ data, region: { start, shape } }) => {
          const [rows = 0, columns = 0] = shape;
          const next = new Float64Array(data.length);
          for (let i = 0; i < rows; i++)
            for (let j = 0; j < columns; j++)
              next[i * columns + j] =
                Number(data[i * columns + j]) + 7 * ((start[0] ?? 0) + i) + (start[1] ?? 0) + j;
          return next;
        },
      },
    );
    expect(values).toEqual(Array.from({ length: 35 }, (_, i) => i + 1));
  });
});
test("rechunk", async () => {
  const source = await given({ arrays: { a: floats } });
  const target = new MemoryStore();
  await rechunk(source, target, {
    chunks: "a:5,7",
    arrays: { a: { map: ({ data }) => data.map((x) => x * 4), dataType: "int16" } },
  });
  const opened = await openArray({ store: target, path: "a" });
  expect([...(await opened.slice().read()).data]).toEqual(Array.from({ length: 35 }, (_, i) => i));
});

describe("attributes", () => {
  const attributes = { units: "K", long_name: "t" };
  test("take the place of others, also beside new values", async () => {
    for (const changes of [{}, { dataType: "float32" }] as const) {
      const { array } = await changed(
        { ...floats, attributes },
        { ...changes, attributes: { units: "degC", long_name: null, level: [1, 2] } },
      );
      expect(array.attributes).toEqual({ units: "degC", level: [1, 2] });
    }
  });
  test("alone leave chunks as they are stored, also those of texts", async () => {
    const source = await given({ arrays: { a: { dataType: "string", values: ["a", "b"], attributes } } });
    const { plan, close } = await planFlow(source, "memory:described", {
      arrays: { a: { attributes: { units: null } } },
    });
    await close();
    expect(plan.jobs.map(({ strategy, conversion }) => [strategy, conversion])).toEqual([
      ["verbatim", undefined],
    ]);
  });
});
