import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { copy, open, openArray, slice, writeRegion, type ZarrArray } from "../../src/index.ts";
import { HttpStore } from "../../src/stores/http.ts";
import { MemoryStore } from "../../src/stores/memory.ts";
import type { Store } from "../../src/stores/store.ts";
import { withRequestLog } from "../../src/stores/with/request-log.ts";
import { temporaryFolder } from "../stores/temporary-folder.ts";
import { serveValues } from "../stores/value-server.ts";
import { all, valuesIn } from "../support/consume.ts";
import { type GivenArray, given } from "../support/given.ts";

const folder = temporaryFolder();

const PLAIN: GivenArray = { shape: [5, 4], chunks: [2, 4], dataType: "int16", dimensionNames: ["y", "x"] };
const SHARDED: GivenArray = { shape: [8, 4], chunks: [2, 4], shards: [4, 4], dataType: "int16" };

const shard = (chunk_shape: readonly number[], codec: object) => ({
  name: "sharding_indexed",
  configuration: { chunk_shape, codecs: [codec], index_codecs: [BYTES, { name: "crc32c" }] },
});
const BYTES = { name: "bytes", configuration: { endian: "little" } };
const NESTED = shard([2, 4], shard([1, 4], BYTES));

/** A store, and the requests that it was asked for since they were taken last. */
function logged<S extends Store>(store: S): { readonly store: S; readonly taken: () => string[] } {
  const requests: string[] = [];
  const log = withRequestLog(store, ({ operation, key }) => requests.push(`${operation} ${key}`));
  return { store: log as unknown as S, taken: () => requests.splice(0) };
}

describe("an open array", () => {
  test("gives slices, as `slice` does", async () => {
    const array = await openArray(await given(PLAIN));
    expect(await array.slice({ y: [1, 3], x: 2 }).read()).toEqual(
      await slice(array, { y: [1, 3], x: 2 }).read(),
    );
    expect(await array.slice("y=4").shape()).toEqual([4]);
    expect((await array.slice().read()).data).toHaveLength(20);
    if (array.is("int16")) expect((await array.slice().read()).data.fill(0)).toBeInstanceOf(Int16Array);
    expect(() => array.slice({}, { anonymous: true } as object)).toThrow(
      expect.objectContaining({ code: "invalid-option", message: expect.stringContaining("anonymous") }),
    );
  });

  test.each([
    ["v3", PLAIN],
    ["v2", { ...PLAIN, zarrFormat: "v2" }],
    ["in shards", { ...PLAIN, shards: [4, 4] }],
  ] as const)("gives a chunk by its coords, cut at the edge: %s", async (_, array) => {
    const opened = await openArray(await given(array));
    expect(await opened.chunk([1, 0])).toEqual({
      region: { start: [2, 0], shape: [2, 4] },
      data: Int16Array.of(8, 9, 10, 11, 12, 13, 14, 15),
      shape: [2, 4],
      stride: [4, 1],
    });
    expect(await opened.chunk([2, 0])).toMatchObject({
      region: { start: [4, 0], shape: [1, 4] },
      data: Int16Array.of(16, 17, 18, 19),
      shape: [1, 4],
    });
  });

  test("gives the fill value for a chunk that is missing, a single item, and text", async () => {
    const missing = await openArray(await given({ ...PLAIN, fillValue: 7, values: null }));
    expect((await missing.chunk([0, 0])).data).toEqual(new Int16Array(8).fill(7));
    const single = await openArray(
      await given({ shape: [], chunks: [], dataType: "float64", values: [1.5] }),
    );
    expect(await single.chunk([])).toMatchObject({
      data: Float64Array.of(1.5),
      shape: [],
      region: { start: [] },
    });
    const text = await openArray(
      await given({ shape: [3], chunks: [2], dataType: "string", values: (i) => `t${i}` }),
    );
    expect([...(await text.chunk([1])).data]).toEqual(["t2"]);
  });

  test.each([[[3, 0]], [[-1, 0]], [[0]], [[0, 0, 0]], [[0.5, 0]], [["0", 0]], ["0,0"], [undefined]])(
    "refuses coords of no chunk: %j",
    async (coords) => {
      const array = await openArray(await given(PLAIN));
      await expect(array.chunk(coords as number[])).rejects.toMatchObject({
        code: "invalid-selection",
        details: { path: "", expected: "2 whole numbers from 0, below 3, 1", hint: expect.any(String) },
      });
    },
  );

  test("takes no option for a chunk but a signal", async () => {
    const array = await openArray(await given(PLAIN));
    await expect(array.chunk([0, 0], { sel: { y: 1 } } as object)).rejects.toMatchObject({
      code: "invalid-option",
    });
    await expect(array.chunk([0, 0], { signal: AbortSignal.abort() })).rejects.toMatchObject({
      code: "aborted",
    });
  });

  test("names the chunks that a selection touches, without reading any", async () => {
    const { store, taken } = logged(await given(PLAIN));
    const array = await openArray(store);
    taken();
    expect(await all(array.chunkRefs({ y: [3, 5] }))).toMatchObject([
      { coords: [1, 0], key: "c/1/0", region: { start: [2, 0], shape: [2, 4] } },
      { coords: [2, 0], key: "c/2/0", region: { start: [4, 0], shape: [1, 4] } },
    ]);
    expect((await all(array.chunkRefs())).map(({ index, coords }) => [index, coords])).toEqual([
      [0, [0, 0]],
      [1, [1, 0]],
      [2, [2, 0]],
    ]);
    expect(taken()).toEqual([]);
    const sharded = await openArray(await given(SHARDED));
    expect((await all(sharded.chunkRefs([[2, 5]]))).map(({ coords, key }) => [coords, key])).toEqual([
      [[1, 0], "c/0/0"],
      [[2, 0], "c/1/0"],
    ]);
    await expect(all(array.chunkRefs({ z: 0 }))).rejects.toMatchObject({ code: "invalid-selection" });
  });
});

describe("requests of an open array", () => {
  test.each([
    ["v3", PLAIN, ["get c/1/0"]],
    ["v2", { ...PLAIN, zarrFormat: "v2" }, ["get 1.0"]],
  ] as const)("one for each chunk: %s", async (_, description, expected) => {
    const { store, taken } = logged(await given(description));
    const array = await openArray(store);
    taken();
    for (let i = 0; i < 2; i++) {
      await array.chunk([1, 0]);
      expect(taken()).toEqual(expected);
      await array.slice([2]).read();
      expect(taken()).toEqual(expected);
    }
  });

  test("one for each chunk that is stored, where v2 does not say how keys are joined", async () => {
    const v2 = { ...PLAIN, zarrFormat: "v2", values: (i: number) => (i < 8 ? 0 : i) } as const;
    const { store, taken } = logged(await given(v2));
    const array = await openArray(store);
    taken();
    await array.chunk([2, 0]);
    expect(taken()).toEqual(["get 2.0"]);
    await array.chunk([0, 0]);
    expect(taken()).toEqual(["get 0.0"]);
    const other = await openArray(store);
    taken();
    await other.chunk([0, 0]);
    expect(taken()).toEqual(["get 0.0", "size 0.0", "list "]);
    expect((await all(other.chunkRefs([0]))).map(({ key }) => key)).toEqual(["0.0"]);
  });

  test("where they are joined by slashes that v2 does not state, one to find that out", async () => {
    const memory = await given({ ...PLAIN, zarrFormat: "v2" });
    for (const y of [0, 1, 2]) {
      await memory.set(`${y}/0`, (await memory.get(`${y}.0`)) ?? new Uint8Array());
      await memory.delete(`${y}.0`);
    }
    const { store, taken } = logged(memory);
    const array = await openArray(store);
    taken();
    expect((await array.chunk([1, 0])).data[0]).toBe(8);
    expect(taken()).toContain("get 1/0");
    expect((await array.slice().read()).data).toHaveLength(20);
    expect(taken()).toEqual(["get 0/0", "get 1/0", "get 2/0"]);
    expect((await all(array.chunkRefs([0]))).map(({ key }) => key)).toEqual(["0/0"]);
  });

  test.each([
    ["in memory", undefined],
    ["over HTTP", "strong"],
    ["over HTTP without versions", "none"],
  ] as const)("in shards two for the first chunk, then one: %s", async (_, validators) => {
    const memory = await given(SHARDED);
    const server = await serveValues(await valuesIn(memory), {
      ...(validators === "strong" && { validators }),
    });
    const { store, taken } = logged<Store>(validators === undefined ? memory : new HttpStore(server.url));
    const array = await openArray(store);
    taken();
    await array.chunk([0, 0]);
    expect(taken()).toEqual(["get c/0/0", "get c/0/0"]);
    await array.chunk([1, 0]);
    await array.chunk([0, 0]);
    await array.slice([[0, 4]]).read();
    expect(taken()).toEqual(["get c/0/0", "get c/0/0", "get c/0/0"]);
    await array.chunk([2, 0]);
    expect(taken()).toEqual(["get c/1/0", "get c/1/0"]);
    await server.close();
  });

  test("in shards within shards one for each index, then one", async () => {
    const { store, taken } = logged(
      await given({ ...PLAIN, shape: [8, 4], chunks: [4, 4], codecs: [NESTED] }),
    );
    const array = await openArray(store);
    taken();
    expect((await array.chunk([1, 0])).data).toEqual(Int16Array.of(4, 5, 6, 7));
    expect(taken()).toHaveLength(3);
    await array.chunk([0, 0]);
    expect(taken()).toHaveLength(1);
  });

  test("indexes that are kept take a megabyte at most: those that were wanted last", async () => {
    const count = 2 ** 15;
    const shards: GivenArray = {
      shape: [4 * count],
      chunks: [1],
      shards: [count],
      dataType: "int8",
      codec: "none",
      values: () => 1,
    };
    const { store, taken } = logged(await given(shards));
    const array = await openArray(store);
    const read = async (shard: number) => {
      taken();
      await array.chunk([shard * count]);
      return taken().length;
    };
    expect([await read(0), await read(1), await read(0), await read(2)]).toEqual([2, 2, 1, 2]);
    expect([await read(0), await read(1)]).toEqual([1, 2]);
  });
});

describe("a shard that is replaced while its array is open", () => {
  const replaced = (array: ZarrArray) => writeRegion(array, [[0, 4]], new Int16Array(16).fill(-1));

  test("is read as it is then, by the chunk and with others", async () => {
    const store = await given(SHARDED);
    const array = await openArray(store);
    expect((await array.chunk([1, 0])).data[0]).toBe(8);
    await replaced(await openArray(store));
    expect((await array.chunk([1, 0])).data).toEqual(new Int16Array(8).fill(-1));
    expect([...(await array.slice().read()).data].slice(0, 18)).toEqual(
      Array.from({ length: 18 }, (_, i) => (i < 16 ? -1 : i)),
    );
  });

  test("is read as it is then, over HTTP", async () => {
    const memory = await given(SHARDED);
    const values = await valuesIn(memory);
    const server = await serveValues(values, { validators: "strong" });
    const array = await openArray(server.url);
    expect((await array.slice().read()).data[0]).toBe(0);
    await replaced(await openArray(memory));
    for (const [key, value] of await valuesIn(memory)) values.set(key, value);
    const requests = server.requests.length;
    expect([...(await array.slice().read()).data].slice(0, 2)).toEqual([-1, -1]);
    expect(server.requests.length - requests).toBeLessThanOrEqual(5);
    await server.close();
  });

  test("and one that is removed, or written at first, is read as it is then", async () => {
    const store = await given(SHARDED);
    const array = await openArray(store);
    await array.chunk([0, 0]);
    const shard = (await store.get("c/0/0")) ?? new Uint8Array();
    await store.delete("c/0/0");
    expect((await array.chunk([1, 0])).data).toEqual(new Int16Array(8));
    await store.set("c/0/0", shard);
    expect((await array.chunk([1, 0])).data[0]).toBe(8);
  });

  test("amid a reading ends it, where some of it was read before", async () => {
    const large = {
      shape: [60 * 2 ** 17],
      chunks: [2 ** 17],
      shards: [60 * 2 ** 17],
      dataType: "int8",
      codec: "none",
    };
    const memory = await given({ ...large, values: () => 1 });
    const other = (await (await given({ ...large, values: () => 2 })).get("c/0")) ?? new Uint8Array();
    let gets = Number.NEGATIVE_INFINITY;
    const store = withRequestLog(memory, async ({ operation }) => {
      if (operation === "get" && ++gets === 2) await memory.set("c/0", other);
    });
    const array = await openArray(store);
    await array.chunk([0]);
    gets = 0;
    await expect(array.slice({}, { concurrency: 1 }).read()).rejects.toMatchObject({
      code: "source-changed",
    });
    expect(new Set((await array.slice().read()).data as Int8Array)).toEqual(new Set([2]));
  });

  test("by writing to the array itself is read as it is then, in a store that knows no versions", async () => {
    const array = await openArray(await given({ ...SHARDED, at: new Map<string, Uint8Array>() }));
    expect((await array.chunk([1, 0])).data[0]).toBe(8);
    await replaced(array);
    expect((await array.chunk([1, 0])).data).toEqual(new Int16Array(8).fill(-1));
  });

  test("within shards is read as it is then", async () => {
    const nested = { ...PLAIN, shape: [8, 4], chunks: [4, 4], codecs: [NESTED] };
    const [store, other] = [await given(nested), await given({ ...nested, values: (i) => -i })];
    const array = await openArray(store);
    expect((await array.chunk([1, 0])).data[0]).toBe(4);
    await store.set("c/0/0", (await other.get("c/0/0")) ?? new Uint8Array());
    expect((await array.chunk([1, 0])).data[0]).toBe(-4);
    expect((await array.chunk([3, 0])).data[0]).toBe(-12);
  });
});

describe("a slice that is read more than once", () => {
  test("opens its array once, and looks its labels up once", async () => {
    const arrays = {
      t: { ...PLAIN, dimensionNames: ["time", "x"] },
      time: {
        shape: [5],
        dataType: "int32",
        dimensionNames: ["time"],
        attributes: { units: "days since 2000-01-01" },
      },
    };
    const { store, taken } = logged(await given({ arrays }));
    const part = slice({ store, path: "t" }, {}, { sel: { time: ["2000-01-02", "2000-01-03"] } });
    expect(taken()).toEqual([]);
    expect(await part.shape()).toEqual([2, 4]);
    expect(taken().filter((one) => one === "get t/zarr.json")).toHaveLength(1);
    for (let i = 0; i < 2; i++) {
      expect((await part.read()).data).toEqual(Int16Array.of(4, 5, 6, 7, 8, 9, 10, 11));
      expect(await all(part.chunks())).toHaveLength(2);
      await all(part.bytes());
      await part.dataType();
    }
    expect(new Set(taken())).toEqual(new Set(["get t/c/0/0", "get t/c/1/0"]));
  });

  test("is opened again where that failed", async () => {
    const store = new MemoryStore();
    const part = slice(store, { y: 0 });
    await expect(part.read()).rejects.toMatchObject({ code: "not-found" });
    await given({ ...PLAIN, at: store });
    expect((await part.read()).data).toEqual(Int16Array.of(0, 1, 2, 3));
  });

  test("may be read by several at one time", async () => {
    const { store, taken } = logged(await given(PLAIN));
    const part = slice(store, { y: [0, 2] });
    const all = await Promise.all([part.read(), part.read(), part.shape()]);
    expect(all[0]).toEqual(all[1]);
    expect(taken().filter((one) => one === "get zarr.json")).toHaveLength(1);
  });

  test("opens the file of a zip again, which must be the same", async () => {
    const path = await given({ ...PLAIN, at: join(folder.path, "a.zarr.zip") });
    const part = slice(path, { y: 0 });
    const { data } = await part.read();
    expect((await part.read()).data).toEqual(data);
    await copy(await given({ ...PLAIN, values: (i) => -i }), path, { ifExists: "replace" });
    await expect(part.read()).rejects.toMatchObject({ code: "source-changed" });
    expect((await slice(path, { y: 0 }).read()).data).toEqual(Int16Array.of(0, -1, -2, -3));
  });
});

describe("read({ decode: true })", () => {
  const decoded = async (array: GivenArray) =>
    slice(await given({ ...array, shape: [Array.isArray(array.values) ? array.values.length : 3] })).read({
      decode: true,
    });

  test("scales, and gives NaN for what is missing", async () => {
    const attributes = { scale_factor: 0.5, add_offset: 10, missing_value: -1 };
    const packed = {
      shape: [3],
      dataType: "int16",
      zarrFormat: "v3",
      values: [4, -1, 0],
      attributes,
    } as const;
    expect(await decoded(packed)).toEqual({
      data: Float64Array.of(12, Number.NaN, 10),
      dataType: "float64",
      shape: [3],
      stride: [1],
    });
    const plain = await openArray(await given(packed));
    expect((await plain.slice().read({ decode: false })).data).toEqual(Int16Array.of(4, -1, 0));
  });

  test("gives times of CF as datetime64, or as text where a calendar has none", async () => {
    const time = { shape: [2], dataType: "int32", values: [0, 36] } as const;
    const units = "hours since 2000-01-01";
    const day = 86_400_000_000n;
    const start = BigInt(Date.UTC(2000, 0, 1)) * 1000n;
    expect(await decoded({ ...time, attributes: { units } })).toMatchObject({
      data: BigInt64Array.of(start, start + (3n * day) / 2n),
      dataType: "datetime64[us]",
    });
    expect(await decoded({ ...time, attributes: { units, calendar: "noleap" } })).toMatchObject({
      data: ["2000-01-01T00:00:00", "2000-01-02T12:00:00"],
      dataType: "string",
    });
  });

  test("gives flags by name, and stored values where nothing is to be decoded", async () => {
    const attributes = { flag_values: [1, 2], flag_meanings: "land sea" };
    const array = await openArray(await given({ shape: [2], dataType: "int8", values: [2, 1], attributes }));
    expect((await array.slice().read({ decode: true, flags: true })).data).toEqual(["sea", "land"]);
    expect((await array.slice().read({ decode: true })).data).toEqual(Int8Array.of(2, 1));
  });

  test("refuses flags without it, and options that are none", async () => {
    const array = await openArray(await given(PLAIN));
    await expect(array.slice().read({ flags: true })).rejects.toMatchObject({ code: "invalid-option" });
    await expect(array.slice().read({ dense: true } as object)).rejects.toMatchObject({
      code: "invalid-option",
    });
  });

  test("opens the array once, too", async () => {
    const { store, taken } = logged(await given({ ...PLAIN, attributes: { scale_factor: 2 } }));
    const node = await open(store);
    taken();
    const part = slice(node, { y: 0 });
    expect((await part.read({ decode: true })).data).toEqual(BigInt64Array.of(0n, 2n, 4n, 6n));
    expect(taken()).toEqual(["get c/0/0"]);
  });
});
