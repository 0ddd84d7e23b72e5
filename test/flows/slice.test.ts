import { afterEach, describe, expect, test } from "vitest";
import {
  type NewArray,
  openArray,
  type Slice,
  type SliceChunk,
  slice,
  type ZarrArray,
} from "../../src/index.ts";
import { MemoryStore, nameMemoryStore } from "../../src/stores/memory.ts";
import type { GetOptions } from "../../src/stores/store.ts";
import { withRequestLog } from "../../src/stores/with/request-log.ts";
import { product } from "../../src/util/shape.ts";
import { all } from "../support/consume.ts";
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

async function chunksOf(part: Slice, options = {}): Promise<SliceChunk[]> {
  return (await all(part.chunks(options))).sort(
    (a, b) => Number(`${a.region.start.join("")}`) - Number(`${b.region.start.join("")}`),
  );
}

const listsOf = (chunks: readonly SliceChunk[]) => chunks.map(({ data }) => [...data]);

describe("chunks() give exactly the items of their region", () => {
  test("of a chunk that is taken in part", async () => {
    const array = await counting({ shape: [4], chunks: [4] });
    const [chunk] = await chunksOf(slice(array, [[0, 2]]));
    expect(chunk).toMatchObject({ region: { start: [0], shape: [2] }, shape: [2], stride: [1] });
    expect(chunk?.data).toEqual(Int8Array.of(1, 2));
    let sum = 0;
    for (const { data } of await chunksOf(slice(array, [[1, 3]]))) for (const one of data) sum += Number(one);
    expect(sum).toBe(5);
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
    expect(listsOf(await chunksOf(slice(array)))).toEqual(asWritten([[1, 2, 4, 5], [3, 6], [7, 8], [9]]));
    expect(listsOf(await chunksOf(slice(array, [[0, 3, 2], 1])))).toEqual(asWritten([[2], [8]]));
    for (const chunk of await chunksOf(slice(array)))
      expect([chunk.data.length, chunk.stride]).toEqual([product(chunk.shape), [chunk.shape[1], 1]]);
  });

  test("of a chunk that is missing", async () => {
    const store = await given({ shape: [5], chunks: [4], dataType: "int16", fillValue: 7, values: null });
    expect(listsOf(await chunksOf(slice(await openArray(store), [[1, 5]])))).toEqual([[7, 7, 7], [7]]);
  });

  test("of complex numbers, two to an item", async () => {
    const values = Float32Array.of(1, 2, 3, 4, 5, 6);
    const store = await given({ shape: [3], dataType: "complex64", values });
    expect(listsOf(await chunksOf(slice(await openArray(store), [[1, 2]])))).toEqual([[3, 4]]);
  });

  test("in a buffer of their own, which the caller may change or hand over", async () => {
    const array = await counting({ shape: [4], chunks: [2], codec: "none" });
    for (const part of [slice(array), slice(array, [[1, 4]])]) {
      const given = await chunksOf(part);
      for (const { data } of given) {
        const numbers = data as Int8Array;
        expect(numbers.byteLength).toBe(numbers.buffer.byteLength);
        numbers.fill(99);
      }
      expect(new Set(given.map(({ data }) => (data as Int8Array).buffer)).size).toBe(given.length);
    }
    expect(listsOf(await chunksOf(slice(array)))).toEqual([
      [1, 2],
      [3, 4],
    ]);
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
    this.#now++;
    this.most = Math.max(this.most, this.#now);
    await new Promise((resolve) => setImmediate(resolve));
    try {
      return await super.get(key, options);
    } finally {
      this.#now--;
    }
  }
}

describe("maxMemory", () => {
  const ways = {
    "chunks()": async (part: Slice) => void (await chunksOf(part)),
    "read()": async (part: Slice) => void (await part.read()),
  };

  test.each(Object.entries(ways))("bounds what %s reads ahead", async (_, read) => {
    const store = new CountingStore();
    await counting({ shape: [64_000], chunks: [1000], codec: "none" }, store);
    const array = await openArray(store);
    store.most = 0;
    await read(slice(array));
    expect(store.most).toBe(16);
    store.most = 0;
    await read(slice(array, {}, { maxMemory: 9000 }));
    expect(store.most).toBeGreaterThan(1);
    expect(store.most).toBeLessThanOrEqual(4);
  });

  test.each(Object.entries(ways))(
    "that holds no chunk is refused by %s, with one that does",
    async (_, read) => {
      const array = await counting({ shape: [64_000], chunks: [32_000] });
      const error = await read(slice(array, {}, { maxMemory: "1kB" })).catch((thrown: unknown) => thrown);
      expect(error).toMatchObject({ code: "budget-too-small" });
      const { neededBytes } = (error as { details: { neededBytes: number } }).details;
      await read(slice(array, {}, { maxMemory: neededBytes }));
    },
  );

  test.each(Object.entries(ways))("that nobody stated holds any one chunk, by %s", async (_, read) => {
    const array = await counting({ shape: [2], chunks: [2] });
    const pipeline = await array.pipeline();
    const large = { ...pipeline, decodedSize: 2 ** 30 };
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

  test.each(["read", "chunks", "bytes"] as const)(
    "of %s of an open array are for chunks alone",
    async (way) => {
      const { log, requests } = await logged();
      const array = await openArray(log);
      const read = async (part: Slice) => {
        if (way === "read") await part.read();
        else for await (const _ of part[way]());
      };
      for (const option of [{ y: [1, 3] }, [[1, 3]], "y=1:3"] as const) {
        requests.length = 0;
        await read(slice(array, option));
        expect(requests.toSorted()).toEqual(["get c/1/0", "get c/2/0"]);
      }
      requests.length = 0;
      await read(slice(array, { y: [1, 3] }, { consistent: true }));
      expect(requests.toSorted()).toEqual(
        expect.arrayContaining(["get c/1/0", "get c/2/0", "size zarr.json"]),
      );
    },
  );

  test("of an array by its URL are for its documents, once, and for chunks", async () => {
    const { log, requests } = await logged();
    nameMemoryStore(NAME, log as unknown as MemoryStore);
    await slice(`memory:${NAME}`, { y: 0 }).read();
    expect(requests.filter((one) => one.includes("c/"))).toEqual(["get c/0/0"]);
    expect(requests.filter((one) => one === "get zarr.json")).toHaveLength(1);
  });
});

describe("options", () => {
  test("of opening are refused where the array is open", async () => {
    const array = await counting({ shape: [2], chunks: [2] });
    for (const options of [
      { anonymous: true },
      { missing403: true },
      { maxMetadata: 9 },
      { v2: {} },
    ] as object[])
      expect(() => slice(array, {}, options)).toThrow(expect.objectContaining({ code: "invalid-option" }));
  });

  test("that are unknown are refused, with the one that is near", async () => {
    const array = await counting({ shape: [2], chunks: [2] });
    const near = expect.objectContaining({
      code: "invalid-option",
      details: expect.objectContaining({ hint: "Did you mean `maxMemory`?" }),
    });
    expect(() => slice(array, {}, { maxMem: "1MB" } as object)).toThrow(near);
    expect(() => slice(array).chunks({ dens: true } as object)).toThrow(/unknown option `dens`/);
    // as callers from JavaScript may write it
    const part = slice(array) as unknown as Record<string, (options: object) => unknown>;
    for (const method of ["dataType", "shape", "taken", "read"]) {
      await expect(part[method]?.({ maxMem: "1MB" })).rejects.toThrow(/unknown option `maxMem`/);
    }
    expect(() => part.bytes?.({ bogus: 1 })).toThrow(/unknown option `bogus`/);
    expect(await slice(array).shape()).toEqual([2]);
  });
});
