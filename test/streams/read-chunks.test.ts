import { describe, expect, it, test } from "vitest";
import { type NewArray, openArray, rechunk, slice } from "../../src/index.ts";
import { namedMemoryStore, nameMemoryStore } from "../../src/stores/memory.ts";
import type { GetOptions } from "../../src/stores/store.ts";
import { BufferPool } from "../../src/streams/buffer-pool.ts";
import { ByteBudget } from "../../src/streams/byte-budget.ts";
import type { ChunkRef, EncodedChunk } from "../../src/streams/chunk.ts";
import { readChunks } from "../../src/streams/read-chunks.ts";
import { together } from "../../src/streams/read-together.ts";
import { ZarrflowError } from "../../src/util/errors.ts";
import { mergeRanges } from "../../src/util/merge-ranges.ts";
import { given } from "../support/given.ts";
import {
  collect,
  failOnUnhandledRejections,
  placeIn,
  rejection,
  settle,
  TestStore,
  untilAborted,
  vectorRefs,
} from "./support.ts";

failOnUnhandledRejections();

/** A store with chunk `i` of vector `a` holding the byte `i`, but without those that are `missing`. */
function storeOf(count: number, missing: readonly number[] = []): TestStore {
  const store = new TestStore();
  for (let i = 0; i < count; i++) if (!missing.includes(i)) store.values.set(`a/c/${i}`, new Uint8Array([i]));
  return store;
}

function keyFault(key: string): ZarrflowError {
  return new ZarrflowError("access-denied", "no right to read", { store: "test store", key });
}

describe("readChunks", () => {
  it("reads each chunk once, with its key and all that its ref says", async () => {
    const refs = vectorRefs(20);
    const chunks = await collect(readChunks(placeIn(storeOf(20)), refs));
    const expected = refs.map((ref, i) => ({ ...ref, key: `a/c/${i}`, bytes: new Uint8Array([i]) }));
    expect(chunks.sort((a, b) => a.index - b.index)).toEqual(expected);
  });

  it("takes refs that come one by one, and closes them when cancelled", async () => {
    let closed = false;
    async function* refs() {
      try {
        yield* vectorRefs(20);
      } finally {
        closed = true;
      }
    }
    const reader = readChunks(placeIn(storeOf(20)), refs(), { concurrency: 2 }).getReader();
    expect((await reader.read()).value?.bytes).toBeDefined();
    await reader.cancel();
    await settle();
    expect(closed).toBe(true);
  });

  it("gives a missing chunk as one without bytes, never as an error", async () => {
    const chunks = await collect(readChunks(placeIn(storeOf(4, [1, 3])), vectorRefs(4)));
    const present = chunks.sort((a, b) => a.index - b.index).map(({ bytes }) => bytes !== undefined);
    expect(present).toEqual([true, false, true, false]);
  });

  it("reads no more at a time than `concurrency`, and 16 by default", async () => {
    for (const [options, most] of [
      [{ concurrency: 3 }, 3],
      [{}, 16],
    ] as const) {
      const store = storeOf(40);
      let reading = 0;
      let peak = 0;
      store.beforeGet = async () => {
        peak = Math.max(peak, ++reading);
        await settle(2);
        reading--;
      };
      await collect(readChunks(placeIn(store), vectorRefs(40), options));
      expect(peak).toBe(most);
    }
  });

  it("calls `onRead` for each chunk when it is read", async () => {
    const seen: EncodedChunk[] = [];
    const options = { onRead: (chunk: EncodedChunk) => seen.push(chunk) };
    const chunks = await collect(readChunks(placeIn(storeOf(5, [2])), vectorRefs(5), options));
    expect(seen).toEqual(chunks);
    expect(seen.filter(({ bytes }) => bytes === undefined).map(({ key }) => key)).toEqual(["a/c/2"]);
  });

  describe("in flight", () => {
    it("holds a lease for each chunk from before its read until it is released", async () => {
      const store = storeOf(10);
      let started = 0;
      store.beforeGet = () => {
        started++;
      };
      const budget = new ByteBudget(300);
      const inFlight = { budget, bytesPerChunk: 100 };
      const reader = readChunks(placeIn(store), vectorRefs(10), { inFlight }).getReader();
      const held: EncodedChunk[] = [];
      for (let i = 0; i < 3; i++) {
        const { value } = await reader.read();
        if (value) held.push(value);
      }
      const fourth = reader.read();
      await settle();
      expect({ started, leased: budget.leased }).toEqual({ started: 3, leased: 300 });
      held[1]?.release?.();
      expect((await fourth).value?.index).toBe(3);
      expect({ started, leased: budget.leased }).toEqual({ started: 4, leased: 300 });
      await reader.cancel();
    });

    it("takes its leases in the order of the refs", async () => {
      const store = storeOf(6);
      const order: string[] = [];
      store.beforeGet = (key) => {
        order.push(key);
      };
      const inFlight = { budget: new ByteBudget(1), bytesPerChunk: 1 };
      for await (const chunk of readChunks(placeIn(store), vectorRefs(6), { inFlight })) chunk.release?.();
      expect(order).toEqual(vectorRefs(6).map((_, i) => `a/c/${i}`));
      expect(inFlight.budget.leased).toBe(0);
    });

    it("ends reads that wait for a lease when it is cancelled", async () => {
      const budget = new ByteBudget(2);
      const inFlight = { budget, bytesPerChunk: 1 };
      const reader = readChunks(placeIn(storeOf(10)), vectorRefs(10), { inFlight }).getReader();
      const chunks = [await reader.read(), await reader.read()];
      await settle();
      await reader.cancel("enough");
      for (const { value } of chunks) value?.release?.();
      expect(budget.leased).toBe(0);
    });

    it("gives everything back that the reader did not take when it is cancelled", async () => {
      const buffers = new BufferPool(2 ** 20);
      const inFlight = { budget: new ByteBudget(8), bytesPerChunk: 1 };
      const reads = readChunks(placeIn(storeOf(20)), vectorRefs(20), { buffers, inFlight });
      for await (const { bytes, release } of reads) {
        await settle();
        expect({ leased: inFlight.budget.leased, taken: buffers.taken }).toEqual({
          leased: 8,
          taken: 8 * 4096,
        });
        if (bytes) buffers.give(bytes);
        release?.();
        break;
      }
      expect({ leased: inFlight.budget.leased, taken: buffers.taken }).toEqual({ leased: 0, taken: 0 });
    });

    it("gives the leases of reads back that fail or are aborted", async () => {
      const store = storeOf(4);
      store.beforeGet = async (key, signal) => {
        if (key !== "a/c/2") return untilAborted(signal);
        await settle(2);
        throw keyFault(key);
      };
      const budget = new ByteBudget(4);
      const inFlight = { budget, bytesPerChunk: 1 };
      await rejection(collect(readChunks(placeIn(store), vectorRefs(4), { inFlight })));
      expect(budget.leased).toBe(0);
    });

    it("refuses chunks that the budget can never hold", async () => {
      const inFlight = { budget: new ByteBudget(10), bytesPerChunk: 11 };
      const reads = readChunks(placeIn(storeOf(1)), vectorRefs(1), { inFlight });
      expect(await rejection(collect(reads))).toMatchObject({ code: "budget-too-small" });
    });
  });

  describe("on failure", () => {
    it("keeps the store's error and adds path, coords and key", async () => {
      const store = storeOf(8);
      const failure = new ZarrflowError("transient", "the server is busy", { store: "test store" });
      store.beforeGet = (key) => {
        if (key === "a/c/5") throw failure;
      };
      const error = await rejection(collect(readChunks(placeIn(store), vectorRefs(8))));
      expect(error).toBe(failure);
      expect(failure.details).toEqual({ store: "test store", path: "a", coords: [5], key: "a/c/5" });
    });

    it("passes errors of other kinds on as they are", async () => {
      const store = storeOf(3);
      const failure = new RangeError("not ours");
      store.beforeGet = () => Promise.reject(failure);
      expect(await rejection(collect(readChunks(placeIn(store), vectorRefs(3))))).toBe(failure);
    });

    it("aborts the other reads with it and starts no more", async () => {
      const store = storeOf(50);
      const reasons: unknown[] = [];
      let started = 0;
      const failure = keyFault("a/c/1");
      store.beforeGet = async (key, signal) => {
        started++;
        if (key !== "a/c/1") return untilAborted(signal).finally(() => reasons.push(signal?.reason));
        await settle(2);
        throw failure;
      };
      const reads = readChunks(placeIn(store), vectorRefs(50), { concurrency: 4 });
      expect(await rejection(collect(reads))).toBe(failure);
      await settle();
      expect(started).toBe(4);
      expect(reasons).toEqual([failure, failure, failure]);
    });

    it("passes on what the refs threw", async () => {
      const failure = new Error("no more refs");
      function* refs(): Generator<ChunkRef> {
        yield* vectorRefs(2);
        throw failure;
      }
      expect(await rejection(collect(readChunks(placeIn(storeOf(2)), refs())))).toBe(failure);
    });
  });

  it("ends with the signal's reason when that aborts", async () => {
    const store = storeOf(10);
    store.beforeGet = (_, signal) => untilAborted(signal);
    const abort = new AbortController();
    const reads = rejection(collect(readChunks(placeIn(store), vectorRefs(10), { signal: abort.signal })));
    await settle();
    const reason = new Error("stop");
    abort.abort(reason);
    expect(await reads).toMatchObject({ code: "aborted", cause: reason });
  });

  describe("buffers", () => {
    it("are taken for each chunk, and are then the reader's", async () => {
      const buffers = new BufferPool(2 ** 20);
      const chunks = await collect(readChunks(placeIn(storeOf(5, [1])), vectorRefs(5), { buffers }));
      expect(buffers.taken).toBe(4 * 4096);
      for (const { bytes } of chunks) if (bytes) buffers.give(bytes);
      expect(buffers.taken).toBe(0);
    });

    it("are given back by reads that fail halfway, and by those that end after another failed", async () => {
      const store = storeOf(3);
      const buffers = new BufferPool(2 ** 20);
      const get = store.get.bind(store);
      store.get = async (key, options) => {
        const bytes = await get(key, options);
        await settle(key === "a/c/1" ? 2 : 4);
        if (key === "a/c/1") throw keyFault(key);
        return bytes;
      };
      await rejection(collect(readChunks(placeIn(store), vectorRefs(3), { buffers })));
      expect(buffers.peak).toBe(3 * 4096);
      expect(buffers.taken).toBe(0);
    });

    it("are given back when the store asks again, or gives something else", async () => {
      const store = storeOf(2);
      const buffers = new BufferPool(2 ** 20);
      store.get = async (key, { allocate } = {}) => {
        allocate?.(1);
        const second = allocate?.(1);
        return key === "a/c/0" ? second : undefined;
      };
      const chunks = await collect(readChunks(placeIn(store), vectorRefs(2), { buffers }));
      expect(buffers.taken).toBe(4096);
      for (const { bytes } of chunks) if (bytes) buffers.give(bytes);
      expect(buffers.taken).toBe(0);
    });
  });

  describe("maxEncodedSize", () => {
    it("takes a chunk of exactly that size", async () => {
      const store = storeOf(1);
      store.values.set("a/c/0", new Uint8Array(100));
      const [chunk] = await collect(readChunks(placeIn(store), vectorRefs(1), { maxEncodedSize: 100 }));
      expect(chunk?.bytes?.length).toBe(100);
    });

    it("refuses a larger one before it takes a buffer", async () => {
      const store = storeOf(1);
      store.values.set("a/c/0", new Uint8Array(101));
      const buffers = new BufferPool(2 ** 20);
      const reads = readChunks(placeIn(store), vectorRefs(1), { maxEncodedSize: 100, buffers });
      const error = await rejection(collect(reads));
      expect(error).toMatchObject({
        code: "resource-limit",
        details: { path: "a", key: "a/c/0", coords: [0], expected: "at most 100 bytes", found: "101 bytes" },
      });
      expect(buffers.peak).toBe(0);
    });

    it("refuses a larger one from a store that allocates by itself", async () => {
      const store = storeOf(1);
      store.get = async () => new Uint8Array(101);
      const reads = readChunks(placeIn(store), vectorRefs(1), { maxEncodedSize: 100 });
      expect(await rejection(collect(reads))).toMatchObject({ code: "resource-limit" });
    });
  });
});

const [ROWS, COLUMNS] = [512, 1024];
const ROW = COLUMNS * 4;

/** One chunk of 2 MiB, and the bytes that are read of it. */
async function oneChunk(options: Partial<NewArray>) {
  const items = Float32Array.from({ length: ROWS * COLUMNS }, (_, i) => i);
  const store = await given({ shape: [ROWS, COLUMNS], dataType: "float32", ...options, values: items });
  const read: number[] = [];
  const counting = {
    description: "a store that counts",
    async get(key: string, how: GetOptions = {}) {
      const bytes = await store.get(key, how);
      if (/\d$/.test(key)) read.push(bytes?.length ?? 0);
      return bytes;
    },
    size: store.size.bind(store),
  };
  return { array: await openArray(counting), items, read };
}

test("a row of a plain chunk is read by its range, in one request", async () => {
  const { array, items, read } = await oneChunk({ zarrFormat: "v2", codec: "none" });
  const { data } = await slice(array, [[100, 101]]).read();
  expect([...data]).toEqual([...items.subarray(100 * COLUMNS, 101 * COLUMNS)]);
  expect(read).toEqual([ROW]);
});

test("columns are read with all between them, whichever way round the chunk lies", async () => {
  const { array, items, read } = await oneChunk({ zarrFormat: "v2", codec: "none", order: "F" });
  const { data } = await slice(array, [
    [0, ROWS, 100],
    [7, 8],
  ]).read();
  expect([...data]).toEqual([0, 1, 2, 3, 4, 5].map((i) => items[i * 100 * COLUMNS + 7]));
  expect(read).toEqual([501 * 4]);
});

test("a row of an inner chunk is read by its range within the shard", async () => {
  const { array, items, read } = await oneChunk({ zarrFormat: "v3", codec: "none", shards: [ROWS, COLUMNS] });
  const { data } = await slice(array, [[510, 512]]).read();
  expect([...data]).toEqual([...items.subarray(510 * COLUMNS)]);
  expect(read.at(-1)).toBe(2 * ROW);
});

test("windows of a rechunk take no more than their part of a large chunk", async () => {
  const { array, items, read } = await oneChunk({ zarrFormat: "v2", codec: "none" });
  const options = { chunks: [16, COLUMNS], maxMemory: "6MB", strategy: "direct" } as const;
  const report = await rechunk(array, "memory:parts", options);
  try {
    expect(namedMemoryStore("parts")).toBeDefined();
    const { data } = await slice("memory:parts").read();
    expect(items.every((item, i) => item === data[i])).toBe(true);
    expect(data.length).toBe(items.length);
    expect(read.length).toBe(report.chunksRead);
    expect(read.reduce((sum, bytes) => sum + bytes, 0)).toBeLessThanOrEqual(2 * items.byteLength);
  } finally {
    nameMemoryStore("parts", undefined);
  }
});

const KIB = 1024;
const MIB = KIB * KIB;

interface Case {
  readonly count?: number;
  readonly chunk?: number;
  readonly limit?: number;
  readonly perChunk?: number;
  readonly isFar?: boolean;
}

/** Lengths of the requests for chunks that lie side by side, and the leases of each. */
function requests({ count = 64, chunk = 256 * KIB, limit = 256 * MIB, perChunk, isFar = true }: Case) {
  const inFlight =
    limit === 0 ? undefined : { budget: new ByteBudget(limit), bytesPerChunk: perChunk ?? 3 * chunk };
  const reading = together<{ range: { offset: number; length: number } }>({
    inFlight,
    isFar,
    bytesOf: ({ range }) => range.length,
  });
  const parts = Array.from({ length: count }, (_, i) => ({ range: { offset: i * chunk, length: chunk } }));
  const merged = mergeRanges(parts, { fits: reading.fits, mostTogether: Number.POSITIVE_INFINITY });
  return merged.map((range) => [range.length / KIB, reading.leases(range.parts, range.length)]);
}

describe("chunks that are read in one request", () => {
  it("are 16 in up to 8 MiB far away, more in 1 MiB, and no more than 1 MiB near", () => {
    expect(requests({})).toEqual(Array.from({ length: 4 }, () => [4096, 16]));
    expect(requests({ chunk: MIB, count: 16 })).toEqual(Array.from({ length: 2 }, () => [8192, 8]));
    expect(requests({ chunk: 16 * KIB, count: 128 })).toEqual(Array.from({ length: 2 }, () => [1024, 64]));
    expect(requests({ isFar: false, count: 8 })).toEqual(Array.from({ length: 2 }, () => [1024, 4]));
  });

  it("are so few that four requests fit what may be in flight", () => {
    expect(requests({ limit: 24 * MIB, count: 16 })).toEqual([
      [2048, 8],
      [2048, 8],
    ]);
    expect(requests({ limit: 0, count: 8 })).toEqual(Array.from({ length: 2 }, () => [1024, 4]));
  });

  it("take more leases far away where those of the parts are too small, and are apart near", () => {
    const chunk = 64 * KIB;
    expect(requests({ chunk, perChunk: chunk, count: 16 })).toEqual([[1024, 32]]);
    expect(requests({ chunk, perChunk: chunk, count: 2, isFar: false })).toEqual([
      [64, 1],
      [64, 1],
    ]);
  });
});
