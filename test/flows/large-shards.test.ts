// @module-tag slow
import { describe, expect, test } from "vitest";
import { slice } from "../../src/flows/index.ts";
import { planFlow } from "../../src/flows/request/flow.ts";
import { runFlow } from "../../src/flows/run/run-flow.ts";
import { open, openArray, ZarrflowError } from "../../src/index.ts";
import { MemoryStore, nameMemoryStore } from "../../src/stores/memory.ts";
import type { GetOptions } from "../../src/stores/store.ts";
import { type StoreRequest, withRequestLog } from "../../src/stores/with/request-log.ts";
import { testFolder } from "../support/cli.ts";
import { digestOf } from "../support/consume.ts";
import { given } from "../support/given.ts";

const SHAPE = [64, 64, 64];
const ITEMS = Uint16Array.from({ length: 64 ** 3 }, (_, i) => (i * 2654435761) >>> 16);
const ITEMS_OF_A_SHARD = Uint8Array.from({ length: 64 }, (_, i) => i + 1);
/** Less than the shard of 64 x 64 x 64 takes decoded. */
const BUDGET = 400_000;

interface Grid {
  readonly chunks: readonly number[];
  readonly shards?: readonly number[];
  readonly codecs?: readonly { readonly name: string; readonly configuration?: object }[];
}

function arrayOf(grid: Grid): Promise<MemoryStore> {
  const codec = grid.codecs ? {} : { codec: "none" };
  return given({ shape: SHAPE, dataType: "uint16", ...codec, ...grid, values: ITEMS });
}

describe("a shard larger than the budget", () => {
  test.each([
    ["plain chunks of another shape", { chunks: [1, 64, 64] }, "direct"],
    [
      "plain chunks of the same shape, but another codec",
      {
        chunks: [8, 8, 8],
        codecs: [{ name: "bytes", configuration: { endian: "little" } }, { name: "crc32c" }],
      },
      "transcode",
    ],
    ["plain chunks as they are", { chunks: [8, 8, 8] }, "verbatim"],
    ["small shards of such chunks", { chunks: [8, 8, 8], shards: [16, 16, 64] }, "verbatim"],
    ["small shards of other chunks", { chunks: [4, 16, 64], shards: [16, 16, 64] }, "direct"],
  ] as const)("is streamed from %s", async (_, grid, strategy) => {
    const source = await openArray(await arrayOf(grid));
    const changes = { chunks: [8, 8, 8], shards: SHAPE, codec: "none" as const, maxMemory: BUDGET };
    const target = `${await testFolder()}/large.zarr`;
    const planned = await planFlow(
      source,
      target,
      strategy === "transcode" ? { ...changes, codec: "gzip:1" as const } : changes,
    );
    const [job] = planned.plan.jobs;
    expect(job).toMatchObject({ strategy, tasks: 1, target: { chunkShape: [8, 8, 8], shardShape: SHAPE } });
    expect(job?.shardBuffer).toBeUndefined();
    const report = await runFlow(planned, {});
    expect(report.chunksRead).toBe(planned.plan.totals.chunksRead);
    expect(report.chunksWritten).toBe(512);
    expect(report.keysWritten).toBe(2);
    expect(report.peakBuffers).toBeLessThanOrEqual(planned.plan.totals.predictedPeak);
    expect(planned.plan.totals.predictedPeak).toBeLessThanOrEqual(BUDGET);
    expect(await digestOf(target)).toBe(await digestOf(source));
  });

  test("is streamed into a zip", async () => {
    const source = await openArray(await arrayOf({ chunks: [1, 64, 64] }));
    const target = `${await testFolder()}/large.zarr.zip`;
    const shards = [64, 64, 32];
    const planned = await planFlow(source, target, { chunks: [8, 8, 8], shards, maxMemory: 3 * BUDGET });
    expect(planned.plan.jobs[0]).toMatchObject({ tasks: 2, window: [8, 8, 4] });
    await runFlow(planned, { verify: true });
    expect(await digestOf(target)).toBe(await digestOf(source));
  });

  test("is read by range into plain chunks, each inner chunk once", async () => {
    const requests: StoreRequest[] = [];
    const store = await arrayOf({ chunks: [8, 8, 8], shards: SHAPE });
    const source = await openArray(withRequestLog(store, (request) => requests.push(request)));
    const changes = { chunks: [64, 8, 16], maxMemory: BUDGET };
    const planned = await planFlow(source, "memory:from-large", changes);
    const report = await runFlow(planned, {});
    expect(report.chunksRead).toBe(512);
    const reads = requests.filter(({ operation, key }) => operation === "get" && key === "c/0/0/0");
    expect(reads[0]?.bytes).toBe(512 * 16 + 4);
    expect(reads.filter(({ bytes }) => bytes === 512 * 16 + 4)).toHaveLength(1);
    expect(reads.length).toBeLessThan(512);
    expect(Math.max(...reads.map(({ bytes = 0 }) => bytes))).toBeLessThan(BUDGET);
    expect(await digestOf("memory:from-large")).toBe(await digestOf(source));
    nameMemoryStore("from-large", undefined);
  });

  test("needs its size in memory where its index stands at the start", async () => {
    const sharding = (location: string) => ({
      name: "sharding_indexed",
      configuration: {
        chunk_shape: [8, 8, 8],
        codecs: [{ name: "bytes", configuration: { endian: "little" } }],
        index_codecs: [{ name: "bytes", configuration: { endian: "little" } }],
        index_location: location,
      },
    });
    const source = await openArray(await arrayOf({ chunks: SHAPE, codecs: [sharding("start")] }));
    const error = await planFlow(source, "memory:spooled", {
      chunks: {},
      codec: "gzip",
      maxMemory: BUDGET,
    }).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(ZarrflowError);
    expect(error).toMatchObject({ code: "budget-too-small" });
    expect((error as ZarrflowError).details.hint).toContain("index_location of end");
    const least = Number(/(\d+) bytes/.exec(String((error as ZarrflowError).details.expected))?.[1]);
    const planned = await planFlow(source, "memory:spooled", {
      chunks: {},
      codec: "gzip",
      maxMemory: least,
    });
    const report = await runFlow(planned, {});
    expect(report.peakBuffers).toBeLessThanOrEqual(least);
    expect(await digestOf("memory:spooled")).toBe(await digestOf(source));
    nameMemoryStore("spooled", undefined);
  });
});

describe("a shard that fails", () => {
  test("leaves nothing behind", async () => {
    const store = await arrayOf({ chunks: [1, 64, 64] });
    await store.set("c/40/0/0", new Uint8Array(3));
    const target = `${await testFolder()}/broken.zarr`;
    const source = await openArray(store);
    const planned = await planFlow(source, target, {
      chunks: [8, 8, 8],
      shards: SHAPE,
      maxMemory: BUDGET,
    });
    await expect(runFlow(planned, {})).rejects.toMatchObject({ code: "corrupt-chunk" });
    await expect(openArray(target)).rejects.toMatchObject({ code: "not-found" });
  });
});

describe("a task that fails", () => {
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

  test("ends the others, whose requests are aborted", async () => {
    const array = { shape: [64], dataType: "uint8", chunks: [8], shards: [64], values: ITEMS_OF_A_SHARD };
    const store = await given({ at: new StuckStore(), arrays: { broken: array, stuck: array } });
    await store.set("broken/c/0", new Uint8Array(3));
    const planned = await planFlow(await open(store), "memory:failing", { chunks: {}, codec: "gzip" });
    expect(planned.plan.totals.tasks).toBe(2);
    const error = await runFlow(planned, {}).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: "corrupt-chunk", details: { path: "broken", key: "broken/c/0" } });
    expect(store.ended).toEqual(["stuck/c/0"]);
  });
});

describe("requests of a slice", () => {
  test("are one for the index and one for near chunks", async () => {
    const requests: StoreRequest[] = [];
    const store = await arrayOf({ chunks: [8, 8, 8], shards: SHAPE });
    const array = await openArray(withRequestLog(store, (request) => requests.push(request)));
    requests.length = 0;
    const { data } = await slice(array, [[8, 16], 3, [0, 64]]).read();
    expect([...data]).toEqual(
      Array.from({ length: 512 }, (_, i) => ITEMS[(8 + (i >> 6)) * 4096 + 3 * 64 + (i & 63)]),
    );
    // 8 inner chunks of 1 KiB lie side by side
    expect(requests.map(({ bytes }) => bytes)).toEqual([512 * 16 + 4, 8 * 1024]);
  });

  test("are none for inner chunks of a shard that is not there", async () => {
    const requests: StoreRequest[] = [];
    const store = await arrayOf({ chunks: [8, 8, 8], shards: [32, 64, 64] });
    await store.delete("c/1/0/0");
    const array = await openArray(withRequestLog(store, (request) => requests.push(request)));
    requests.length = 0;
    const { data } = await slice(array, [[40, 64], 0, 0]).read();
    expect([...data].every((item) => item === 0)).toBe(true);
    expect(requests).toMatchObject([{ operation: "get", key: "c/1/0/0", bytes: undefined }]);
  });

  test("that find a broken shard say which inner chunk", async () => {
    const store = await arrayOf({ chunks: [8, 8, 8], shards: SHAPE });
    const shard = (await store.get("c/0/0/0")) ?? new Uint8Array(0);
    new DataView(shard.buffer).setBigUint64(shard.length - 4 - 512 * 16, 2n ** 40n, true);
    await store.set("c/0/0/0", shard);
    const broken = slice(await openArray(store), [0, 0, 0]).read();
    await expect(broken).rejects.toMatchObject({ code: "corrupt-chunk", details: { key: "c/0/0/0" } });
  });
});

test("a shard beyond 4 GiB is read where its chunks lie", async () => {
  const inner = 2 ** 20;
  const chunks = 5 * 1024;
  const far = 2 ** 32 + 12_345;
  const BYTES = { name: "bytes", configuration: { endian: "little" } };
  const document = {
    zarr_format: 3,
    node_type: "array",
    shape: [chunks * inner],
    data_type: "uint8",
    chunk_grid: { name: "regular", configuration: { chunk_shape: [chunks * inner] } },
    chunk_key_encoding: { name: "default" },
    fill_value: 9,
    codecs: [
      {
        name: "sharding_indexed",
        configuration: { chunk_shape: [inner], codecs: [BYTES], index_codecs: [BYTES] },
      },
    ],
  };
  const index = new BigUint64Array(2 * chunks).fill(2n ** 64n - 1n);
  index.set([BigInt(far), BigInt(inner)], 2 * 4500);
  const store = {
    description: "a shard of 5 GiB that is nowhere",
    async get(key: string, { range }: GetOptions = {}) {
      if (key === "zarr.json") return new TextEncoder().encode(JSON.stringify(document));
      if (key !== "c/0" || range === undefined) return undefined;
      if ("suffix" in range) return new Uint8Array(index.buffer).slice(-range.suffix);
      expect(range).toEqual({ offset: far, length: 3 });
      return Uint8Array.from({ length: 3 }, (_, i) => i);
    },
    size: async () => undefined,
  };
  const array = await openArray(store);
  const { data } = await slice(array, [[4500 * inner - 2, 4500 * inner + 3]]).read();
  expect([...data]).toEqual([9, 9, 0, 1, 2]);
});
