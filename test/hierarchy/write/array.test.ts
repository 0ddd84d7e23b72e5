import { describe, expect, test } from "vitest";
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
import { withRequestLog } from "../../../src/stores/with/request-log.ts";
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

failOnUnhandledRejections();
const folder = temporaryFolder();

const array = { shape: [5, 6], dataType: "int16", chunks: [2, 4], dimensionNames: ["y", "x"] } as const;
const ramp = Int16Array.from({ length: 30 }, (_, i) => i);

async function created(options: object = {}) {
  const store = new MemoryStore();
  return { store, writer: await create({ store, path: "a" }, { ...array, ...options }) };
}

describe("an array being written", () => {
  test("describes itself", async () => {
    const { writer } = await created({ order: "F" });
    expect(writer).toMatchObject({
      kind: "array",
      path: "a",
      shape: [5, 6],
      chunkShape: [2, 4],
      dataType: "int16",
    });
    expect(writer.chunk).toMatchObject({ shape: [2, 4], dataType: { kind: "int", size: 2 } });
    expect(writer.strides).toEqual([1, 2]);
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

  test.each([
    ["C", "v2"],
    ["F", "v3"],
  ] as const)("is the target of the stages, in %s order and %s", async (order, zarrFormat) => {
    const source = await created({ chunks: [3, 2] });
    await source.writer.write([], ramp);
    await source.writer.close();
    const from = await openArray({ store: source.store, path: "a" });
    const { store, writer } = await created({ order, zarrFormat });
    await readChunks(from, refsOf(from.shape, from.chunkShape))
      .pipeThrough(decodeChunks(from))
      .pipeThrough(new TransformStream<DecodedChunk, DecodedChunk>())
      .pipeThrough(regrid(writer))
      .pipeThrough(encodeChunks(writer))
      .pipeTo(writeChunks(writer));
    await writer.close();
    expect(await itemsOf(store, "a")).toEqual([...ramp]);
  });

  test("nobody sees it before it is closed", async () => {
    const { store, writer } = await created();
    await writer.write([], ramp);
    await expect(openArray({ store, path: "a" })).rejects.toMatchObject({ code: "not-found" });
    await writer.close();
    expect(await itemsOf(store, "a")).toEqual([...ramp]);
  });

  test("closing waits for what is being written", async () => {
    const { store, writer } = await created();
    const writes = [0, 1, 2, 3, 4].map((y) => writer.write({ y }, ramp.subarray(6 * y, 6 * y + 6)));
    await writer.close();
    await Promise.all(writes);
    expect(await itemsOf(store, "a")).toEqual([...ramp]);
  });

  test("requests in flight are bounded for all calls together", async () => {
    const store = new TestStore();
    let now = 0;
    let most = 0;
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
  test("closing gives the array up and throws that failure", async () => {
    const store = new TestStore();
    const full = new Error("disk full");
    store.beforeSet = (key) => {
      if (key === "c/1/1") throw full;
    };
    const writer = await create(store, array);
    expect(await rejection(writer.write([], ramp))).toMatchObject({ code: "transient", cause: full });
    expect(await rejection(writer.close())).toMatchObject({ code: "transient", cause: full });
    expect([...store.values.keys()]).toEqual([]);
    expect(await rejection(writer.write([], ramp))).toMatchObject({ code: "unsupported-operation" });
  });

  test("what was refused before anything was written does no harm", async () => {
    const { store, writer } = await created();
    await writer.write([], ramp);
    expect(await rejection(writer.write([], new Int16Array(1)))).toMatchObject({ code: "invalid-option" });
    expect(await rejection(writer.write([[0, 6]], ramp))).toMatchObject({ code: "invalid-selection" });
    await writer.close();
    expect(await itemsOf(store, "a")).toEqual([...ramp]);
  });

  test("a failure to publish leaves nothing", async () => {
    const store = new TestStore();
    const broken = new Error("no");
    store.beforeSet = (key) => {
      if (key.endsWith("zarr.json")) throw broken;
    };
    const writer = await create(store, array);
    await writer.write([], ramp);
    expect(await rejection(writer.close())).toMatchObject({ code: "transient", cause: broken });
    expect([...store.values.keys()]).toEqual([]);
  });
});

describe("giving up", () => {
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
    const reason = new Error("enough");
    await writer.abort(reason);
    expect(await written).toMatchObject({ code: "aborted", cause: reason });
    await writer.abort();
    expect([...store.values.keys()]).toEqual([]);
  });

  test("by the caller's signal: calls fail with its reason, and closing leaves nothing", async () => {
    const store = new MemoryStore();
    const controller = new AbortController();
    const writer = await create({ store, path: "a" }, array, { signal: controller.signal });
    await writer.write({ y: 0 }, ramp.subarray(0, 6));
    const reason = new Error("enough");
    controller.abort(reason);
    expect(await rejection(writer.write([], ramp))).toMatchObject({ code: "aborted", cause: reason });
    expect(await rejection(writer.close())).toMatchObject({ code: "aborted", cause: reason });
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
    const thrown = new Error("half way");
    expect(await rejection(run(() => Promise.reject(thrown)))).toBe(thrown);
    expect(await keysOf(store)).toEqual([]);
    await run((writer) => writer.close());
    expect(await itemsOf(store, "a")).toEqual([...ramp]);
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
    expect(await itemsOf(store, "a")).toEqual([...ramp]);
  });

  test("takes what `slice(...).chunks()` gives, through a stage of the caller's", async () => {
    const source = await created({ chunks: [3, 5], order: "F" });
    await source.writer.write([], ramp);
    await source.writer.close();
    const { store, writer } = await created();
    const from = await openArray({ store: source.store, path: "a" });
    const negated = new TransformStream<ArrayPart, ArrayPart>({
      transform(part, controller) {
        controller.enqueue({ ...part, data: (part.data as Int16Array).map((n) => -n) });
      },
    });
    await slice(from).chunks().pipeThrough(negated).pipeTo(writer.writable);
    expect(await itemsOf(store, "a")).toEqual(Array.from(ramp, (n) => (n === 0 ? 0 : -n)));
  });

  test.each([
    ["a part that is wrong", [partOf(0), { ...partOf(1), data: new Int16Array(5) }, partOf(2)]],
    ["a part outside", [partOf(0), { ...partOf(1), region: { start: [5, 0], shape: [1, 6] } }]],
  ])("%s leaves nothing", async (_, parts) => {
    const { store, writer } = await created();
    expect(await rejection(streamFrom(parts).pipeTo(writer.writable))).toMatchObject({
      code: expect.stringMatching(/^invalid-/),
    });
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
    expect(await rejection(writer.close())).toMatchObject({ code: "unsupported-operation" });
  });
});

describe("a chunk that comes in parts", () => {
  const rows = { shape: [40, 6], dataType: "int16", chunks: [20, 4], codec: "none" } as const;
  const values = Int16Array.from({ length: 240 }, (_, i) => i + 1);
  const parts = Array.from({ length: 40 }, (_, y) => ({
    region: { start: [y, 0], shape: [1, 6] },
    data: values.slice(6 * y, 6 * y + 6),
  }));

  async function counted(run: (store: WritableStore) => Promise<void>) {
    const store = new MemoryStore();
    const calls = { get: 0, set: 0 };
    const logged = withRequestLog(store, ({ operation, key }) => {
      if (key.startsWith("c/") && (operation === "get" || operation === "set")) calls[operation]++;
    });
    await run(logged);
    expect([...(await slice(await openArray(store)).read()).data]).toEqual([...values]);
    return calls;
  }

  test("is stored once, and never read", async () => {
    const calls = await counted(async (store) => {
      const writer = await create(store, rows);
      await streamFrom(parts).pipeTo(writer.writable);
    });
    expect(calls).toEqual({ get: 0, set: 4 });
  });

  test("is stored in part and read back where memory has no room for all", async () => {
    const tight = await rejection(create(new MemoryStore(), rows, { maxMemory: "1 kB" }));
    expect(tight).toMatchObject({ code: "budget-too-small", details: { found: "1000 bytes" } });
    const { neededBytes } = (tight as ErrorOf<"budget-too-small">).details;
    const calls = await counted(async (store) => {
      const writer = await create(store, rows, { maxMemory: neededBytes });
      await Promise.all(parts.map((part) => writer.writePart(part)));
      await writer.close();
    });
    expect(calls.set).toBeGreaterThan(4);
    expect(calls.get).toBeLessThanOrEqual(calls.set);
  });

  test("in a zip, which takes each once", async () => {
    const path = folder.next("a.zip");
    await streamFrom(parts).pipeTo((await create(path, rows)).writable);
    expect([...(await slice(path).read()).data]).toEqual([...values]);
    const again = await create(folder.next("a.zip"), rows);
    await again.write([], values);
    const error = await rejection(again.write([0], values.subarray(0, 6)).then(() => again.close()));
    expect(error).toMatchObject({
      code: "unsupported-operation",
      details: { coords: [0, 0], hint: expect.stringContaining("maxMemory") },
    });
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
    expect([...(await slice(await openArray(store)).read()).data]).toEqual(["a", "BBBB", "", "ddd"]);
  });

  test.each(["uint8", "string"] as const)(
    "of very many pieces of %s is stored before its end",
    async (dataType) => {
      const store = new MemoryStore();
      const count = 2500;
      let sets = 0;
      const logged = withRequestLog(store, ({ operation, key }) => {
        if (operation === "set" && key.startsWith("c/")) sets++;
      });
      const writer = await create(logged, { shape: [count], chunks: [count], dataType, codec: "none" });
      const values = Array.from({ length: count }, (_, i) => (dataType === "string" ? `${i % 7}` : i % 7));
      for (let i = 0; i < count; i += 2) await writer.write([[i, i + 1]], values.slice(i, i + 1));
      await writer.close();
      expect(sets).toBeGreaterThan(1);
      expect(sets).toBeLessThan(10);
      const nothing = dataType === "string" ? "" : 0;
      const expected = values.map((value, i) => (i % 2 === 0 ? value : nothing));
      expect([...(await slice(await openArray(store)).read()).data]).toEqual(expected);
    },
  );

  test("is the only one that is stored for want of memory", async () => {
    const store = new MemoryStore();
    const grid = { shape: [64, 4096], chunks: [1, 4096], dataType: "uint8", codec: "none" } as const;
    let sets = 0;
    const logged = withRequestLog(store, ({ operation, key }) => {
      if (operation === "set" && key.startsWith("c/")) sets++;
    });
    const tight = (await rejection(
      create(new MemoryStore(), grid, { maxMemory: 1 }),
    )) as ErrorOf<"budget-too-small">;
    const writer = await create(logged, grid, { maxMemory: 8 * tight.details.neededBytes });
    let written = 0;
    while (sets === 0) await writer.write([written++, 0], Uint8Array.of(1));
    expect(written).toBeGreaterThan(4);
    expect(sets).toBe(1);
    await writer.abort();
  });

  test("of nothing but the fill value in a zip can be written again", async () => {
    const path = folder.next("a.zip");
    const writer = await create(path, { shape: [2], chunks: [2], dataType: "uint8", codec: "none" });
    await writer.write([], Uint8Array.of(0, 0));
    await writer.write([1], Uint8Array.of(7));
    await writer.close();
    expect([...(await slice(path).read()).data]).toEqual([0, 7]);
  });

  test("the last write of an item counts; what nobody writes is the fill value", async () => {
    const store = new MemoryStore();
    const writer = await create(store, { ...rows, fillValue: -1 });
    await writer.write([0], values.subarray(0, 6));
    await writer.write([0, [1, 3]], Int16Array.of(50, 51));
    await writer.close();
    const { data } = await slice(await openArray(store), [[0, 2]]).read();
    expect([...data]).toEqual([1, 50, 51, 4, 5, 6, -1, -1, -1, -1, -1, -1]);
  });

  test.each([
    ["chunks of another grid", false],
    ["chunks of the target's grid", true],
  ])("may be what the stages give: %s", async (_, isRegridded) => {
    const from = await create(new MemoryStore(), { ...rows, chunks: [7, 3], order: "F" });
    await from.write([], values);
    await from.close();
    const source = await openArray(from.store);
    const calls = await counted(async (store) => {
      const writer = await create(store, rows);
      const decoded = readChunks(source, refsOf(source.shape, source.chunkShape)).pipeThrough(
        decodeChunks(source),
      );
      await (isRegridded ? decoded.pipeThrough(regrid(writer)) : decoded).pipeTo(writer.writable);
    });
    expect(calls).toEqual({ get: 0, set: 4 });
  });
});
