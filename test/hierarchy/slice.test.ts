import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { copy, open, openArray, slice, writeRegion, type ZarrArray } from "../../src/index.ts";
import { HttpStore } from "../../src/stores/http.ts";
import { MemoryStore } from "../../src/stores/memory.ts";
import type { Store } from "../../src/stores/store.ts";
import { withRequestLog } from "../../src/stores/with/request-log.ts";
import { temporaryFolder } from "../stores/temporary-folder.ts";
import { serveValues } from "../stores/value-server.ts";
import { rejection } from "../streams/support.ts";
import { all, valuesIn } from "../support/consume.ts";
import { type GivenArray, given } from "../support/given.ts";
import { codeOf, logged } from "./keys.ts";

const folder = temporaryFolder();

const PLAIN: GivenArray = { shape: [5, 4], chunks: [2, 4], dataType: "int16", dimensionNames: ["y", "x"] };
const SHARDED: GivenArray = { shape: [8, 4], chunks: [2, 4], shards: [4, 4], dataType: "int16" };

const shard = (chunk_shape: readonly number[], codec: object) => ({
  name: "sharding_indexed",
  configuration: { chunk_shape, codecs: [codec], index_codecs: [BYTES, { name: "crc32c" }] },
});
const BYTES = { name: "bytes", configuration: { endian: "little" } };
/** Shards within shards. */
const WITHIN: GivenArray = {
  ...{ ...PLAIN, shape: [8, 4], chunks: [4, 4] },
  codecs: [shard([2, 4], shard([1, 4], BYTES))],
};

describe("an open array", () => {
  test("gives slices, as `slice` does", async () => {
    const array = await openArray(await given(PLAIN));
    const part = { y: [1, 3], x: 2 } as const;
    expect(await array.slice(part).read()).toEqual(await slice(array, part).read());
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
      ...{ region: { start: [2, 0], shape: [2, 4] }, shape: [2, 4], stride: [4, 1] },
      data: Int16Array.of(8, 9, 10, 11, 12, 13, 14, 15),
    });
    expect(await opened.chunk([2, 0])).toMatchObject({
      ...{ region: { start: [4, 0], shape: [1, 4] }, shape: [1, 4] },
      data: Int16Array.of(16, 17, 18, 19),
    });
  });

  test("gives the fill value for a chunk that is missing, a single item, and text", async () => {
    const missing = await openArray(await given({ ...PLAIN, fillValue: 7, values: null }));
    expect((await missing.chunk([0, 0])).data).toEqual(new Int16Array(8).fill(7));
    const single = await openArray(
      await given({ shape: [], chunks: [], dataType: "float64", values: [1.5] }),
    );
    const { data, shape, region } = await single.chunk([]);
    expect([data, shape, region.start]).toEqual([Float64Array.of(1.5), [], []]);
    const text = await openArray(
      await given({ chunks: [2], dataType: "string", values: ["t0", "t1", "t2"] }),
    );
    expect([...(await text.chunk([1])).data]).toEqual(["t2"]);
  });

  test("takes coords of chunks, and no option but a signal", async () => {
    const array = await openArray(await given(PLAIN));
    const details = { path: "", expected: "2 whole numbers from 0, below 3, 1", hint: expect.any(String) };
    for (const coords of [[3, 0], [-1, 0], [0], [0, 0, 0], [0.5, 0], ["0", 0], "0,0", undefined]) {
      const refused = await rejection(array.chunk(coords as number[]));
      expect(refused, String(coords)).toMatchObject({ code: "invalid-selection", details });
    }
    expect(await codeOf(array.chunk([0, 0], { sel: { y: 1 } } as object))).toBe("invalid-option");
    expect(await codeOf(array.chunk([0, 0], { signal: AbortSignal.abort() }))).toBe("aborted");
  });

  test("names the chunks that a selection touches, without reading any", async () => {
    const { store, taken } = logged(await given(PLAIN));
    const array = await openArray(store);
    taken();
    expect(await all(array.chunkRefs({ y: [3, 5] }))).toMatchObject([
      { coords: [1, 0], key: "c/1/0", region: { start: [2, 0], shape: [2, 4] } },
      { coords: [2, 0], key: "c/2/0", region: { start: [4, 0], shape: [1, 4] } },
    ]);
    const refs = (await all(array.chunkRefs())).map(({ index, coords }) => `${index}: ${coords}`);
    expect(refs).toEqual(["0: 0,0", "1: 1,0", "2: 2,0"]);
    expect(taken()).toEqual([]);
    const sharded = await openArray(await given(SHARDED));
    const keyed = (await all(sharded.chunkRefs([[2, 5]]))).map(({ coords, key }) => `${coords} ${key}`);
    expect(keyed).toEqual(["1,0 c/0/0", "2,0 c/1/0"]);
    expect(await codeOf(all(array.chunkRefs({ z: 0 })))).toBe("invalid-selection");
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
    const { store, taken } = logged(await given(WITHIN));
    const array = await openArray(store);
    taken();
    expect((await array.chunk([1, 0])).data).toEqual(Int16Array.of(4, 5, 6, 7));
    expect(taken()).toHaveLength(3);
    await array.chunk([0, 0]);
    expect(taken()).toHaveLength(1);
  });

  test("indexes that are kept take a megabyte at most: those that were wanted last", {
    tags: ["slow"],
  }, async () => {
    const count = 2 ** 15;
    const grid = { shape: [4 * count], chunks: [1], shards: [count], dataType: "int8" };
    const { store, taken } = logged(await given({ ...grid, codec: "none", values: () => 1 }));
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
    const { data } = await array.slice().read();
    expect([...data].slice(0, 18)).toEqual([...new Array(16).fill(-1), 16, 17]);
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

  test("amid a reading ends it, where some of it was read before", { tags: ["slow"] }, async () => {
    const [size, length] = [2 ** 17, 60 * 2 ** 17];
    const large = { shape: [length], chunks: [size], shards: [length], dataType: "int8", codec: "none" };
    const memory = await given({ ...large, values: () => 1 });
    const other = (await (await given({ ...large, values: () => 2 })).get("c/0")) ?? new Uint8Array();
    let gets = Number.NEGATIVE_INFINITY;
    const store = withRequestLog(memory, async ({ operation }) => {
      if (operation === "get" && ++gets === 2) await memory.set("c/0", other);
    });
    const array = await openArray(store);
    await array.chunk([0]);
    gets = 0;
    expect(await codeOf(array.slice({}, { concurrency: 1 }).read())).toBe("source-changed");
    expect(new Set((await array.slice().read()).data as Int8Array)).toEqual(new Set([2]));
  });

  test("by writing to the array itself is read as it is then, in a store that knows no versions", async () => {
    const array = await openArray(await given({ ...SHARDED, at: new Map<string, Uint8Array>() }));
    expect((await array.chunk([1, 0])).data[0]).toBe(8);
    await replaced(array);
    expect((await array.chunk([1, 0])).data).toEqual(new Int16Array(8).fill(-1));
  });

  test("within shards is read as it is then", async () => {
    const [store, other] = [await given(WITHIN), await given({ ...WITHIN, values: (i) => -i })];
    const array = await openArray(store);
    expect((await array.chunk([1, 0])).data[0]).toBe(4);
    await store.set("c/0/0", (await other.get("c/0/0")) ?? new Uint8Array());
    expect((await array.chunk([1, 0])).data[0]).toBe(-4);
    expect((await array.chunk([3, 0])).data[0]).toBe(-12);
  });
});

describe("a slice that is read more than once", () => {
  test("opens its array once, and looks its labels up once", async () => {
    const units = { attributes: { units: "days since 2000-01-01" } };
    const arrays = {
      t: { ...PLAIN, dimensionNames: ["time", "x"] },
      time: { shape: [5], dataType: "int32", dimensionNames: ["time"], ...units },
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
    expect(await codeOf(part.read())).toBe("not-found");
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
    const packed = { shape: [3], dataType: "int16", values: [4, -1, 0], attributes } as const;
    const { data, ...rest } = await decoded(packed);
    expect(data).toEqual(Float64Array.of(12, Number.NaN, 10));
    expect(rest).toEqual({ dataType: "float64", shape: [3], stride: [1] });
    const plain = await openArray(await given(packed));
    expect((await plain.slice().read({ decode: false })).data).toEqual(Int16Array.of(4, -1, 0));
  });

  test("gives times of CF as datetime64, or as text where a calendar has none", async () => {
    const time = { shape: [2], dataType: "int32", values: [0, 36] } as const;
    const units = "hours since 2000-01-01";
    const day = 86_400_000_000n;
    const start = BigInt(Date.UTC(2000, 0, 1)) * 1000n;
    const data = BigInt64Array.of(start, start + (3n * day) / 2n);
    const decodedTimes = await decoded({ ...time, attributes: { units } });
    expect(decodedTimes).toMatchObject({ data, dataType: "datetime64[us]" });
    const texts = ["2000-01-01T00:00:00", "2000-01-02T12:00:00"];
    const noLeap = await decoded({ ...time, attributes: { units, calendar: "noleap" } });
    expect(noLeap).toMatchObject({ data: texts, dataType: "string" });
  });

  test("gives flags by name, and stored values where nothing is to be decoded", async () => {
    const attributes = { flag_values: [1, 2], flag_meanings: "land sea" };
    const array = await openArray(await given({ shape: [2], dataType: "int8", values: [2, 1], attributes }));
    expect((await array.slice().read({ decode: true, flags: true })).data).toEqual(["sea", "land"]);
    expect((await array.slice().read({ decode: true })).data).toEqual(Int8Array.of(2, 1));
  });

  test("refuses flags without it, and options that are none", async () => {
    const array = await openArray(await given(PLAIN));
    for (const wrong of [{ flags: true }, { dense: true } as object])
      expect(await codeOf(array.slice().read(wrong))).toBe("invalid-option");
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
