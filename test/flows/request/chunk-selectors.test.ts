// @module-tag slow
import { describe, expect, it } from "vitest";
import type { ChunkSize } from "../../../src/flows/request/chunk-option.ts";
import { planFlow } from "../../../src/flows/request/flow.ts";
import type { Changes } from "../../../src/flows/request/flow-options.ts";
import { copy, openArray, rechunk } from "../../../src/index.ts";
import { MemoryStore } from "../../../src/stores/memory.ts";
import { type GivenArray, given } from "../../support/given.ts";

const along = (chunks: number[], ...dimensionNames: string[]): GivenArray => {
  const length = { time: 40, lat: 30, lon: 20 } as Record<string, number>;
  return { shape: dimensionNames.map((d) => length[d] ?? 1), chunks, dataType: "float64", dimensionNames };
};

const source = () =>
  given({
    zarrFormat: "v3",
    arrays: {
      t2m: along([1, 30, 20], "time", "lat", "lon"),
      s1: along([1, 30, 20], "time", "lat", "lon"),
      s2: along([1, 30], "time", "lat"),
      series: along([4], "time"),
      time: along([10], "time"),
      crs: along([]),
    },
  });

/** Arrays whose chunks are other ones, with these; and those that are named as keeping theirs. */
async function planned(changes: Pick<Changes, "match" | "shards"> & Required<Pick<Changes, "chunks">>) {
  const { plan, close } = await planFlow(await source(), new MemoryStore(), changes);
  await close();
  const changed = plan.jobs.filter(({ source, target }) => `${source.chunkShape}` !== `${target.chunkShape}`);
  return {
    chunks: Object.fromEntries(changed.map(({ path, target }) => [path, target.chunkShape])),
    kept: plan.chunksKept?.map(({ path, has, lacks }) => `${path}: ${has} not ${lacks}`),
  };
}

describe("chunks by dimension name", () => {
  it("mean arrays that have all of them, and say which have some", async () => {
    expect(await planned({ chunks: { time: -1, lon: 5 } })).toEqual({
      chunks: { t2m: [40, 30, 5], s1: [40, 30, 5] },
      kept: ["s2: time not lon", "series: time not lon"],
    });
    expect((await planned({ chunks: { time: -1 } })).kept).toBeUndefined();
  });

  it("mean arrays that have any of them, where that is asked for", async () => {
    expect(await planned({ chunks: "time=-1,lon=5", match: "any" })).toEqual({
      chunks: { t2m: [40, 30, 5], s1: [40, 30, 5], s2: [40, 30], series: [40] },
      kept: undefined,
    });
    const wrong = planned({ chunks: "time=-1", match: "some" as "any" });
    await expect(wrong).rejects.toMatchObject({ code: "invalid-option" });
  });
});

describe("chunks of arrays that a pattern matches", () => {
  it.each<[string | string[], Record<string, number[]>]>([
    ["s*:time=-1,lat=16", { s1: [40, 16, 20], s2: [40, 16] }],
    ["{t2m,s1}:lon=-1,time=8", { t2m: [8, 30, 20], s1: [8, 30, 20] }],
    ["s?:4,5", { s2: [4, 5] }],
    ["*:time=20", { t2m: [20, 30, 20], s1: [20, 30, 20], s2: [20, 30], series: [20] }],
    [
      ["time=20", "s*:time=10", "s1:time=5"],
      { t2m: [20, 30, 20], s1: [5, 30, 20], s2: [10, 30], series: [10] },
    ],
    [["s1:time=5", "s*:time=10"], { s1: [5, 30, 20], s2: [10, 30], series: [10] }],
    ["s*:auto", { s1: [40, 30, 20], s2: [40, 30], series: [40] }],
  ])("%s", async (chunks, expected) => {
    expect((await planned({ chunks })).chunks).toEqual(expected);
  });

  it.each([
    ["q*:time=-1", "Its arrays are"],
    ["s*:tiem=-1", "Did you mean `time`?"],
    ["s*:1,2,3,4", "Give one size per dimension of the arrays."],
  ])("%s is rejected", async (chunks, hint) => {
    const error = { code: "invalid-option", details: { hint: expect.stringContaining(hint) } };
    await expect(planned({ chunks })).rejects.toMatchObject(error);
  });
});

describe("chunks of a size", () => {
  it("are of at most that size in every array", async () => {
    const { chunks } = await planned({ chunks: "10kB" });
    // 1250 items: two maps of 600; the others are smaller as a whole.
    expect(chunks).toEqual({ t2m: [2, 30, 20], s1: [2, 30, 20], s2: [40, 30], series: [40], time: [40] });
  });

  it("divide chunks that are larger", async () => {
    expect((await planned({ chunks: "2kB" })).chunks).toMatchObject({ t2m: [1, 15, 10], s2: [8, 30] });
  });

  it.each<[Changes["chunks"], number[]]>([
    ["time=auto,lat=1", [40, 1, 20]],
    [{ time: "auto", lat: 1, lon: 1 }, [40, 1, 1]],
  ])("are made along the dimensions that are left open: %o", async (chunks, expected) => {
    expect((await planned({ chunks: chunks ?? {} })).chunks.t2m).toEqual(expected);
  });

  it("are given in order for one array", async () => {
    const [store, to, chunks] = [await source(), new MemoryStore(), [-1, 1, "auto"] as ChunkSize[]];
    await rechunk(await openArray({ store, path: "t2m" }), to, { chunks, verify: "values" });
    expect((await openArray(to)).chunkShape).toEqual([40, 1, 20]);
  });

  it.each(["0MB", "16XB", "auto,5,5,5", "-1MB", "time=16MB"])("are not %s", async (chunks) => {
    await expect(planned({ chunks })).rejects.toMatchObject({ code: "invalid-option" });
  });

  it("hold whole inner chunks of shards, and shards whole chunks", async () => {
    const [sharded, merged, again] = [new MemoryStore(), new MemoryStore(), new MemoryStore()];
    await copy(await source(), sharded, { shards: "t2m:8,30,20" });
    await rechunk(sharded, merged, { chunks: "t2m:20kB", verify: "values" });
    expect(await openArray({ store: merged, path: "t2m" })).toMatchObject({ chunkShape: [4, 30, 20] });
    await copy(sharded, again, { shards: "t2m:50kB", verify: "values" });
    const { metadata } = await openArray({ store: again, path: "t2m" });
    expect(metadata.chunkGrid).toEqual({ chunkShape: [10, 30, 20], innerChunkShape: [1, 30, 20] });
  });
});
