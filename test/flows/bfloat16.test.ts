import { expect, test } from "vitest";
import { copy, openArray } from "../../src/index.ts";
import { MemoryStore } from "../../src/stores/memory.ts";
import { given } from "../support/given.ts";

const VALUES = [1, -2.5, 3.140625, Number.POSITIVE_INFINITY, Number.NaN, -0];
const bfloat16 = { dataType: "bfloat16", chunks: [4], values: VALUES } as const;

async function documentOf(store: MemoryStore) {
  return JSON.parse(new TextDecoder().decode(await store.get("zarr.json", {})));
}

async function valuesOf(store: MemoryStore): Promise<number[]> {
  const { data } = await (await openArray(store)).slice().read();
  expect(data).toBeInstanceOf(Float32Array);
  return Array.from(data as Float32Array);
}

test("values are written and read as float32", async () => {
  const store = await given({ ...bfloat16, fillValue: Number.NaN });
  expect(await documentOf(store)).toMatchObject({ data_type: "bfloat16", fill_value: "NaN" });
  expect(await valuesOf(store)).toEqual(VALUES);
  expect((await openArray(store)).dataType).toBe("bfloat16");
  expect((await openArray(store)).is("number")).toBe(true);
});

test("chunks are the upper halves of float32, and keep NaNs with a payload", async () => {
  const items = new Uint8Array(Uint16Array.of(0x3f80, 0x7fc1, 0xffc0, 0x0001).buffer);
  const store = await given({ dataType: "bfloat16", shape: [4], codec: "none", values: items });
  expect(await store.get("c/0", {})).toEqual(items);
  expect(await valuesOf(store)).toEqual([1, Number.NaN, Number.NaN, 2 ** -133]);
  const target = new MemoryStore();
  await copy(store, target, { chunks: [3], verify: "values" });
  expect((await target.get("c/0", {}))?.subarray(0, 6)).toEqual(items.subarray(0, 6));
});

test.each([1.5, "-Infinity", "0x7fc1"])("the fill value %j is kept", async (fill) => {
  const store = await given({ dataType: "bfloat16", shape: [2], values: null });
  const document = { ...(await documentOf(store)), fill_value: fill };
  await store.set("zarr.json", new TextEncoder().encode(JSON.stringify(document)));
  const target = new MemoryStore();
  await copy(store, target, { chunks: [1] });
  expect((await documentOf(target)).fill_value).toBe(fill);
  const value = typeof fill === "number" ? fill : fill === "0x7fc1" ? Number.NaN : Number(fill);
  expect(await valuesOf(target)).toEqual([value, value]);
});

test("numbers are cast to the nearest, ties to even, and back exactly", async () => {
  const ties = Float32Array.of(1 + 2 ** -8, 1 + 3 * 2 ** -8, 1 + 2 ** -8 + 2 ** -20, -3);
  const source = await given({ arrays: { a: { dataType: "float32", values: ties, shape: [4] } } });
  const [half, back] = [new MemoryStore(), new MemoryStore()];
  await copy(source, half, { arrays: { a: { dataType: "bfloat16" } }, verify: "values" });
  await copy(half, back, { arrays: { a: { dataType: "float32" } }, verify: "values" });
  for (const [store, type] of [
    [half, "bfloat16"],
    [back, "float32"],
  ] as const) {
    const array = await openArray({ store, path: "a" });
    expect(array.dataType).toBe(type);
    expect(Array.from((await array.slice().read()).data as Float32Array)).toEqual([
      1,
      1 + 2 ** -6,
      1 + 2 ** -7,
      -3,
    ]);
  }
});

test.each(["v1", "v2"] as const)("%s has no bfloat16", async (to) => {
  const source = await given(bfloat16);
  await expect(copy(source, new MemoryStore(), { to })).rejects.toMatchObject({
    code: "loss-refused",
    message: expect.stringContaining("bfloat16"),
  });
});
