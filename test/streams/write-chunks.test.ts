import { describe, expect, it } from "vitest";
import type { StoredValue } from "../../src/stores/store.ts";
import { BufferPool } from "../../src/streams/buffer-pool.ts";
import type { EncodedChunk } from "../../src/streams/chunk.ts";
import { streamFrom } from "../../src/streams/web.ts";
import { writeChunks } from "../../src/streams/write-chunks.ts";
import { ZarrflowError } from "../../src/util/errors.ts";
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

describe("writeChunks", () => {
  it("writes each chunk under its key", async () => {
    const store = new TestStore();
    await streamFrom(chunksOf(30)).pipeTo(writeChunks(placeIn(store)));
    const expected = chunksOf(30).map(({ bytes }, i) => [`a/c/${i}`, bytes]);
    expect(Object.fromEntries(store.values)).toEqual(Object.fromEntries(expected));
  });

  it("writes no key for a chunk without bytes, and one for a chunk of no bytes", async () => {
    const store = new TestStore();
    const chunks = chunksOf(3, (i) => (i === 1 ? undefined : new Uint8Array(0)));
    await streamFrom(chunks).pipeTo(writeChunks(placeIn(store)));
    expect([...store.values.keys()].sort()).toEqual(["a/c/0", "a/c/2"]);
  });

  it("reports what is stored, and its CRC-32 unless nobody asks for it", async () => {
    for (const [options, told] of [
      [{}, { key: "a/c/0", size: 1, crc32: 0xd202ef8d }],
      [{ checksums: false }, { key: "a/c/0", size: 1 }],
    ] as const) {
      const stored: StoredValue[] = [];
      const onStored = (value: StoredValue) => void stored.push(value);
      await streamFrom(chunksOf(1)).pipeTo(writeChunks(placeIn(new TestStore()), { ...options, onStored }));
      expect(stored).toEqual([told]);
    }
  });

  it("writes no more at a time than `concurrency`, and 16 by default", async () => {
    for (const [options, most] of [
      [{ concurrency: 3 }, 3],
      [{}, 16],
    ] as const) {
      const { store, gates } = gatedStore();
      const piped = streamFrom(chunksOf(40)).pipeTo(writeChunks(placeIn(store), options));
      await settle();
      expect(gates.size).toBe(most);
      store.beforeSet = () => {};
      for (const gate of gates.values()) gate.resolve();
      await piped;
      expect(store.values.size).toBe(40);
    }
  });

  it("commits in any order, and calls `onWritten` for each chunk when it is", async () => {
    const { store, gates } = gatedStore();
    const written: string[] = [];
    const sink = writeChunks(placeIn(store), {
      onWritten({ key, bytes }) {
        expect(store.values.has(key)).toBe(bytes !== undefined);
        written.push(key);
      },
    });
    const piped = streamFrom(chunksOf(4, (i) => (i === 3 ? undefined : new Uint8Array([i])))).pipeTo(sink);
    await settle();
    expect(written).toEqual(["a/c/3"]);
    for (const i of [2, 0, 1]) {
      gates.get(`a/c/${i}`)?.resolve();
      await settle();
    }
    await piped;
    expect(written).toEqual(["a/c/3", "a/c/2", "a/c/0", "a/c/1"]);
  });

  it("closes only when all writes are committed", async () => {
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
    gates.get("a/c/1")?.resolve();
    await closing;
    expect(store.values.size).toBe(2);
  });

  it("gives buffers and places in flight back when their chunk is committed, not before", async () => {
    const { store, gates } = gatedStore();
    const buffers = new BufferPool(2 ** 20);
    const released: number[] = [];
    const chunks = chunksOf(3, (i) => (i === 2 ? undefined : buffers.take(10))).map((chunk) => ({
      ...chunk,
      release: () => released.push(chunk.index),
    }));
    const atCommit: number[] = [];
    const onWritten = ({ index }: EncodedChunk) => {
      if (index < 2) atCommit.push(buffers.taken);
    };
    const piped = streamFrom(chunks).pipeTo(writeChunks(placeIn(store), { buffers, onWritten }));
    await settle();
    expect({ taken: buffers.taken, released }).toEqual({ taken: 2 * 4096, released: [2] });
    gates.get("a/c/1")?.resolve();
    await settle();
    expect({ taken: buffers.taken, released }).toEqual({ taken: 4096, released: [2, 1] });
    gates.get("a/c/0")?.resolve();
    await piped;
    expect({ taken: buffers.taken, released }).toEqual({ taken: 0, released: [2, 1, 0] });
    expect(atCommit).toEqual([2 * 4096, 4096]);
  });

  describe("on failure", () => {
    it("errors with the store's error, which got path, coords and key", async () => {
      const store = new TestStore();
      const failure = new ZarrflowError("no-space", "the disk is full", { store: "test store" });
      store.beforeSet = (key) => {
        if (key === "a/c/5") throw failure;
      };
      const error = await rejection(streamFrom(chunksOf(20)).pipeTo(writeChunks(placeIn(store, "a"))));
      expect(error).toBe(failure);
      expect(failure.details).toEqual({ store: "test store", path: "a", coords: [5], key: "a/c/5" });
    });

    it("aborts a source that has nothing to write just then", async () => {
      const { store, gates } = gatedStore();
      const sink = writeChunks(placeIn(store));
      let cancelled: unknown;
      async function* source() {
        yield* chunksOf(1);
        await deferred().promise;
      }
      const chunks = source();
      const stream = streamFrom<EncodedChunk>({
        [Symbol.asyncIterator]: () => ({
          next: () => chunks.next(),
          async return(reason) {
            cancelled = reason;
            return { done: true, value: undefined };
          },
        }),
      });
      const piped = rejection(stream.pipeTo(sink));
      await settle();
      const failure = new Error("broken");
      gates.get("a/c/0")?.reject(failure);
      expect(await piped).toBe(failure);
      expect(cancelled).toBe(failure);
    });

    it("aborts the other writes, waits for them, and gives all back", async () => {
      const { store, gates } = gatedStore();
      const buffers = new BufferPool(2 ** 20);
      const released: number[] = [];
      const chunks = chunksOf(3, () => buffers.take(1)).map((chunk) => ({
        ...chunk,
        release: () => released.push(chunk.index),
      }));
      const piped = rejection(streamFrom(chunks).pipeTo(writeChunks(placeIn(store), { buffers })));
      await settle();
      gates.get("a/c/1")?.reject(new Error("broken"));
      expect(await piped).toEqual(new Error("broken"));
      expect(released.sort()).toEqual([0, 1, 2]);
      expect(buffers.taken).toBe(0);
      expect(store.values.size).toBe(0);
    });

    it("is reported when the sink is closed meanwhile", async () => {
      const { store, gates } = gatedStore();
      const writer = writeChunks(placeIn(store)).getWriter();
      for (const chunk of chunksOf(1)) await writer.write(chunk);
      const closing = rejection(writer.close());
      const failure = new Error("broken");
      gates.get("a/c/0")?.reject(failure);
      expect(await closing).toBe(failure);
    });
  });

  it("removes the key of a chunk without bytes where an older one may lie, when asked", async () => {
    for (const removeMissing of [false, true]) {
      const store = new TestStore();
      const place = placeIn(store);
      await store.set(place.chunkKey([0]), new Uint8Array(1));
      const [ref] = vectorRefs(1);
      if (ref === undefined) throw new Error("one ref");
      await streamFrom([{ ...ref, bytes: undefined }]).pipeTo(writeChunks(place, { removeMissing }));
      expect(store.values.size).toBe(removeMissing ? 0 : 1);
    }
  });

  describe("aborted", () => {
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
      const reason = new Error("stop");
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
      const abort = new AbortController();
      const sink = writeChunks(placeIn(store), { signal: abort.signal });
      const piped = rejection(streamFrom(chunksOf(3)).pipeTo(sink));
      await settle();
      const reason = new Error("stop");
      abort.abort(reason);
      expect(await piped).toMatchObject({ code: "aborted", cause: reason });
      expect(store.values.size).toBe(0);
    });
  });
});
