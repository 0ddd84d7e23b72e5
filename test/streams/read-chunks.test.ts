import { describe, expect, it } from "vitest";
import { type NewArray, openArray, rechunk, slice } from "../../src/index.ts";
import { namedMemoryStore, nameMemoryStore } from "../../src/stores/memory.ts";
import type { GetOptions } from "../../src/stores/store.ts";
import { BufferPool } from "../../src/streams/buffer-pool.ts";
import { ByteBudget } from "../../src/streams/byte-budget.ts";
import type { ChunkRef, EncodedChunk } from "../../src/streams/chunk.ts";
import type { ReadChunksOptions } from "../../src/streams/chunk-reader.ts";
import { coalescingPolicy } from "../../src/streams/coalesced-reads.ts";
import { readChunks } from "../../src/streams/read-chunks.ts";
import { mergeRanges } from "../../src/util/byte-range.ts";
import { ZarrflowError } from "../../src/util/errors.ts";
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

const reading = (store: TestStore, count: number, options: ReadChunksOptions = {}) =>
  readChunks(placeIn(store), vectorRefs(count), options);

describe("readChunks", () => {
  it("reads each chunk once, with its key and all that its ref says, missing ones without bytes", async () => {
    const seen: EncodedChunk[] = [];
    const onRead = (chunk: EncodedChunk) => void seen.push(chunk);
    const chunks = await collect(reading(storeOf(20, [1, 3]), 20, { onRead }));
    expect(seen).toEqual(chunks);
    const bytesOf = (i: number) => (i === 1 || i === 3 ? undefined : new Uint8Array([i]));
    const expected = vectorRefs(20).map((ref, i) => ({ ...ref, key: `a/c/${i}`, bytes: bytesOf(i) }));
    expect(chunks.sort((a, b) => a.index - b.index)).toEqual(expected);
  });

  it("takes refs that come one by one, and closes them when canceled", async () => {
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

  it.each([
    [{ concurrency: 3 }, 3],
    [{}, 16],
  ])("reads with the options %j no more than %i at a time", async (options, most) => {
    const store = storeOf(40);
    let [running, peak] = [0, 0];
    store.beforeGet = async () => {
      peak = Math.max(peak, ++running);
      await settle(2);
      running--;
    };
    await collect(reading(store, 40, options));
    expect(peak).toBe(most);
  });

  describe("in flight", () => {
    const room = (limit: number, bytesPerChunk = 1) => ({ budget: new ByteBudget(limit), bytesPerChunk });

    it("holds a lease for each chunk from before its read until it is released, in the order of the refs", async () => {
      const store = storeOf(10);
      const order: string[] = [];
      store.beforeGet = (key) => void order.push(key);
      const inFlight = room(300, 100);
      const reader = reading(store, 10, { inFlight }).getReader();
      const held = [await reader.read(), await reader.read(), await reader.read()];
      const fourth = reader.read();
      await settle();
      expect([order.length, inFlight.budget.leased]).toEqual([3, 300]);
      held[1]?.value?.release?.();
      expect((await fourth).value?.index).toBe(3);
      expect([order.length, inFlight.budget.leased]).toEqual([4, 300]);
      await reader.cancel();
      order.length = 0;
      const single = room(1);
      for await (const chunk of reading(store, 6, { inFlight: single })) chunk.release?.();
      expect(order).toEqual(vectorRefs(6).map((_, i) => `a/c/${i}`));
      expect(single.budget.leased).toBe(0);
    });

    it("ends reads that wait for a lease when it is canceled", async () => {
      const inFlight = room(2);
      const reader = reading(storeOf(10), 10, { inFlight }).getReader();
      const chunks = [await reader.read(), await reader.read()];
      await settle();
      await reader.cancel("enough");
      for (const { value } of chunks) value?.release?.();
      expect(inFlight.budget.leased).toBe(0);
    });

    it("gives everything back that the reader did not take when it is canceled", async () => {
      const buffers = new BufferPool(2 ** 20);
      const inFlight = room(8);
      for await (const { bytes, release } of reading(storeOf(20), 20, { buffers, inFlight })) {
        await settle();
        expect([inFlight.budget.leased, buffers.taken]).toEqual([8, 8 * 4096]);
        if (bytes) buffers.give(bytes);
        release?.();
        break;
      }
      expect([inFlight.budget.leased, buffers.taken]).toEqual([0, 0]);
    });

    it("gives the leases of reads back that fail or are aborted, and refuses what can never be held", async () => {
      const store = storeOf(4);
      store.beforeGet = async (key, signal) => {
        if (key !== "a/c/2") return untilAborted(signal);
        await settle(2);
        throw keyFault(key);
      };
      const inFlight = room(4);
      await rejection(collect(reading(store, 4, { inFlight })));
      expect(inFlight.budget.leased).toBe(0);
      const reads = collect(reading(storeOf(1), 1, { inFlight: room(10, 11) }));
      expect(await rejection(reads)).toMatchObject({ code: "budget-too-small" });
    });
  });

  describe("on failure", () => {
    it.each([
      new ZarrflowError("transient", "the server is busy", { store: "test store" }),
      new RangeError("not ours"),
    ])("keeps the store's error, and adds path, coords and key where it is ours: %s", async (failure) => {
      const store = storeOf(8);
      store.beforeGet = (key) => {
        if (key === "a/c/5") throw failure;
      };
      expect(await rejection(collect(reading(store, 8)))).toBe(failure);
      const details = { store: "test store", path: "a", coords: [5], key: "a/c/5" };
      if (failure instanceof ZarrflowError) expect(failure.details).toEqual(details);
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
      expect(await rejection(collect(reading(store, 50, { concurrency: 4 })))).toBe(failure);
      await settle();
      expect(started).toBe(4);
      expect(reasons).toEqual([failure, failure, failure]);
    });

    it("passes on what the refs threw, and ends with the signal's reason when that aborts", async () => {
      const failure = new Error("no more refs");
      function* refs(): Generator<ChunkRef> {
        yield* vectorRefs(2);
        throw failure;
      }
      expect(await rejection(collect(readChunks(placeIn(storeOf(2)), refs())))).toBe(failure);
      const store = storeOf(10);
      store.beforeGet = (_, signal) => untilAborted(signal);
      const stop = new AbortController();
      const reads = rejection(collect(reading(store, 10, { signal: stop.signal })));
      await settle();
      stop.abort(failure);
      expect(await reads).toMatchObject({ code: "aborted", cause: failure });
    });
  });

  describe("buffers", () => {
    const given = (buffers: BufferPool, chunks: readonly EncodedChunk[]) => {
      for (const { bytes } of chunks) if (bytes) buffers.give(bytes);
      expect(buffers.taken).toBe(0);
    };

    it("are taken for each chunk, and are then the reader's", async () => {
      const buffers = new BufferPool(2 ** 20);
      const chunks = await collect(reading(storeOf(5, [1]), 5, { buffers }));
      expect(buffers.taken).toBe(4 * 4096);
      given(buffers, chunks);
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
      await rejection(collect(reading(store, 3, { buffers })));
      expect([buffers.peak, buffers.taken]).toEqual([3 * 4096, 0]);
    });

    it("are given back when the store asks again, or gives something else", async () => {
      const store = storeOf(2);
      const buffers = new BufferPool(2 ** 20);
      store.get = async (key, { allocate } = {}) => {
        allocate?.(1);
        const second = allocate?.(1);
        return key === "a/c/0" ? second : undefined;
      };
      const chunks = await collect(reading(store, 2, { buffers }));
      expect(buffers.taken).toBe(4096);
      given(buffers, chunks);
    });
  });

  it("takes chunks up to `maxEncodedSize`; refuses larger ones before it takes a buffer", async () => {
    const store = storeOf(1);
    const buffers = new BufferPool(2 ** 20);
    const reads = () => collect(reading(store, 1, { maxEncodedSize: 100, buffers }));
    store.values.set("a/c/0", new Uint8Array(101));
    expect(await rejection(reads())).toMatchObject({
      code: "resource-limit",
      details: { path: "a", key: "a/c/0", coords: [0], expected: "at most 100 bytes", found: "101 bytes" },
    });
    expect(buffers.peak).toBe(0);
    store.values.set("a/c/0", new Uint8Array(100));
    expect((await reads())[0]?.bytes?.length).toBe(100);
    // one that allocates by itself
    store.get = async () => new Uint8Array(101);
    expect(await rejection(reads())).toMatchObject({ code: "resource-limit" });
  });
});

describe("parts of large chunks", () => {
  const [ROWS, COLUMNS] = [512, 1024];

  /** One chunk of 2 MiB, and the bytes that are read of it. */
  async function oneChunk(options: Partial<NewArray> = { zarrFormat: "v2" }) {
    const items = Float32Array.from({ length: ROWS * COLUMNS }, (_, i) => i);
    const array = { shape: [ROWS, COLUMNS], dataType: "float32", codec: "none", ...options };
    const store = await given({ ...array, values: items });
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

  it("are read by their range, in one request: a row, columns with all between them, rows of a shard", async () => {
    const plain = await oneChunk();
    const row = await slice(plain.array, [[100, 101]]).read();
    expect(row.data).toEqual(plain.items.slice(100 * COLUMNS, 101 * COLUMNS));
    expect(plain.read).toEqual([COLUMNS * 4]);
    const turned = await oneChunk({ zarrFormat: "v2", order: "F" });
    const columns = await slice(turned.array, [
      [0, ROWS, 100],
      [7, 8],
    ]).read();
    expect([...columns.data]).toEqual([0, 1, 2, 3, 4, 5].map((i) => turned.items[i * 100 * COLUMNS + 7]));
    expect(turned.read).toEqual([501 * 4]);
    const shard = await oneChunk({ zarrFormat: "v3", shards: [ROWS, COLUMNS] });
    const rows = await slice(shard.array, [[510, 512]]).read();
    expect(rows.data).toEqual(shard.items.slice(510 * COLUMNS));
    expect(shard.read.at(-1)).toBe(2 * COLUMNS * 4);
  });

  it("take, in windows of a rechunk, no more than their part of a large chunk", async () => {
    const { array, items, read } = await oneChunk();
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
});

const KIB = 1024;
const MIB = KIB * KIB;

interface Case {
  readonly count?: number;
  readonly chunk?: number;
  readonly limit?: number;
  readonly perChunk?: number;
  readonly isRemote?: boolean;
}

/** Lengths of the requests for chunks that lie side by side, and the leases of each. */
function requests({ count = 64, chunk = 256 * KIB, limit = 256 * MIB, perChunk, isRemote = true }: Case) {
  const inFlight =
    limit === 0 ? undefined : { budget: new ByteBudget(limit), bytesPerChunk: perChunk ?? 3 * chunk };
  const { fits, leasesFor } = coalescingPolicy({ inFlight, isRemote });
  const chunks = Array.from({ length: count }, (_, i) => ({ range: { offset: i * chunk, length: chunk } }));
  const merged = mergeRanges(chunks, { fits, mostTogether: Number.POSITIVE_INFINITY });
  return merged.map((range) => [range.length / KIB, leasesFor(range.parts, range.length)]);
}

describe("chunks that are read in one request", () => {
  it("are 16 in up to 8 MiB far away, more in 1 MiB, and no more than 1 MiB near", () => {
    expect(requests({})).toEqual(Array.from({ length: 4 }, () => [4096, 16]));
    expect(requests({ chunk: MIB, count: 16 })).toEqual(Array.from({ length: 2 }, () => [8192, 8]));
    expect(requests({ chunk: 16 * KIB, count: 128 })).toEqual(Array.from({ length: 2 }, () => [1024, 64]));
    expect(requests({ isRemote: false, count: 8 })).toEqual(Array.from({ length: 2 }, () => [1024, 4]));
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
    expect(requests({ chunk, perChunk: chunk, count: 2, isRemote: false })).toEqual([
      [64, 1],
      [64, 1],
    ]);
  });
});
