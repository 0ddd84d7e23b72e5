// @module-tag slow
import { describe, expect, test } from "vitest";
import { planFlow } from "../../src/flows/request/flow.ts";
import { runFlow } from "../../src/flows/run-flow.ts";
import { open, openArray, slice } from "../../src/index.ts";
import { MemoryStore } from "../../src/stores/memory.ts";
import type { GetOptions, Store } from "../../src/stores/store.ts";
import { type StoreRequest, withRequestLog } from "../../src/stores/with/request-log.ts";
import { testFolder } from "../support/cli.ts";
import { digestOf } from "../support/consume.ts";
import { type GivenArray, given } from "../support/given.ts";

const SHAPE = [64, 64, 64];
const ITEMS = Uint16Array.from({ length: 64 ** 3 }, (_, i) => (i * 2654435761) >>> 16);
/** Less than the shard of 64 x 64 x 64 takes decoded. */
const maxMemory = 400_000;
const BYTES = { name: "bytes", configuration: { endian: "little" } };
/** Inner chunks, of which 512 make up the whole array, and their shard. */
const inner = { chunks: [8, 8, 8] };
const sharded = { ...inner, shards: SHAPE };
const INDEX_BYTES = 512 * 16 + 4;

const arrayOf = (grid: Partial<GivenArray>) =>
  given({ shape: SHAPE, dataType: "uint16", ...(!grid.codecs && { codec: "none" }), ...grid, values: ITEMS });

/** An array, and the requests to its store from now on. */
async function logged(store: Store) {
  const requests: StoreRequest[] = [];
  const array = await openArray(withRequestLog(store, (request) => requests.push(request)));
  requests.length = 0;
  return { array, requests };
}

describe("a shard larger than the budget", () => {
  test.each([
    ["plain chunks of another shape", { chunks: [1, 64, 64] }, "direct"],
    ["plain chunks in another codec", { ...inner, codecs: [BYTES, { name: "crc32c" }] }, "transcode"],
    ["plain chunks as they are", inner, "verbatim"],
    ["small shards of such chunks", { ...inner, shards: [16, 16, 64] }, "verbatim"],
    ["small shards of other chunks", { chunks: [4, 16, 64], shards: [16, 16, 64] }, "direct"],
  ] as const)("is streamed from %s", async (_, grid, strategy) => {
    const source = await openArray(await arrayOf(grid));
    const target = `${await testFolder()}/large.zarr`;
    const codec = strategy === "transcode" ? "gzip:1" : "none";
    const planned = await planFlow(source, target, { ...sharded, codec, maxMemory });
    const { jobs, totals } = planned.plan;
    expect(jobs[0]).toMatchObject({
      strategy,
      tasks: 1,
      target: { chunkShape: [8, 8, 8], shardShape: SHAPE },
    });
    expect(jobs[0]?.shardBuffer).toBeUndefined();
    const report = await runFlow(planned, {});
    expect(report).toMatchObject({ chunksRead: totals.chunksRead, chunksWritten: 512, keysWritten: 2 });
    expect(report.peakBuffers).toBeLessThanOrEqual(totals.predictedPeak);
    expect(totals.predictedPeak).toBeLessThanOrEqual(maxMemory);
    expect(await digestOf(target)).toBe(await digestOf(source));
  });

  test("is streamed into a zip", async () => {
    const source = await openArray(await arrayOf({ chunks: [1, 64, 64] }));
    const target = `${await testFolder()}/large.zarr.zip`;
    const options = { ...inner, shards: [64, 64, 32], maxMemory: 3 * maxMemory };
    const planned = await planFlow(source, target, options);
    expect(planned.plan.jobs[0]).toMatchObject({ tasks: 2, window: [8, 8, 4] });
    await runFlow(planned, { verify: true });
    expect(await digestOf(target)).toBe(await digestOf(source));
  });

  test("is read by range into plain chunks, each inner chunk once", async () => {
    const { array, requests } = await logged(await arrayOf(sharded));
    const target = new MemoryStore();
    const planned = await planFlow(array, target, { chunks: [64, 8, 16], maxMemory });
    expect((await runFlow(planned, {})).chunksRead).toBe(512);
    const reads = requests.flatMap(({ operation, key, bytes = 0 }) =>
      operation === "get" && key === "c/0/0/0" ? [bytes] : [],
    );
    expect(reads[0]).toBe(INDEX_BYTES);
    expect(reads.filter((bytes) => bytes === INDEX_BYTES)).toHaveLength(1);
    expect(reads.length).toBeLessThan(512);
    expect(Math.max(...reads)).toBeLessThan(maxMemory);
    expect(await digestOf(target)).toBe(await digestOf(array));
  });

  test("needs its size in memory where its index stands at the start", async () => {
    const configuration = { chunk_shape: [8, 8, 8], codecs: [BYTES], index_codecs: [BYTES] };
    const codec = { name: "sharding_indexed", configuration: { ...configuration, index_location: "start" } };
    const source = await openArray(await arrayOf({ chunks: SHAPE, codecs: [codec] }));
    const target = new MemoryStore();
    const planned = (most: number) => planFlow(source, target, { codec: "gzip", maxMemory: most });
    const error = await planned(maxMemory).catch((thrown) => thrown);
    const hint = expect.stringContaining("index_location: end");
    expect(error).toMatchObject({ code: "budget-too-small", details: { hint } });
    const least = Number(
      /(\d+) bytes/.exec((error as { details: { expected: string } }).details.expected)?.[1],
    );
    const report = await runFlow(await planned(least), {});
    expect(report.peakBuffers).toBeLessThanOrEqual(least);
    expect(await digestOf(target)).toBe(await digestOf(source));
  });

  test("leaves nothing behind where it fails", async () => {
    const store = await arrayOf({ chunks: [1, 64, 64] });
    await store.set("c/40/0/0", new Uint8Array(3));
    const target = `${await testFolder()}/broken.zarr`;
    const planned = await planFlow(await openArray(store), target, { ...sharded, maxMemory });
    await expect(runFlow(planned, {})).rejects.toMatchObject({ code: "corrupt-chunk" });
    await expect(openArray(target)).rejects.toMatchObject({ code: "not-found" });
  });
});

test("a task that fails ends the others, whose requests are aborted", async () => {
  /** A store whose values below `stuck` never come. */
  class StuckStore extends MemoryStore {
    readonly ended: string[] = [];
    override async get(key: string, options: GetOptions = {}): Promise<Uint8Array | undefined> {
      if (!key.startsWith("stuck/c/")) return super.get(key, options);
      await new Promise((resolve) => options.signal?.addEventListener("abort", resolve, { once: true }));
      this.ended.push(key);
      throw options.signal?.reason;
    }
  }
  const array = { shape: [64], dataType: "uint8", chunks: [8], shards: [64], values: (i: number) => i + 1 };
  const store = await given({ at: new StuckStore(), arrays: { broken: array, stuck: array } });
  await store.set("broken/c/0", new Uint8Array(3));
  const planned = await planFlow(await open(store), new MemoryStore(), { codec: "gzip" });
  expect(planned.plan.totals.tasks).toBe(2);
  const details = { path: "broken", key: "broken/c/0" };
  await expect(runFlow(planned, {})).rejects.toMatchObject({ code: "corrupt-chunk", details });
  expect(store.ended).toEqual(["stuck/c/0"]);
});

describe("requests of a slice", () => {
  test("are one for the index and one for near chunks", async () => {
    const { array, requests } = await logged(await arrayOf(sharded));
    const { data } = await slice(array, [[8, 16], 3, [0, 64]]).read();
    const at = (i: number) => (8 + (i >> 6)) * 4096 + 3 * 64 + (i & 63);
    expect([...data]).toEqual(Array.from({ length: 512 }, (_, i) => ITEMS[at(i)]));
    // 8 inner chunks of 1 KiB lie side by side
    expect(requests.map(({ bytes }) => bytes)).toEqual([INDEX_BYTES, 8 * 1024]);
  });

  test("are none for inner chunks of a shard that is not there", async () => {
    const store = await arrayOf({ ...inner, shards: [32, 64, 64] });
    await store.delete("c/1/0/0");
    const { array, requests } = await logged(store);
    const { data } = await slice(array, [[40, 64], 0, 0]).read();
    expect(new Set(data)).toEqual(new Set([0]));
    expect(requests).toMatchObject([{ operation: "get", key: "c/1/0/0", bytes: undefined }]);
  });

  test("that find a broken shard say which inner chunk", async () => {
    const store = await arrayOf(sharded);
    const shard = (await store.get("c/0/0/0")) ?? new Uint8Array(0);
    new DataView(shard.buffer).setBigUint64(shard.length - INDEX_BYTES, 2n ** 40n, true);
    await store.set("c/0/0/0", shard);
    const broken = slice(await openArray(store), [0, 0, 0]).read();
    await expect(broken).rejects.toMatchObject({ code: "corrupt-chunk", details: { key: "c/0/0/0" } });
  });
});

test("a shard beyond 4 GiB is read where its chunks lie", async () => {
  const [item, chunks, far] = [2 ** 20, 5 * 1024, 2 ** 32 + 12_345];
  const configuration = { chunk_shape: [item], codecs: [BYTES], index_codecs: [BYTES] };
  const document = {
    ...{ zarr_format: 3, node_type: "array", shape: [chunks * item], data_type: "uint8", fill_value: 9 },
    chunk_grid: { name: "regular", configuration: { chunk_shape: [chunks * item] } },
    chunk_key_encoding: { name: "default" },
    codecs: [{ name: "sharding_indexed", configuration }],
  };
  const index = new BigUint64Array(2 * chunks).fill(2n ** 64n - 1n);
  index.set([BigInt(far), BigInt(item)], 2 * 4500);
  const store: Store = {
    description: "a shard of 5 GiB that is nowhere",
    async get(key: string, { range }: GetOptions = {}) {
      if (key === "zarr.json") return new TextEncoder().encode(JSON.stringify(document));
      if (key !== "c/0" || range === undefined) return undefined;
      if ("suffix" in range) return new Uint8Array(index.buffer).slice(-range.suffix);
      expect(range).toEqual({ offset: far, length: 3 });
      return Uint8Array.of(0, 1, 2);
    },
    size: async () => undefined,
  };
  const { data } = await slice(await openArray(store), [[4500 * item - 2, 4500 * item + 3]]).read();
  expect([...data]).toEqual([9, 9, 0, 1, 2]);
});
