import { describe, expect, test } from "vitest";
import { KeyMutex } from "../../../src/hierarchy/write/chunk-draft.ts";
import { encodedItem } from "../../../src/hierarchy/write/values.ts";
import {
  type ArrayPart,
  type ArrayWriter,
  create,
  type ErrorOf,
  openArray,
  slice,
} from "../../../src/index.ts";
import { MemoryStore } from "../../../src/stores/memory.ts";
import type { WritableStore } from "../../../src/stores/store.ts";
import {
  type DecodedChunk,
  decodeChunks,
  encodeChunks,
  readChunks,
  regrid,
  writeChunks,
} from "../../../src/streams/index.ts";
import { asyncDispose } from "../../../src/util/async-dispose.ts";
import { streamFrom } from "../../../src/util/web-streams.ts";
import { temporaryFolder } from "../../stores/temporary-folder.ts";
import {
  deferred,
  failOnUnhandledRejections,
  refsOf,
  rejection,
  settle,
  TestStore,
} from "../../streams/support.ts";
import { itemsOf, keysOf } from "../../support/consume.ts";
import { given } from "../../support/given.ts";
import { codeOf, logged } from "../keys.ts";

failOnUnhandledRejections();
const folder = temporaryFolder();

const array = { shape: [5, 6], dataType: "int16", chunks: [2, 4], dimensionNames: ["y", "x"] } as const;
const ramp = Int16Array.from({ length: 30 }, (_, i) => i);
const rampItems = [...ramp];

async function created(options: object = {}) {
  const store = new MemoryStore();
  return { store, writer: await create({ store, path: "a" }, { ...array, ...options }) };
}

/** An open array with the items of the ramp. */
const ramped = async (options: object) => openArray(await given({ ...array, ...options, values: ramp }));

describe("an array being written", () => {
  test("describes itself", async () => {
    const { writer } = await created({ order: "F" });
    const { shape, chunkShape, dataType, strides } = writer;
    expect([shape, chunkShape, dataType, strides]).toEqual([[5, 6], [2, 4], "int16", [1, 2]]);
    expect(writer).toMatchObject({ kind: "array", path: "a" });
    expect(writer.chunk).toMatchObject({ shape: [2, 4], dataType: { kind: "int", size: 2 } });
    expect(writer.chunkKey([1, 0])).toBe("a/c/1/0");
    await writer.abort();
  });

  test("grows along its first dimension, and never shrinks", async () => {
    const { store, writer } = await created({ fillValue: 7 });
    writer.grow(6);
    writer.grow(3);
    expect(writer.shape).toEqual([6, 6]);
    await writer.write({ y: 5 }, new Int16Array(6));
    expect(() => writer.grow(6.5)).toThrow(expect.objectContaining({ code: "invalid-option" }));
    await writer.close();
    expect(await itemsOf(store, "a")).toEqual([...new Array(30).fill(7), ...new Array(6).fill(0)]);
  });

  test.each(["C v2", "F v3"])("is the target of the stages, in the order and format %s", async (words) => {
    const [order, zarrFormat] = words.split(" ");
    const from = await ramped({ chunks: [3, 2] });
    const { store, writer } = await created({ order, zarrFormat });
    await readChunks(from, refsOf(from.shape, from.chunkShape))
      .pipeThrough(decodeChunks(from))
      .pipeThrough(new TransformStream<DecodedChunk, DecodedChunk>())
      .pipeThrough(regrid(writer))
      .pipeThrough(encodeChunks(writer))
      .pipeTo(writeChunks(writer));
    await writer.close();
    expect(await itemsOf(store, "a")).toEqual(rampItems);
  });

  test("is seen by nobody before it is closed, and closing waits for what is being written", async () => {
    const { store, writer } = await created();
    const writes = [0, 1, 2, 3, 4].map((y) => writer.write({ y }, ramp.subarray(6 * y, 6 * y + 6)));
    expect(await codeOf(openArray({ store, path: "a" }))).toBe("not-found");
    await writer.close();
    await Promise.all(writes);
    expect(await itemsOf(store, "a")).toEqual(rampItems);
  });

  test("has so many requests in flight for all calls together", async () => {
    const store = new TestStore();
    let [now, most] = [0, 0];
    store.beforeSet = async () => {
      most = Math.max(most, ++now);
      await settle(1);
      now--;
    };
    const writer = await create(store, array, { concurrency: 3 });
    await Promise.all(
      [0, 2, 4].map((y) => writer.write([[y, Math.min(5, y + 2)]], ramp.subarray(0, y < 4 ? 12 : 6))),
    );
    expect(most).toBe(3);
    await writer.close();
  });
});

describe("once something could not be written", () => {
  test.each(["c/1/1", "zarr.json"])(
    "closing gives the array up and throws the failure: %s",
    async (failing) => {
      const store = new TestStore();
      const full = { code: "transient", cause: new Error("disk full") };
      store.beforeSet = (key) => {
        if (key === failing) throw full.cause;
      };
      const writer = await create(store, array);
      const written = writer.write([], ramp);
      if (failing === "zarr.json") await written;
      else expect(await rejection(written)).toMatchObject(full);
      expect(await rejection(writer.close())).toMatchObject(full);
      expect([...store.values.keys()]).toEqual([]);
      expect(await codeOf(writer.write([], ramp))).toBe("unsupported-operation");
    },
  );

  test("what was refused before anything was written does no harm", async () => {
    const { store, writer } = await created();
    await writer.write([], ramp);
    expect(await codeOf(writer.write([], new Int16Array(1)))).toBe("invalid-option");
    expect(await codeOf(writer.write([[0, 6]], ramp))).toBe("invalid-selection");
    await writer.close();
    expect(await itemsOf(store, "a")).toEqual(rampItems);
  });
});

describe("giving up", () => {
  const reason = new Error("enough");
  const aborted = { code: "aborted", cause: reason };

  test("stops what is being written", async () => {
    const store = new TestStore();
    const reached = deferred();
    store.beforeSet = (_, signal) => {
      reached.resolve();
      return new Promise((_, reject) => signal?.addEventListener("abort", () => reject(signal.reason)));
    };
    const writer = await create(store, array);
    const written = rejection(writer.write([], ramp));
    await reached.promise;
    await writer.abort(reason);
    expect(await written).toMatchObject(aborted);
    await writer.abort();
    expect([...store.values.keys()]).toEqual([]);
  });

  test("by the caller's signal: calls fail with its reason, and closing leaves nothing", async () => {
    const store = new MemoryStore();
    const controller = new AbortController();
    const writer = await create({ store, path: "a" }, array, { signal: controller.signal });
    await writer.write({ y: 0 }, ramp.subarray(0, 6));
    controller.abort(reason);
    expect(await rejection(writer.write([], ramp))).toMatchObject(aborted);
    expect(await rejection(writer.close())).toMatchObject(aborted);
    expect(await keysOf(store)).toEqual([]);
  });

  test("at the end of `await using`, unless it was closed", async () => {
    expect(Symbol.asyncDispose).toBe(asyncDispose);
    const store = new MemoryStore();
    const run = async (end: (writer: ArrayWriter) => Promise<void>) => {
      await using writer = await create({ store, path: "a" }, array);
      await writer.write([], ramp);
      await end(writer);
    };
    expect(await rejection(run(() => Promise.reject(reason)))).toBe(reason);
    expect(await keysOf(store)).toEqual([]);
    await run((writer) => writer.close());
    expect(await itemsOf(store, "a")).toEqual(rampItems);
  });
});

describe("writable", () => {
  const partOf = (y: number): ArrayPart => ({
    region: { start: [y, 0], shape: [1, 6] },
    data: ramp.slice(6 * y, 6 * y + 6),
  });

  test("takes parts in any order, and publishes when it is closed", async () => {
    const { store, writer } = await created();
    await streamFrom([4, 1, 0, 3, 2].map(partOf)).pipeTo(writer.writable);
    expect(await itemsOf(store, "a")).toEqual(rampItems);
  });

  test("takes what `slice(...).chunks()` gives, through a stage of the caller's", async () => {
    const { store, writer } = await created();
    const negated = new TransformStream<ArrayPart, ArrayPart>({
      transform(part, controller) {
        controller.enqueue({ ...part, data: (part.data as Int16Array).map((n) => -n) });
      },
    });
    const from = await ramped({ chunks: [3, 5], order: "F" });
    await slice(from).chunks().pipeThrough(negated).pipeTo(writer.writable);
    expect(await itemsOf(store, "a")).toEqual(Array.from(ramp, (n) => (n === 0 ? 0 : -n)));
  });

  test.each([
    ["a part that is wrong", "invalid-option", { ...partOf(1), data: new Int16Array(5) }],
    ["a part outside", "invalid-selection", { ...partOf(1), region: { start: [5, 0], shape: [1, 6] } }],
  ])("%s leaves nothing", async (_, code, part) => {
    const { store, writer } = await created();
    expect(await codeOf(streamFrom([partOf(0), part, partOf(2)]).pipeTo(writer.writable))).toBe(code);
    expect(await keysOf(store)).toEqual([]);
  });

  test("aborting it leaves nothing; the source's failure comes out", async () => {
    const { store, writer } = await created();
    const broken = new Error("broken");
    const failing = async function* () {
      yield partOf(0);
      yield partOf(1);
      throw broken;
    };
    expect(await rejection(streamFrom(failing()).pipeTo(writer.writable))).toBe(broken);
    expect(await keysOf(store)).toEqual([]);
    expect(await codeOf(writer.close())).toBe("unsupported-operation");
  });
});

describe("a chunk that comes in parts", () => {
  const rows = { shape: [40, 6], dataType: "int16", chunks: [20, 4], codec: "none" } as const;
  const values = Int16Array.from({ length: 240 }, (_, i) => i + 1);
  const parts = Array.from({ length: 40 }, (_, y) => ({
    region: { start: [y, 0], shape: [1, 6] },
    data: values.slice(6 * y, 6 * y + 6),
  }));
  const count = (calls: string[], operation: string) =>
    calls.filter((call) => call.startsWith(`${operation} c/`)).length;

  /** How often chunks are read and stored in a run after which the array has all values. */
  async function counted(run: (store: WritableStore) => Promise<void>) {
    const { store, taken } = logged(new MemoryStore());
    await run(store);
    const calls = taken();
    expect(await itemsOf(store, "")).toEqual([...values]);
    return { get: count(calls, "get"), set: count(calls, "set") };
  }

  async function neededFor(grid: Parameters<typeof create>[1]): Promise<number> {
    const tight = await rejection(create(new MemoryStore(), grid, { maxMemory: "1 kB" }));
    expect(tight).toMatchObject({ code: "budget-too-small", details: { found: "1000 bytes" } });
    return (tight as ErrorOf<"budget-too-small">).details.neededBytes;
  }

  test("is stored once, and never read", async () => {
    const calls = await counted(async (store) => {
      await streamFrom(parts).pipeTo((await create(store, rows)).writable);
    });
    expect(calls).toEqual({ get: 0, set: 4 });
  });

  test("is stored in part and read back where memory has no room for all", async () => {
    const calls = await counted(async (store) => {
      const writer = await create(store, rows, { maxMemory: await neededFor(rows) });
      await Promise.all(parts.map((part) => writer.writePart(part)));
      await writer.close();
    });
    expect(calls.set).toBeGreaterThan(4);
    expect(calls.get).toBeLessThanOrEqual(calls.set);
  });

  test("is the only one that is stored for want of memory", async () => {
    const { store, taken } = logged(new MemoryStore(), "set");
    const grid = { shape: [64, 4096], chunks: [1, 4096], dataType: "uint8", codec: "none" } as const;
    const writer = await create(store, grid, { maxMemory: 8 * (await neededFor(grid)) });
    let [written, sets] = [0, 0];
    while (sets === 0) {
      await writer.write([written++, 0], Uint8Array.of(1));
      sets = taken().length;
    }
    expect(written).toBeGreaterThan(4);
    expect(sets).toBe(1);
    await writer.abort();
  });

  test("in a zip is taken once, and again where it was nothing but the fill value", async () => {
    const path = folder.next("a.zip");
    await streamFrom(parts).pipeTo((await create(path, rows)).writable);
    expect([...(await slice(path).read()).data]).toEqual([...values]);
    const again = await create(folder.next("a.zip"), rows);
    await again.write([], values);
    const details = { coords: [0, 0], hint: expect.stringContaining("maxMemory") };
    const error = await rejection(again.write([0], values.subarray(0, 6)).then(() => again.close()));
    expect(error).toMatchObject({ code: "unsupported-operation", details });
    const empty = folder.next("a.zip");
    const writer = await create(empty, { shape: [2], chunks: [2], dataType: "uint8", codec: "none" });
    await writer.write([], Uint8Array.of(0, 0));
    await writer.write([1], Uint8Array.of(7));
    await writer.close();
    expect([...(await slice(empty).read()).data]).toEqual([0, 7]);
  });

  test("of strings keeps the last one of each item, and what a missing chunk writes over them", async () => {
    const store = new MemoryStore();
    const writer = await create(store, { shape: [4], chunks: [4], dataType: "string" });
    await writer.write([[1, 2]], ["BBBB"]);
    await writer.write([[0, 1]], ["hello"]);
    await writer.write([[0, 1]], ["a"]);
    await writer.write([[2, 4]], ["ccc", "ddd"]);
    const missing = { index: 0, coords: [0], region: { start: [2], shape: [1] }, data: undefined };
    await writer.writePart(missing);
    await writer.close();
    expect(await itemsOf(store, "")).toEqual(["a", "BBBB", "", "ddd"]);
  });

  test.each(["uint8", "string"] as const)(
    "of very many pieces of %s is stored before its end",
    { tags: ["slow"] },
    async (dataType) => {
      const { store, taken } = logged(new MemoryStore());
      const size = 2500;
      const writer = await create(store, { shape: [size], chunks: [size], dataType, codec: "none" });
      const values = Array.from({ length: size }, (_, i) => (dataType === "string" ? `${i % 7}` : i % 7));
      for (let i = 0; i < size; i += 2) await writer.write([[i, i + 1]], values.slice(i, i + 1));
      await writer.close();
      const sets = count(taken(), "set");
      expect(sets).toBeGreaterThan(1);
      expect(sets).toBeLessThan(10);
      const nothing = dataType === "string" ? "" : 0;
      expect(await itemsOf(store, "")).toEqual(values.map((value, i) => (i % 2 === 0 ? value : nothing)));
    },
  );

  test.each([false, true])("may be what the stages give, regridded %s", async (isRegridded) => {
    const source = await openArray(await given({ ...rows, chunks: [7, 3], order: "F", values }));
    const calls = await counted(async (store) => {
      const writer = await create(store, rows);
      const refs = refsOf(source.shape, source.chunkShape);
      const decoded = readChunks(source, refs).pipeThrough(decodeChunks(source));
      await (isRegridded ? decoded.pipeThrough(regrid(writer)) : decoded).pipeTo(writer.writable);
    });
    expect(calls).toEqual({ get: 0, set: 4 });
  });
});

describe("turns at the keys of a store", () => {
  test("are taken one after another, in the order in which they came", async () => {
    const store = new MemoryStore();
    const seen: string[] = [];
    const visit = async (name: string, key: string, turns = new KeyMutex(store)) => {
      const end = await turns.take(key);
      seen.push(`${name} begins`);
      await settle(2);
      seen.push(`${name} ends`);
      end();
    };
    await Promise.all([visit("a", "k"), visit("b", "k"), visit("c", "k")]);
    expect(seen.splice(0)).toEqual(["a begins", "a ends", "b begins", "b ends", "c begins", "c ends"]);
    await Promise.all([
      visit("a", "k"),
      visit("b", "other"),
      visit("c", "k", new KeyMutex(new MemoryStore())),
    ]);
    expect(seen.slice(0, 3)).toEqual(["a begins", "b begins", "c begins"]);
  });

  test("are passed on when all are ended: those that are taken, and those waited for when they come", async () => {
    const store = new MemoryStore();
    const end = await new KeyMutex(store).take("waited");
    const turns = new KeyMutex(store);
    await turns.take("taken");
    const waiting = codeOf(turns.take("waited"));
    turns.endAll();
    await new KeyMutex(store).take("taken");
    const next = new KeyMutex(store).take("waited");
    end();
    expect(await waiting).toBe("aborted");
    (await next)();
  });
});

test("half of a character is no string; objects keep numbers that are not finite, and every digit", () => {
  const text = (...of: Parameters<typeof encodedItem>) => Buffer.from(encodedItem(...of)).toString();
  expect(text("😀", { kind: "string" })).toBe("😀");
  const half = () => encodedItem("a\ud83d", { kind: "string" });
  expect(half).toThrow(expect.objectContaining({ code: "invalid-option" }));
  const numbers = text([Number.NaN, -Infinity, 2n ** 64n], { kind: "object" });
  expect(numbers).toBe("[NaN,-Infinity,18446744073709551616]");
});
