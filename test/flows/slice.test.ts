import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import { planSlice } from "../../src/flows/plan-slice.ts";
import {
  create,
  type DecodedChunk,
  like,
  type NewArray,
  openArray,
  readDecoded,
  type Slice,
  type SliceChunk,
  type SliceOption,
  slice,
  type ZarrArray,
} from "../../src/index.ts";
import { MemoryStore, nameMemoryStore } from "../../src/stores/memory.ts";
import type { GetOptions } from "../../src/stores/store.ts";
import { withRequestLog } from "../../src/stores/with/request-log.ts";
import { regrid } from "../../src/streams/index.ts";
import { product } from "../../src/util/shape.ts";
import { testFolder } from "../support/cli.ts";
import { all, drain, itemsOf } from "../support/consume.ts";
import { given } from "../support/given.ts";

const NAME = "slice-test";

afterEach(() => nameMemoryStore(NAME, undefined));

/** An array of numbers that count from 1 in C order, in a store. */
async function counting(
  description: Pick<NewArray, "shape" | "chunks"> & Partial<NewArray>,
  store = new MemoryStore(),
): Promise<ZarrArray> {
  const values = (i: number) => (description.dataType === "string" ? `${i + 1}` : i + 1);
  return openArray(await given({ at: store, dataType: "int8", ...description, values }));
}

const placeOf = ({ region }: SliceChunk) => Number(region.start.join(""));
const chunksOf = async (part: Slice, options = {}) =>
  (await all(part.chunks(options))).sort((a, b) => placeOf(a) - placeOf(b));
const listsOf = async (part: Slice) => (await chunksOf(part)).map(({ data }) => [...data]);

describe("chunks() give exactly the items of their region", () => {
  test("of a chunk that is taken in part", async () => {
    const array = await counting({ shape: [4], chunks: [4] });
    const [chunk] = await chunksOf(slice(array, [[0, 2]]));
    expect(chunk).toMatchObject({ region: { start: [0], shape: [2] }, shape: [2], stride: [1] });
    expect(chunk?.data).toEqual(Int8Array.of(1, 2));
  });

  test.each([
    ["C", {}],
    ["F", { order: "F" }],
    ["uncompressed", { codec: "none" }],
    ["in shards", { shards: [4, 4] }],
    ["v2", { zarrFormat: "v2" }],
    ["v2, F", { zarrFormat: "v2", order: "F" }],
    ["of text", { dataType: "string" }],
    ["of text, F", { dataType: "string", order: "F" }],
  ] as const)("in C order, with steps, and without what is beyond the edge: %s", async (_, more) => {
    const array = await counting({ shape: [3, 3], chunks: [2, 2], ...more });
    const asWritten = (lists: readonly (readonly number[])[]) =>
      lists.map((list) => list.map((one) => ("dataType" in more ? `${one}` : one)));
    expect(await listsOf(slice(array))).toEqual(asWritten([[1, 2, 4, 5], [3, 6], [7, 8], [9]]));
    expect(await listsOf(slice(array, [[0, 3, 2], 1]))).toEqual(asWritten([[2], [8]]));
    for (const chunk of await chunksOf(slice(array)))
      expect([chunk.data.length, chunk.stride]).toEqual([product(chunk.shape), [chunk.shape[1], 1]]);
  });

  test("of a chunk that is missing, and of complex numbers, two to an item", async () => {
    const lacking = { shape: [5], chunks: [4], dataType: "int16", fillValue: 7, values: null };
    const missing = await openArray(await given(lacking));
    expect(await listsOf(slice(missing, [[1, 5]]))).toEqual([[7, 7, 7], [7]]);
    const values = Float32Array.of(1, 2, 3, 4, 5, 6);
    const complex = await openArray(await given({ shape: [3], dataType: "complex64", values }));
    expect(await listsOf(slice(complex, [[1, 2]]))).toEqual([[3, 4]]);
  });

  test("in a buffer of their own, which the caller may change or hand over", async () => {
    const array = await counting({ shape: [4], chunks: [2], codec: "none" });
    for (const part of [slice(array), slice(array, [[1, 4]])]) {
      const given = (await chunksOf(part)).map(({ data }) => data as Int8Array);
      for (const numbers of given) {
        expect(numbers.byteLength).toBe(numbers.buffer.byteLength);
        numbers.fill(99);
      }
      expect(new Set(given.map(({ buffer }) => buffer)).size).toBe(given.length);
    }
    expect((await listsOf(slice(array))).flat()).toEqual([1, 2, 3, 4]);
  });

  test("unless the stored chunk is asked for, with strides", async () => {
    const array = await counting({ shape: [2, 4], chunks: [2, 4], order: "F" });
    const [chunk] = await chunksOf(slice(array, [1, [1, 4, 2]]), { dense: false });
    expect(chunk).toMatchObject({ shape: [1, 2], region: { start: [0, 0], shape: [1, 2] } });
    const { data, stride = [] } = chunk ?? { data: [] };
    expect([0, 1].map((x) => data.at(x * (stride[1] ?? 0)))).toEqual([6, 8]);
    expect(data.length).toBeGreaterThan(2);
  });
});

/** A store whose values take a turn of the event loop, and that knows how many are read at one time. */
class CountingStore extends MemoryStore {
  most = 0;
  #now = 0;

  override async get(key: string, options?: GetOptions): Promise<Uint8Array | undefined> {
    this.most = Math.max(this.most, ++this.#now);
    await new Promise((resolve) => setImmediate(resolve));
    return super.get(key, options).finally(() => this.#now--);
  }
}

describe.each<[string, (part: Slice) => Promise<unknown>]>([
  ["chunks()", chunksOf],
  ["read()", (part) => part.read()],
])("maxMemory of %s", (_, read) => {
  test("bounds what is read ahead", async () => {
    const store = new CountingStore();
    const array = await counting({ shape: [64_000], chunks: [1000], codec: "none" }, store);
    store.most = 0;
    await read(slice(array));
    expect(store.most).toBe(16);
    store.most = 0;
    await read(slice(array, {}, { maxMemory: 9000 }));
    expect(store.most).toBeGreaterThan(1);
    expect(store.most).toBeLessThanOrEqual(4);
  });

  test("that holds no chunk is refused, with one that does", async () => {
    const array = await counting({ shape: [64_000], chunks: [32_000] });
    const error = await read(slice(array, {}, { maxMemory: "1kB" })).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: "budget-too-small" });
    const { neededBytes } = (error as { details: { neededBytes: number } }).details;
    await read(slice(array, {}, { maxMemory: neededBytes }));
  });

  test("that nobody stated holds any one chunk", async () => {
    const array = await counting({ shape: [2], chunks: [2] });
    const large = { ...(await array.pipeline()), decodedSize: 2 ** 30 };
    const one = Object.create(array, {
      pipeline: { value: async () => large },
      innerChunks: { value: () => one },
    });
    await read(slice(one, [[0, 1]]));
  });
});

describe("requests", () => {
  async function logged() {
    const store = new MemoryStore();
    await counting({ shape: [4, 2], chunks: [1, 2], dimensionNames: ["y", "x"] }, store);
    const requests: string[] = [];
    const log = withRequestLog(store, ({ operation, key }) => requests.push(`${operation} ${key}`));
    return { log, requests };
  }

  test.each<[string, (part: Slice) => Promise<unknown>]>([
    ["read()", (part) => part.read()],
    ["chunks()", (part) => drain(part.chunks())],
    ["bytes()", (part) => drain(part.bytes())],
  ])("of %s of an open array are for chunks alone", async (_, read) => {
    const { log, requests } = await logged();
    const array = await openArray(log);
    const chunks = ["get c/1/0", "get c/2/0"];
    for (const option of [{ y: [1, 3] }, [[1, 3]], "y=1:3"] as const) {
      requests.length = 0;
      await read(slice(array, option));
      expect(requests.toSorted()).toEqual(chunks);
    }
    requests.length = 0;
    await read(slice(array, { y: [1, 3] }, { consistent: true }));
    expect(requests).toEqual(expect.arrayContaining([...chunks, "size zarr.json"]));
  });

  test("of an array by its URL are for its documents, once, and for chunks", async () => {
    const { log, requests } = await logged();
    nameMemoryStore(NAME, log as unknown as MemoryStore);
    await slice(`memory:${NAME}`, { y: 0 }).read();
    expect(requests.filter((one) => one.includes("c/"))).toEqual(["get c/0/0"]);
    expect(requests.filter((one) => one === "get zarr.json")).toHaveLength(1);
  });
});

test("options of opening, and unknown ones, are refused, with the one that is near", async () => {
  const array = await counting({ shape: [2], chunks: [2] });
  for (const options of [
    { anonymous: true },
    { missing403: true },
    { maxMetadata: 9 },
    { v2: {} },
  ] as object[])
    expect(() => slice(array, {}, options)).toThrow(expect.objectContaining({ code: "invalid-option" }));
  const details = expect.objectContaining({ hint: "Did you mean `maxMemory`?" });
  const near = expect.objectContaining({ code: "invalid-option", details });
  expect(() => slice(array, {}, { maxMem: "1MB" } as object)).toThrow(near);
  expect(() => slice(array).chunks({ dens: true } as object)).toThrow(/unknown option `dens`/);
  // as callers from JavaScript may write it
  const part = slice(array) as unknown as Record<string, (options: object) => unknown>;
  for (const method of ["dataType", "shape", "taken", "read"])
    await expect(part[method]?.({ maxMem: "1MB" })).rejects.toThrow(/unknown option `maxMem`/);
  expect(() => part.bytes?.({ bogus: 1 })).toThrow(/unknown option `bogus`/);
  expect(await slice(array).shape()).toEqual([2]);
});

describe("planSlice", () => {
  const grid = { shape: [200, 300], chunks: [100, 30], dataType: "float32", codec: "none" };
  const made = async () => {
    const at = join(await testFolder(), "a.zarr");
    return openArray(await given({ at, ...grid, dimensionNames: ["y", "x"] }));
  };

  test.each<[SliceOption, string]>([
    [{}, "1MB"],
    [{ y: [3, 17], x: [null, null, 4] }, "1MB"],
    [{}, "60kB"],
    [{ y: [5, 190], x: [4, 280] }, "50kB"],
  ])("counts the slabs that slice %j reads within %s", async (option, maxMemory) => {
    const array = await made();
    const plan = await planSlice(array, option, { maxMemory });
    expect(plan.slabs).toBe((await all(slice(array, option, { maxMemory }).slabs())).length);
    expect(plan.predictedPeak).toBeLessThanOrEqual(plan.maxMemory);
    expect(plan.chunksRead).toBeGreaterThanOrEqual(plan.chunksTouched);
    expect(plan.readAmplification).toBe(plan.chunksRead / plan.chunksTouched);
  });

  test("counts a slab once that a store without blocking calls delivers in parts", async () => {
    const array = await openArray(await given({ ...grid, chunks: [50, 30] }));
    const plan = await planSlice(array, {}, { maxMemory: "400kB" });
    const parts = await all(slice(array, {}, { maxMemory: "400kB" }).slabs());
    const starts = new Set(
      parts.map(({ region }) => Math.floor((region.start[0] ?? 0) / (plan.slabShape[0] ?? 1))),
    );
    expect([parts.length > plan.slabs, starts.size]).toEqual([true, plan.slabs]);
  });

  test("costs nothing for nothing, and refuses what no plan fits", async () => {
    const nothing = { slabs: 0, chunksTouched: 0, chunksRead: 0 };
    expect(await planSlice(await made(), [[3, 3]])).toMatchObject(nothing);
    const refused = planSlice(await made(), [], { maxMemory: 100 });
    await expect(refused).rejects.toMatchObject({ code: "budget-too-small" });
  });
});

describe("readDecoded", () => {
  const items = Int16Array.from({ length: 12 * 10 }, (_, i) => i + 1);
  const ways: readonly Partial<NewArray>[] = [{}, { order: "F" }, { shards: [6, 8] }];

  async function source(more: Partial<NewArray>) {
    const store = new MemoryStore();
    const writer = await create(store, { shape: [12, 10], chunks: [3, 4], dataType: "int16", ...more });
    await writer.write([[0, 9]], items.subarray(0, 90));
    await writer.close();
    return openArray(store);
  }

  test.each(ways)("rechunks and changes values, through stages, within a budget: %o", async (more) => {
    const from = await source(more);
    const negated = new TransformStream<DecodedChunk, DecodedChunk>({
      transform({ data, ...chunk }, controller) {
        if (data?.kind === "fixed") {
          const { buffer, byteOffset, length } = data.bytes;
          const values = new Int16Array(buffer, byteOffset, length / 2);
          for (const [i, value] of values.entries()) values[i] = -value;
        }
        controller.enqueue({ ...chunk, data });
      },
    });
    const store = new MemoryStore();
    const out = await create(store, { ...like(from), chunks: [12, 2], shards: undefined });
    const decoded = readDecoded(from, {}, { maxMemory: "1MB" });
    await decoded.pipeThrough(negated).pipeThrough(regrid(out)).pipeTo(out.writable);
    const expected = [...items.subarray(0, 90).map((n) => -n), ...new Array(30).fill(0)];
    expect(await itemsOf(store, "")).toEqual(expected);
  });

  test.each(ways)("of a part, by steps and an index, is that part: %o", async (more) => {
    const from = await source(more);
    const part = [[1, 12, 3], 5] as const;
    const store = new MemoryStore();
    const out = await create(store, { ...like(from), shape: [4, 1], chunks: [2, 1], shards: undefined });
    await readDecoded(from, part).pipeTo(out.writable);
    expect(await itemsOf(store, "")).toEqual([...(await slice(from, part).read()).data]);
  });

  test("gives chunks that are not stored no data", async () => {
    const chunks = await all(readDecoded(await source({}), [[6, 12]]));
    const stored = chunks.map(({ region, data }) => `${region.start[0]} ${data !== undefined}`);
    expect(stored).toEqual(expect.arrayContaining(["0 true", "3 false"]));
  });
});
