import { describe, expect, test } from "vitest";
import type { Region } from "../../src/streams/chunk.ts";
import { chunkRefs, type ShardedGrid } from "../../src/streams/chunk-refs.ts";

describe("references to chunks", () => {
  test("come in C order without shards, else shard by shard", () => {
    const grid = { shape: [4, 8], chunkShape: [1, 2] };
    const coords = (shards?: ShardedGrid["shards"]) =>
      [...chunkRefs({ ...grid, shards })].map((ref) => ref.coords.join(""));
    expect(coords()).toEqual("00 01 02 03 10 11 12 13 20 21 22 23 30 31 32 33".split(" "));
    expect(coords({ chunksPerShard: [2, 2] })).toEqual(
      "00 01 10 11 02 03 12 13 20 21 30 31 22 23 32 33".split(" "),
    );
  });

  test("leave out what a step passes over", () => {
    const grid = { shape: [20], chunkShape: [2], shards: { chunksPerShard: [3] } };
    const stepped = { start: [0], step: [5], shape: [4] };
    const found = (items?: Region) =>
      [...chunkRefs(grid, stepped, items)].map(
        ({ index, coords, region }) => `${index}: ${coords} at ${region.start}`,
      );
    expect(found()).toEqual(["0: 0 at 0", "1: 2 at 4", "2: 5 at 10", "3: 7 at 14"]);
    expect(found({ start: [1], shape: [2] })).toEqual(["0: 2 at 4", "1: 5 at 10"]);
  });

  test("are there at once, however many there are", () => {
    const huge = 2 ** 50;
    for (const chunksPerShard of [[huge / 2], [2 ** 19]]) {
      const refs = chunkRefs({ shape: [huge], chunkShape: [2], shards: { chunksPerShard } });
      for (const index of [0, 1]) expect(refs.next().value).toMatchObject({ index, coords: [index] });
    }
  }, 1000);
});
