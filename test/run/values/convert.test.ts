import { describe, expect, test } from "vitest";
import { planFlow } from "../../../src/flows/request/flow.ts";
import { copy, openArray, plan, type ValueChanges } from "../../../src/index.ts";
import { typedValues } from "../../../src/run/slabs/typed-values.ts";
import {
  castBooleans,
  castNumbers,
  type NumberList,
  type Overflow,
} from "../../../src/run/values/cast-numbers.ts";
import { MemoryStore } from "../../../src/stores/memory.ts";
import { type GivenArray, given } from "../../support/given.ts";

/** An array of a group, after its values were changed by a copy. */
async function changed(array: GivenArray, changes: ValueChanges, options: Parameters<typeof copy>[2] = {}) {
  const source = await given({ arrays: { a: array } });
  const target = new MemoryStore();
  await copy(source, target, { arrays: { a: changes }, verify: "values", ...options });
  const opened = await openArray({ store: target, path: "a" });
  const { data } = await opened.slice().read();
  return { array: opened, values: Array.from(data as ArrayLike<number>) };
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
  const warning = "a: the data type is new, and filters of the old one are dropped: delta";
  expect(await warningsOf({})).toEqual([warning]);
  expect(await warningsOf({ codec: "zstd" })).toEqual([]);
  expect((await changed(array, arrays.a)).values).toEqual([0, 1, 2, 3, 4, 5]);
  const codecs = [
    { id: "delta", dtype: "<f8" },
    { id: "zlib", level: 1 },
  ] as const;
  const v2 = await changed({ ...floats, zarrFormat: "v2", codecs }, { dataType: "float32" }, { to: "v2" });
  expect(v2.array.metadata.codecs.map(({ name }) => name)).toEqual(["bytes", "zlib"]);
});

test.each([
  [">f4", { endian: "big" }],
  [">f8", { endian: "big" }],
  ["float32", { endian: "little" }],
])("values are written as %s in its byte order", async (dataType, configuration) => {
  const { array, values } = await changed(floats, { dataType: dataType as ">f4" });
  expect(array.metadata.codecs[0]).toMatchObject({ name: "bytes", configuration });
  expect(values.slice(0, 3)).toEqual([0, 0.25, 0.5]);
});

describe("attributes", () => {
  const attributes = { units: "K", long_name: "t" };

  test("take the place of others, also beside new values", async () => {
    for (const changes of [{}, { dataType: "float32" }] as const) {
      const next = { ...changes, attributes: { units: "degC", long_name: null, level: [1, 2] } };
      const { array } = await changed({ ...floats, attributes }, next);
      expect(array.attributes).toEqual({ units: "degC", level: [1, 2] });
    }
  });

  test("alone leave chunks as they are stored, also those of texts", async () => {
    const source = await given({ arrays: { a: { dataType: "string", values: ["a", "b"], attributes } } });
    const arrays = { a: { attributes: { units: null } } };
    const { plan, close } = await planFlow(source, "memory:described", { arrays });
    await close();
    expect(plan.jobs).toMatchObject([{ strategy: "verbatim" }]);
    expect(plan.jobs[0]?.conversion).toBeUndefined();
  });
});

describe("casts", () => {
  function cast(values: NumberList, name: string, overflow: Overflow = "error") {
    const [, kind = "", bits = ""] = /^(u?int|float)(\d+)$/.exec(name) ?? [];
    const type = { kind: kind as "int", size: (Number(bits) / 8) as 1, endian: "little" } as const;
    const bytes = new Uint8Array(values.length * type.size);
    const notHeld = castNumbers(values, type, bytes, overflow);
    const { length } = values;
    const data = { kind: "fixed", bytes, itemSize: type.size, shape: [length], strides: [1] } as const;
    return (
      notHeld ?? Array.from(typedValues(data, { kind: type.kind, size: type.size }) as ArrayLike<number>)
    );
  }

  test("to floats round to the nearest, ties to even; integers of 64 bits once", () => {
    expect(cast([1 + 2 ** -24, 1 + 3 * 2 ** -24], "float32")).toEqual([1, 1 + 2 ** -22]);
    expect(cast([1 + 2 ** -11, 0.1], "float16")).toEqual([1, 0.0999755859375]);
    const above = 2n ** 60n + 2n ** 36n + 1n;
    for (const list of [BigInt64Array.of(above), [above]])
      expect(cast(list, "float32")).toEqual([2 ** 60 + 2 ** 37]);
  });

  test.each([
    ["float16", 65504],
    ["float32", (2 - 2 ** -23) * 2 ** 127],
  ])("to %s of finite numbers are not infinite", (type, largest) => {
    const values = Float64Array.of(1, -1e300, Number.POSITIVE_INFINITY, Number.NaN, 1e300);
    expect(cast(values, type)).toEqual({ count: 2, index: 1, value: -1e300 });
    expect(cast(values, type, "clamp")).toEqual([1, -largest, Number.POSITIVE_INFINITY, Number.NaN, largest]);
  });

  test("to integers hold whole numbers of their range, with all digits", () => {
    expect(cast([-128, 127, -0], "int8")).toEqual([-128, 127, 0]);
    expect(cast(Float64Array.of(0, 128, 1.5, -129), "int8")).toEqual({ count: 3, index: 1, value: 128 });
    expect(cast([Number.NaN], "uint64")).toEqual({ count: 1, index: 0, value: Number.NaN });
    expect(cast([2n ** 63n - 1n], "int64")).toEqual([2n ** 63n - 1n]);
    expect(cast([2n ** 63n], "int64")).toEqual({ count: 1, index: 0, value: 2n ** 63n });
  });

  test("clamped are the nearest, ties to even, but of NaN and infinities", () => {
    expect(cast([1.5, 2.5, 300, -1], "uint8", "clamp")).toEqual([2, 2, 255, 0]);
    expect(cast([-1n, 2 ** 52 - 0.5], "uint64", "clamp")).toEqual([0n, 2n ** 52n]);
    expect(cast([2 ** 51 + 0.5], "int64", "clamp")).toEqual([2n ** 51n]);
    expect(cast([1, Number.NEGATIVE_INFINITY], "uint8", "clamp")).toMatchObject({ count: 1, index: 1 });
  });

  test("to truth values are 0 and 1", () => {
    const bytes = new Uint8Array(3);
    expect(castBooleans([0, 1, 2], bytes, "error")).toEqual({ count: 1, index: 2, value: 2 });
    expect(castBooleans([0.5, 0.6, 2n], bytes, "clamp")).toBeUndefined();
    expect([...bytes]).toEqual([0, 1, 1]);
  });
});
