import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { ShardIndex } from "../../src/codecs/sharding/entries.ts";
import { create } from "../../src/hierarchy/create/create.ts";
import type { ZarrArray } from "../../src/hierarchy/node.ts";
import { openArray } from "../../src/hierarchy/open/open.ts";
import type { CodecText } from "../../src/meta/codec-option.ts";
import { MemoryStore } from "../../src/stores/memory.ts";
import type { GetOptions, StoreWriter } from "../../src/stores/store.ts";
import { type StoreRequest, withRequestLog } from "../../src/stores/with/request-log.ts";
import { ByteBudget } from "../../src/streams/byte-budget.ts";
import type { ChunkRef, EncodedChunk } from "../../src/streams/chunk.ts";
import { decodeChunks, encodeChunks, readChunks, regrid, writeChunks } from "../../src/streams/index.ts";
import { locateChunk } from "../../src/streams/read-shards.ts";
import { ShardIndexes } from "../../src/streams/shards.ts";
import { mergeRanges } from "../../src/util/byte-range.ts";
import { streamFrom } from "../../src/util/web-streams.ts";
import { GuardedBuffers } from "../codecs/support.ts";
import { valuesIn } from "../support/consume.ts";
import { collect, failOnUnhandledRejections, refsOf, rejection, settle, untilAborted } from "./support.ts";

failOnUnhandledRejections();

const SHAPE = [16, 24];
const INNER = [4, 6];
const INDEX_SIZE = 8 * 16 + 4;
const items = Uint16Array.from({ length: 384 }, (_, i) => i + 1);

/** An array of 16 x 24 in shards of 8 x 24 with 8 inner chunks of 48 bytes each. */
async function shardedStore(codec: CodecText = "none"): Promise<MemoryStore> {
  const store = new MemoryStore();
  const array = { shape: SHAPE, dataType: "uint16" as const, chunks: INNER, shards: [8, 24], codec };
  const writer = await create(store, array);
  await writer.write({ start: [0, 0], shape: SHAPE }, items);
  await writer.close();
  return store;
}

async function logged(store: MemoryStore): Promise<{ array: ZarrArray; requests: StoreRequest[] }> {
  const requests: StoreRequest[] = [];
  const array = (await openArray(withRequestLog(store, (request) => requests.push(request)))).innerChunks();
  requests.length = 0;
  return { array, requests };
}

/** Reads, decodes and puts together all chunks. */
async function itemsOf(
  array: ZarrArray,
  refs: readonly ChunkRef[] = refsOf(SHAPE, INNER),
): Promise<Uint16Array> {
  const { spec } = await array.pipeline();
  const whole = readChunks(array, refs)
    .pipeThrough(decodeChunks(array))
    .pipeThrough(regrid({ shape: SHAPE, chunk: { ...spec, shape: SHAPE } }));
  const [chunk] = await collect(whole);
  return new Uint16Array(chunk?.data?.bytes.slice().buffer ?? new ArrayBuffer(0));
}

describe("chunks in shards are read", () => {
  test("each index once, near chunks in one request, in whatever order they are asked for, by their own coords", async () => {
    const { array, requests } = await logged(await shardedStore());
    expect(await itemsOf(array, refsOf(SHAPE, INNER).reverse())).toEqual(items);
    expect(requests.map(({ key, bytes }) => `${key} ${bytes}`).sort()).toEqual([
      ...[`c/0/0 ${INDEX_SIZE}`, `c/0/0 ${8 * 48}`],
      ...[`c/1/0 ${INDEX_SIZE}`, `c/1/0 ${8 * 48}`],
    ]);
    const chunks = await collect(readChunks(array, refsOf(SHAPE, INNER)));
    expect(chunks).toHaveLength(16);
    for (const { coords, key } of chunks) expect(key).toBe(`c/${Math.floor((coords[0] ?? 0) / 2)}/0`);
  });

  test("within the leases, which are given back", async () => {
    const { array, requests } = await logged(await shardedStore());
    const budget = new ByteBudget(3 * 3 * 4096);
    const buffers = new GuardedBuffers();
    const inFlight = { budget, bytesPerChunk: 3 * 4096 };
    for await (const chunk of readChunks(array, refsOf(SHAPE, INNER), { inFlight, buffers })) {
      expect(budget.leased).toBeLessThanOrEqual(budget.limit);
      if (chunk.bytes) buffers.give(chunk.bytes);
      chunk.release?.();
    }
    expect([budget.leased, buffers.live]).toEqual([0, 0]);
    // Three leases hold what three chunks take, and no more are read together.
    const sizes = requests.flatMap(({ bytes = 0 }) => (bytes === INDEX_SIZE ? [] : [bytes]));
    expect(Math.max(...sizes)).toBeLessThanOrEqual(144);
    // up to where the reader stops
    const reader = readChunks(array, refsOf(SHAPE, INNER)).getReader();
    await reader.read();
    await reader.cancel();
  });

  test("until aborted, while an index is read too; who waits for the same index reads it then", async () => {
    class WaitingStore extends MemoryStore {
      waits = 1;
      override async get(key: string, options: GetOptions = {}): Promise<Uint8Array | undefined> {
        if (this.waits-- > 0) await untilAborted(options.signal);
        return super.get(key, options);
      }
    }
    const store = new WaitingStore();
    for (const [key, value] of await valuesIn(await shardedStore())) await store.set(key, value);
    store.waits = 0;
    const array = (await openArray(store)).innerChunks();
    store.waits = 1;
    const stop = new AbortController();
    const aborted = rejection(collect(readChunks(array, refsOf(SHAPE, INNER), { signal: stop.signal })));
    await settle();
    const other = collect(readChunks(array, refsOf(SHAPE, INNER)));
    await settle();
    stop.abort(new Error("enough"));
    expect(await aborted).toMatchObject({ code: "aborted", cause: new Error("enough") });
    expect(await other).toHaveLength(16);
  });

  test.each<[string, (words: DataView, index: number) => void]>([
    ["extends beyond the shard", (words, index) => words.setBigUint64(index, 10_000n, true)],
    ["has a length beyond all bounds", (words, index) => words.setBigUint64(index + 8, 2n ** 62n, true)],
    ["is only half empty", (words, index) => words.setBigUint64(index, 2n ** 64n - 1n, true)],
  ])("but for one that %s", async (_, spoil) => {
    const store = new MemoryStore();
    const little = [{ name: "bytes", configuration: { endian: "little" } }];
    const index = { index_codecs: little, index_location: "start" };
    const configuration = { chunk_shape: INNER, codecs: little, ...index };
    const codecs = [{ name: "sharding_indexed", configuration }];
    const writer = await create(store, { shape: SHAPE, dataType: "uint16", chunks: [8, 24], codecs });
    await writer.write({ start: [0, 0], shape: SHAPE }, items);
    await writer.close();
    const shard = (await store.get("c/1/0")) ?? new Uint8Array(0);
    spoil(new DataView(shard.buffer), 16 * 5);
    await store.set("c/1/0", shard);
    const buffers = new GuardedBuffers();
    const { array } = await logged(store);
    const reads = readChunks(array, refsOf(SHAPE, INNER), { buffers, maxEncodedSize: 100 });
    const error = await rejection(
      reads.pipeTo(new WritableStream<EncodedChunk>({ write: ({ bytes }) => bytes && buffers.give(bytes) })),
    );
    expect(["corrupt-chunk", "resource-limit"]).toContain((error as { code: string }).code);
    expect(error).toMatchObject({ details: { path: "", key: "c/1/0", coords: [3, 1] } });
  });

  test.each([
    ["is shorter than its index", 50],
    ["has another index than its checksum says", 8 * 48 + INDEX_SIZE - 1],
  ])("but for those of one that %s", async (_, length) => {
    const store = await shardedStore();
    const shard = (await store.get("c/0/0")) ?? new Uint8Array(0);
    await store.set("c/0/0", shard.subarray(0, length));
    const { array } = await logged(store);
    const error = await rejection(collect(readChunks(array, refsOf(SHAPE, INNER))));
    expect(error).toMatchObject({ code: "corrupt-chunk", details: { key: "c/0/0" } });
  });
});

describe("chunks in shards are written", () => {
  const regridded = async (array: ZarrArray, refs: readonly ChunkRef[]) => {
    const { array: source } = await logged(await shardedStore("zstd"));
    const { spec, strides } = await array.pipeline();
    return readChunks(source, refs)
      .pipeThrough(decodeChunks(source))
      .pipeThrough(regrid({ shape: SHAPE, chunk: spec, strides }))
      .pipeThrough(encodeChunks(array));
  };
  const writable = (array: ZarrArray, store: MemoryStore) => ({
    store,
    path: "",
    chunkKey: (coords: readonly number[]) => array.chunkKey(coords),
    shards: array.shards,
  });

  test.each([undefined, 100, 10_000])("in any order, put together in %s bytes", async (shardBuffer) => {
    const store = await shardedStore();
    const { array } = await logged(store);
    for (const key of ["c/0/0", "c/1/0"]) await store.delete(key);
    const buffers = new GuardedBuffers();
    const stored: string[] = [];
    const refs = refsOf(SHAPE, INNER).reverse();
    const sink = writeChunks(writable(array, store), {
      buffers,
      shardBuffer,
      onStored: ({ key, size }) => stored.push(`${key} ${size}`),
    });
    const own = new TransformStream<EncodedChunk, EncodedChunk>({
      transform: ({ bytes, ...ref }, controller) =>
        controller.enqueue({ ...ref, bytes: bytes && buffers.copyOf(bytes) }),
    });
    await (await regridded(array, refs)).pipeThrough(own).pipeTo(sink);
    expect(stored).toEqual([`c/1/0 ${8 * 48 + INDEX_SIZE}`, `c/0/0 ${8 * 48 + INDEX_SIZE}`]);
    expect(buffers.live).toBe(0);
    expect(await itemsOf((await openArray(store)).innerChunks())).toEqual(items);
  });

  test("or left out, and removed, where all of them are empty", async () => {
    const store = await shardedStore();
    const { array } = await logged(store);
    const empty = refsOf(SHAPE, INNER).map((ref) => ({ ...ref, bytes: undefined }));
    await streamFrom(empty).pipeTo(writeChunks(writable(array, store), { removeMissing: true }));
    expect([await store.size("c/0/0"), await store.size("c/1/0")]).toEqual([undefined, undefined]);
  });

  /** A store whose writers tell what becomes of them. */
  class WatchedStore extends MemoryStore {
    readonly ends: string[] = [];
    override async openWriter(key: string): Promise<StoreWriter> {
      const writer = await super.openWriter(key);
      const end = (how: "commit" | "abort") => async (reason?: unknown) => {
        this.ends.push(`${how} ${key}`);
        await writer[how](reason);
      };
      return { write: (bytes) => writer.write(bytes), commit: end("commit"), abort: end("abort") };
    }
  }

  test("not at all where some are lacking, or what feeds them fails", async () => {
    const { array } = await logged(await shardedStore());
    const chunks = async function* (count: number, failure?: Error) {
      for (const ref of refsOf(SHAPE, INNER).slice(0, count)) yield { ...ref, bytes: new Uint8Array(48) };
      if (failure) throw failure;
    };
    const failed = new WatchedStore();
    const failure = new Error("no more");
    const piped = streamFrom(chunks(3, failure)).pipeTo(writeChunks(writable(array, failed)));
    expect(await rejection(piped)).toBe(failure);
    expect(failed.ends).toEqual(["abort c/0/0"]);
    const store = new WatchedStore();
    const error = await rejection(streamFrom(chunks(9)).pipeTo(writeChunks(writable(array, store))));
    expect(error).toMatchObject({ code: "invalid-option", details: { key: "c/1/0" } });
    expect(store.ends).toEqual(["commit c/0/0", "abort c/1/0"]);
    expect(await store.size("c/1/0")).toBeUndefined();
  });
});

test("merged ranges hold all parts, are not too long, and leave no large gap inside", () => {
  const part = fc
    .tuple(fc.nat(4 * 2 ** 20), fc.nat(300_000))
    .map(([offset, length]) => ({ range: { offset, length } }));
  fc.assert(
    fc.property(fc.array(part, { maxLength: 40 }), (parts) => {
      const merged = mergeRanges(parts, { fits: (together) => together.length <= 8 });
      expect(merged.flatMap((one) => one.parts).length).toBe(parts.length);
      for (const { offset, length, parts: inside } of merged) {
        if (inside.length > 1) expect(length).toBeLessThanOrEqual(2 ** 20);
        expect(inside.length).toBeLessThanOrEqual(8);
        let end = offset;
        for (const { range } of inside) {
          expect(range.offset - end).toBeLessThanOrEqual(65_536);
          end = Math.max(end, range.offset + range.length);
        }
        expect(end).toBe(offset + length);
      }
    }),
  );
});

test("the index that was wanted last is kept, however large", () => {
  const indexOf = (length: number) => ({ index: ShardIndex.empty(length), version: undefined });
  const kept = new ShardIndexes();
  const [small, large] = [indexOf(16), indexOf(2 ** 18)];
  kept.set({ key: "small" }, small);
  kept.set({ key: "large" }, large);
  expect([kept.get({ key: "small" }), kept.get({ key: "large" })]).toEqual([undefined, large]);
  kept.set({ key: "small" }, small);
  expect([kept.get({ key: "small" }), kept.get({ key: "large" })]).toEqual([small, undefined]);
});

test("a part of a chunk has the length of all of it, and all parts of a shard one version", async () => {
  const array = (await openArray(await shardedStore())).innerChunks();
  const part = (size: number) =>
    locateChunk(
      array as never,
      { coords: [0, 0], part: { range: { offset: 2, length: 4, size } } } as never,
      { maxEncodedSize: 100 },
    );
  const { range, version } = await part(48);
  expect(range?.length).toBe(4);
  await expect(part(46)).rejects.toMatchObject({ code: "corrupt-chunk" });
  array.shards?.confirm([0, 1], version);
  expect(() => array.shards?.confirm([1, 1], `another than ${version}`)).toThrow("replaced");
});
