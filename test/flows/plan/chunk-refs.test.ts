import { expect, test } from "vitest";
import { chunkRefs } from "../../../src/flows/plan/chunk-refs.ts";
import { chunksHit } from "../../../src/streams/chunks-hit.ts";

const hit = (count: number, sourceChunk: number, step = 1) =>
  chunksHit({ start: 0, step, count, sourceChunk }, 0, count);

test("chunks come in C order without shards, else shard by shard", () => {
  const grid = { shape: [4, 8], chunkShape: [1, 2] };
  const coords = (shardShape?: number[]) =>
    [...chunkRefs({ ...grid, ...(shardShape && { shardShape }) }, [hit(4, 1), hit(8, 2)])].map((ref) =>
      ref.coords.join(""),
    );
  expect(coords()).toEqual("00 01 02 03 10 11 12 13 20 21 22 23 30 31 32 33".split(" "));
  expect(coords([2, 4])).toEqual("00 01 10 11 02 03 12 13 20 21 30 31 22 23 32 33".split(" "));
});

test("chunks that a step passes over are left out", () => {
  const refs = [...chunkRefs({ shape: [20], chunkShape: [2], shardShape: [6] }, [hit(4, 2, 5)])];
  expect(refs.map(({ index, coords, region }) => [index, coords, region.start])).toEqual([
    [0, [0], [0]],
    [1, [2], [4]],
    [2, [5], [10]],
    [3, [7], [14]],
  ]);
});

test("the first chunks are there at once, however many there are", () => {
  const huge = 2 ** 50;
  for (const shardShape of [[huge], [2 ** 20]]) {
    const refs = chunkRefs({ shape: [huge], chunkShape: [2], shardShape }, [hit(huge, 2)]);
    expect(refs.next().value).toMatchObject({ index: 0, coords: [0] });
    expect(refs.next().value).toMatchObject({ index: 1, coords: [1] });
  }
}, 1000);
