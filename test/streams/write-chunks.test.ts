import { describe, expect, it } from "vitest";
import type { StoredValue } from "../../src/stores/store.ts";
import { BufferPool } from "../../src/streams/buffer-pool.ts";
import type { EncodedChunk } from "../../src/streams/chunk.ts";
import { type WriteChunksOptions, writeChunks } from "../../src/streams/write-chunks.ts";
import { ZarrflowError } from "../../src/util/errors.ts";
import { streamFrom } from "../../src/util/web-streams.ts";
import {
  type Deferred,
  deferred,
  failOnUnhandledRejections,
  placeIn,
  rejection,
  settle,
  TestStore,
  untilAborted,
  vectorRefs,
} from "./support.ts";

failOnUnhandledRejections();

function chunksOf(count: number, bytesOf = (i: number): Uint8Array | undefined => new Uint8Array([i])) {
  return vectorRefs(count).map((ref, i): EncodedChunk => ({ ...ref, bytes: bytesOf(i) }));
}

/** A store whose writes the test ends one by one, by key. */
function gatedStore() {
  const store = new TestStore();
  const gates = new Map<string, Deferred>();
  store.beforeSet = (key, signal) => {
    const gate = deferred();
    gates.set(key, gate);
    return Promise.race([gate.promise, untilAborted(signal)]);
  };
  return { store, gates };
}

const write = (chunks: Iterable<EncodedChunk>, store: TestStore, options: WriteChunksOptions = {}) =>
  streamFrom(chunks).pipeTo(writeChunks(placeIn(store), options));

describe("writeChunks", () => {
  it("writes each chunk under its key, but none without bytes, whose key it removes when asked", async () => {
    const store = new TestStore();
    await write(chunksOf(30), store);
    const expected = chunksOf(30).map(({ bytes }, i) => [`a/c/${i}`, bytes]);
    expect(Object.fromEntries(store.values)).toEqual(Object.fromEntries(expected));
    store.values.delete("a/c/1");
    const none = chunksOf(3, (i) => (i > 0 ? undefined : new Uint8Array(0)));
    await write(none, store);
    const lengths = () => [0, 1, 2].map((i) => store.values.get(`a/c/${i}`)?.length);
    expect(lengths()).toEqual([0, undefined, 1]);
    await write(none, store, { removeMissing: true });
    expect(lengths()).toEqual([0, undefined, undefined]);
  });

  it.each([
    [{}, { key: "a/c/0", size: 1, crc32: 0xd202ef8d }],
    [{ checksums: false }, { key: "a/c/0", size: 1 }],
  ])("reports what is stored, and its CRC-32 unless nobody asks for it: %j", async (options, told) => {
    const stored: StoredValue[] = [];
    const onStored = (value: StoredValue) => void stored.push(value);
    await write(chunksOf(1), new TestStore(), { ...options, onStored });
    expect(stored).toEqual([told]);
  });

  it.each([
    [{ concurrency: 3 }, 3],
    [{}, 16],
  ])("writes with the options %j no more than %i at a time", async (options, most) => {
    const { store, gates } = gatedStore();
    const piped = write(chunksOf(40), store, options);
    await settle();
    expect(gates.size).toBe(most);
    store.beforeSet = () => {};
    for (const gate of gates.values()) gate.resolve();
    await piped;
    expect(store.values.size).toBe(40);
  });

  it("commits in any order, calls `onWritten` then, and gives buffers and places in flight back", async () => {
    const { store, gates } = gatedStore();
    const buffers = new BufferPool(2 ** 20);
    const [released, written]: [number[], [string, number][]] = [[], []];
    const chunks = chunksOf(4, (i) => (i === 3 ? undefined : buffers.take(10))).map((chunk) => ({
      ...chunk,
      release: () => released.push(chunk.index),
    }));
    const onWritten = ({ key, bytes }: EncodedChunk & { key: string }) => {
      expect(store.values.has(key)).toBe(bytes !== undefined);
      written.push([key, buffers.taken / 4096]);
    };
    const piped = write(chunks, store, { buffers, onWritten });
    await settle();
    expect({ taken: buffers.taken, released, written }).toEqual({
      ...{ taken: 3 * 4096, released: [3] },
      written: [["a/c/3", 3]],
    });
    for (const [left, i] of [2, 0, 1].entries()) {
      gates.get(`a/c/${i}`)?.resolve();
      await settle();
      expect([buffers.taken, released.at(-1)]).toEqual([(2 - left) * 4096, i]);
    }
    await piped;
    expect(written.slice(1)).toEqual([
      ["a/c/2", 3],
      ["a/c/0", 2],
      ["a/c/1", 1],
    ]);
  });

  it("closes only when all writes are committed, and tells of a failure then", async () => {
    for (const failure of [undefined, new Error("broken")]) {
      const { store, gates } = gatedStore();
      const writer = writeChunks(placeIn(store)).getWriter();
      for (const chunk of chunksOf(2)) await writer.write(chunk);
      let closed = false;
      const closing = writer.close().then(() => {
        closed = true;
      });
      gates.get("a/c/0")?.resolve();
      await settle();
      expect(closed).toBe(false);
      if (failure) gates.get("a/c/1")?.reject(failure);
      else gates.get("a/c/1")?.resolve();
      if (failure) expect(await rejection(closing)).toBe(failure);
      else await closing;
      expect(store.values.size).toBe(failure ? 1 : 2);
    }
  });

  describe("on failure", () => {
    it("errors with the store's error, which got path, coords and key", async () => {
      const store = new TestStore();
      const failure = new ZarrflowError("no-space", "the disk is full", { store: "test store" });
      store.beforeSet = (key) => {
        if (key === "a/c/5") throw failure;
      };
      expect(await rejection(write(chunksOf(20), store))).toBe(failure);
      expect(failure.details).toEqual({ store: "test store", path: "a", coords: [5], key: "a/c/5" });
    });

    it("aborts a source that has nothing to write just then", async () => {
      const { store, gates } = gatedStore();
      let canceled: unknown;
      const chunks = chunksOf(1);
      const stream = streamFrom<EncodedChunk>({
        [Symbol.asyncIterator]: () => ({
          async next() {
            const value = chunks.pop() ?? (await deferred<never>().promise);
            return { done: false, value };
          },
          async return(reason) {
            canceled = reason;
            return { done: true, value: undefined };
          },
        }),
      });
      const piped = rejection(stream.pipeTo(writeChunks(placeIn(store))));
      await settle();
      const failure = new Error("broken");
      gates.get("a/c/0")?.reject(failure);
      expect(await piped).toBe(failure);
      expect(canceled).toBe(failure);
    });

    it("aborts the other writes, waits for them, and gives all back", async () => {
      const { store, gates } = gatedStore();
      const buffers = new BufferPool(2 ** 20);
      const released: number[] = [];
      const chunks = chunksOf(3, () => buffers.take(1)).map((chunk) => ({
        ...chunk,
        release: () => released.push(chunk.index),
      }));
      const piped = rejection(write(chunks, store, { buffers }));
      await settle();
      gates.get("a/c/1")?.reject(new Error("broken"));
      expect(await piped).toEqual(new Error("broken"));
      expect(released.sort()).toEqual([0, 1, 2]);
      expect(buffers.taken).toBe(0);
      expect(store.values.size).toBe(0);
    });
  });

  describe("aborted", () => {
    const reason = new Error("stop");

    it("by its writer it ends the running writes, also when no more fit, and waits for them", async () => {
      const store = new TestStore();
      const reasons: unknown[] = [];
      const ending = deferred();
      store.beforeSet = (_, signal) =>
        untilAborted(signal).finally(async () => {
          reasons.push(signal?.reason);
          await ending.promise;
        });
      const writer = writeChunks(placeIn(store), { concurrency: 2 }).getWriter();
      const writes = Promise.allSettled(chunksOf(4).map((chunk) => writer.write(chunk)));
      await settle();
      let aborted = false;
      const abort = writer.abort(reason).then(() => {
        aborted = true;
      });
      await settle();
      expect(reasons).toEqual([reason, reason]);
      expect(aborted).toBe(false);
      ending.resolve();
      await abort;
      expect((await writes).at(-1)).toEqual({ status: "rejected", reason });
      expect(store.values.size).toBe(0);
    });

    it("by a signal it errors with the reason", async () => {
      const { store } = gatedStore();
      const stop = new AbortController();
      const piped = rejection(write(chunksOf(3), store, { signal: stop.signal }));
      await settle();
      stop.abort(reason);
      expect(await piped).toMatchObject({ code: "aborted", cause: reason });
      expect(store.values.size).toBe(0);
    });
  });
});
