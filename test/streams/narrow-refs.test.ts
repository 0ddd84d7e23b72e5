import { expect, test } from "vitest";
import { type NewArray, openArray, rechunk, slice } from "../../src/index.ts";
import { namedMemoryStore, nameMemoryStore } from "../../src/stores/memory.ts";
import type { GetOptions } from "../../src/stores/store.ts";
import { given } from "../support/given.ts";

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
