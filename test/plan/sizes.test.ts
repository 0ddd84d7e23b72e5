import fc from "fast-check";
import { describe, expect, it, test } from "vitest";
import { planSlice } from "../../src/flows/plan-slice.ts";
import { planFlow } from "../../src/flows/request/flow.ts";
import { openArray } from "../../src/hierarchy/open/open.ts";
import { parseSlice } from "../../src/hierarchy/parse-slice.ts";
import { bytesInFlight, chunksInFlight, expectedSize, memoryForTasks } from "../../src/plan/memory.ts";
import type { ArrayJob, GridSide, Plan } from "../../src/plan/plan.ts";
import { assertCountable, type Task, taskAt } from "../../src/plan/task.ts";
import { MemoryStore } from "../../src/stores/memory.ts";
import type { StoreSpec } from "../../src/stores/store.ts";
import { given, givenKeys } from "../support/given.ts";

const MIB = 2 ** 20;

/** An array of so many chunks of a mebibyte. */
function sideOf(chunks: number): { target: GridSide } {
  return { target: { shape: [chunks], chunkShape: [1], decodedSize: MIB } as unknown as GridSide };
}

test("what can be counted passes, and more is refused", () => {
  const most = { items: Number.MAX_SAFE_INTEGER, chunks: 2 ** 31 };
  expect(() => assertCountable(most, "a")).not.toThrow();
  for (const more of [
    { items: 2 ** 53 },
    { chunks: 2 ** 31 + 1 },
    { items: Infinity },
    { items: Number.NaN },
  ])
    expect(() => assertCountable({ ...most, ...more }, "a")).toThrow(
      expect.objectContaining({ code: "resource-limit", details: expect.objectContaining({ path: "a" }) }),
    );
});

test("a target's expected size is that of its chunks, and no more than parts of an eighth of the budget", () => {
  expect(expectedSize([sideOf(100), sideOf(7)], 256 * MIB)).toBe(107 * MIB);
  expect(expectedSize([sideOf(1e12)], 256 * MIB)).toBe(32 * MIB * 10_000);
});

describe("the memory that is left to tasks", () => {
  const directory: StoreSpec = { kind: "directory", path: "/x.zarr" };
  const s3: StoreSpec = { kind: "s3", bucket: "bucket", prefix: "" };
  const zipIn = (store: StoreSpec): StoreSpec => ({ kind: "zip-value", store, key: "x.zip" });
  const left = (source: StoreSpec, target: StoreSpec, chunks: number) =>
    memoryForTasks({
      source: { store: source, path: "" },
      target: { store: target, path: "" },
      jobs: [sideOf(chunks) as ArrayJob],
      budget: { maxMemory: 256 * MIB } as Plan["budget"],
    }) / MIB;

  it("is all of it, but for a zip inside another store", () => {
    for (const store of [directory, s3, { kind: "zip", path: "/x.zip" } as const])
      expect(left(store, store, 10)).toBe(256);
    expect(left(zipIn(s3), directory, 10)).toBe(254);
    expect(left(directory, zipIn({ kind: "memory", name: "x" }), 10)).toBe(256);
  });

  it("has no room for the parts of a zip in S3, sized for 10,000 parts, as many as an eighth of it holds", () => {
    expect(left(directory, zipIn(s3), 10)).toBe(256 - 4 * 8);
    expect(left(directory, zipIn(s3), 99_000)).toBe(256 - 2 * 11);
    expect(left(zipIn(s3), zipIn(s3), 1e12)).toBe(256 - 2 - 36);
  });
});

describe("chunks in flight", () => {
  const sizes = fc.record({
    waiting: fc.integer({ min: 1, max: 1e6 }),
    working: fc.integer({ min: 0, max: 1e7 }),
  });

  it("are as many as fit the bytes, and no more", () => {
    fc.assert(
      fc.property(sizes, fc.integer({ min: 0, max: 1e9 }), (inFlight, bytes) => {
        const chunks = chunksInFlight(inFlight, bytes);
        expect(bytesInFlight(inFlight, chunks)).toBeLessThanOrEqual(bytes);
        expect(bytesInFlight(inFlight, chunks + 1)).toBeGreaterThan(bytes);
      }),
    );
  });

  it("count what codecs work on for three of them, however many wait", () => {
    const bytes = [1, 2, 3, 4, 100].map((chunks) => bytesInFlight({ waiting: 1, working: 10 }, chunks));
    expect(bytes).toEqual([11, 22, 33, 34, 130]);
  });
});

test.each([undefined, "direct", "staged"] as const)(
  "a plan of 10^9 chunks takes kilobytes, and less than a second of work: %s",
  async (strategy) => {
    // 40 TB, of which nothing is stored
    const document = {
      zarr_format: 2,
      shape: [100_000, 10_000, 10_000],
      chunks: [1, 100, 100],
      dtype: "<f4",
    };
    const rest = { order: "C", compressor: null, filters: null, fill_value: 0 };
    const array = await openArray(await givenKeys({ ".zarray": { ...document, ...rest } }));
    const before = { cpu: process.cpuUsage(), heap: process.memoryUsage().heapUsed };
    const options = { chunks: [1000, 20, 20], maxMemory: "1GB", ...(strategy && { strategy }) } as const;
    const { plan } = await planFlow(array, "memory:large", options);
    const { user, system } = process.cpuUsage(before.cpu);
    expect(user + system).toBeLessThan(1e6);
    expect(process.memoryUsage().heapUsed - before.heap).toBeLessThan(100e6);
    expect(JSON.stringify(plan).length).toBeLessThan(10_000);
    expect(plan.totals.chunksRead).toBeGreaterThanOrEqual(1e9);
    let first = 0;
    for (const [stage, count] of plan.stages.entries()) {
      const tasks: Task[] = [taskAt(plan, stage, 0), taskAt(plan, stage, count - 1)];
      expect(tasks.map(({ number }) => number)).toEqual([first, first + count - 1]);
      first += count;
    }
  },
);

describe("slabs", () => {
  /** A store whose calls may block, as those of files may. */
  class BlockingStore extends MemoryStore {
    getSync() {
      return undefined;
    }
  }
  const bytes = (shape: readonly number[]) => 4 * shape.reduce((product, n) => product * n, 1);
  const planned = async (
    chunks: number[],
    option: Parameters<typeof planSlice>[1] = [],
    { concurrency = 4, store = new BlockingStore() }: { concurrency?: number; store?: MemoryStore } = {},
  ) => {
    await given({ at: store, shape: [512, 256, 256], dataType: "float32", chunks, values: null });
    return planSlice(await openArray(store), option, { maxMemory: 256 * MIB, concurrency });
  };
  const COLUMN = parseSlice(":,64:128,64:128");

  it("are no larger than 1 MiB where smaller ones read no chunk more often", async () => {
    const plan = await planned([1, 256, 256], COLUMN);
    expect(plan).toMatchObject({ slabShape: [64, 64, 64], slabs: 8, chunksRead: 512 });
  });

  it("hold more chunks than are read at one time", async () => {
    const plan = await planned([1, 256, 256], [], { concurrency: 16 });
    expect(plan).toMatchObject({ slabShape: [32, 256, 256], chunksRead: 512 });
  });

  it("are whole rows of chunks where any part of them would read these again", async () => {
    const rows = { slabShape: [128, 256, 256], slabs: 4, chunksRead: 64, readAmplification: 1 };
    expect(await planned([128, 64, 64])).toMatchObject(rows);
  });

  it("are as large as fits where none is cut between chunks", async () => {
    const plan = await planned([10, 256, 256], [[3, 503]]);
    expect(plan).toMatchObject({ slabs: 1, slabsAtOnce: 1, chunksRead: 51 });
  });

  it("are several at one time, each of a part of the chunks in flight, where a store is waited for", async () => {
    const plan = await planned([1, 256, 256], COLUMN, { concurrency: 64, store: new MemoryStore() });
    expect(plan).toMatchObject({ slabShape: [16, 64, 64], slabs: 32, slabsAtOnce: 5, chunksRead: 512 });
    expect(plan.job.readAhead).toBe(16);
  });

  it("fit the budget together with the one that is taken", async () => {
    for (const concurrency of [1, 7, 64, 256]) {
      const plan = await planned([1, 256, 256], [], { concurrency, store: new MemoryStore() });
      const all = plan.slabsAtOnce * plan.job.leaseBytes;
      expect(all + bytes(plan.slabShape)).toBeLessThanOrEqual(256 * MIB);
      expect(plan.predictedPeak).toBeGreaterThanOrEqual(all);
    }
  });
});
