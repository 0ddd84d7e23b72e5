// @module-tag sampled
// @module-tag slow
import fc from "fast-check";
import { afterEach, expect, test } from "vitest";
import { rechunk, slice, sliceTo } from "../../src/flows/index.ts";
import { planFlow } from "../../src/flows/request/flow.ts";
import { runFlow } from "../../src/flows/run-flow.ts";
import { openArray } from "../../src/index.ts";
import { type MemoryStore, namedMemoryStore, nameMemoryStore } from "../../src/stores/memory.ts";
import { type StoreRequest, withRequestLog } from "../../src/stores/with/request-log.ts";
import { coordsOf, indexOf, product } from "../../src/util/shape.ts";
import { bytesOf } from "../support/consume.ts";
import { given } from "../support/given.ts";
import { naiveSlice } from "../support/made-array.ts";
import { rangesOf, selectionOf } from "../support/recipes.ts";
import { samples } from "../support/samples.ts";
import { sharded, shardedItems } from "../support/sharded-recipes.ts";

const NAMES = ["part", "resharded", "words", "moved-wide", "moved-plain", "moved-back", "indexes", "recoded"];
afterEach(() => {
  for (const name of NAMES) nameMemoryStore(name, undefined);
});

type Sharded = typeof sharded extends fc.Arbitrary<infer T> ? T : never;

async function made({ array, filled, seed }: Sharded) {
  const items = shardedItems(array.shape, filled, seed);
  const store = await given({ ...array, values: items.length > 0 ? items : null });
  return { store, bytes: new Uint8Array(items.buffer) };
}

const sliced = sharded.chain((recipe) => rangesOf(recipe.array.shape).map((ranges) => ({ recipe, ranges })));

test("a slice of a sharded array is that of the naive model, and becomes an array of its own, in shards too", async () => {
  await fc.assert(
    fc.asyncProperty(sliced, fc.constantFrom(300_000, 1e6), async ({ recipe, ranges }, maxMemory) => {
      const { store, bytes } = await made(recipe);
      const array = await openArray(store);
      const { shape } = recipe.array;
      const expected = naiveSlice({ bytes }, { shape, itemSize: 2 }, selectionOf(ranges));
      expect((await bytesOf(slice(array, ranges, { maxMemory }).bytes())).equals(expected)).toBe(true);
      nameMemoryStore("part", undefined);
      await sliceTo(array, "memory:part", { slice: ranges, maxMemory: 4e6 });
      const part = await openArray("memory:part");
      expect(part.chunkShape).toEqual(array.chunkShape);
      expect((await bytesOf(slice(part).bytes())).equals(expected)).toBe(true);
    }),
    { numRuns: samples(150) },
  );
});

test("sharded arrays are rechunked to shards and to plain chunks, as planned", async () => {
  const into = fc.constantFrom("shards", "chunks", "same chunks in shards", "same chunks");
  await fc.assert(
    fc.asyncProperty(sharded, into, fc.constantFrom(700_000, 4e6), async (recipe, how, maxMemory) => {
      const { store, bytes } = await made(recipe);
      const requests: StoreRequest[] = [];
      const source = await openArray(withRequestLog(store, (request) => requests.push(request)));
      const chunks = how.startsWith("same") ? recipe.chunk : recipe.chunks;
      const shards = chunks.map((n, d) => n * ((recipe.shards[d] ?? 1) / (recipe.chunks[d] ?? 1)));
      const changes = { chunks, ...(how.endsWith("shards") && { shards }), maxMemory };
      const planned = await planFlow(source, "memory:resharded", changes);
      const before = requests.length;
      const report = await runFlow(planned, { verify: true });
      const { totals, jobs } = planned.plan;

      expect(report.peakBuffers).toBeLessThanOrEqual(totals.predictedPeak);
      expect(totals.predictedPeak).toBeLessThanOrEqual(maxMemory);
      if (totals.tasks > 0) {
        expect(report.chunksRead).toBe(totals.chunksRead);
        expect(report.chunksWritten).toBe(totals.chunksWritten);
        const isChunk = ({ operation, key }: StoreRequest) => operation === "get" && key.startsWith("c");
        const gets = requests.slice(before).filter(isChunk);
        const { shape, chunks: grid } = recipe.array;
        const values = product(shape.map((n, d) => Math.ceil(n / (grid[d] ?? 1))));
        const perShard = recipe.kind === "nested" ? 1 + product(jobs[0]?.source.shardShape ?? []) : 1;
        expect(gets.length).toBeLessThanOrEqual(totals.chunksRead + values * perShard);
      }
      const target = await openArray("memory:resharded");
      expect(target.innerChunks().chunkShape).toEqual(chunks);
      if (how.endsWith("shards")) expect(target.chunkShape).toEqual(shards);
      expect((await bytesOf(slice(target).bytes())).equals(bytes)).toBe(true);
      nameMemoryStore("resharded", undefined);
    }),
    { numRuns: samples(200) },
  );
});

test("strings in shards are rechunked, and sliced, as the naive model has them", async () => {
  const axis = fc.record({
    n: fc.integer({ min: 1, max: 12 }),
    chunk: fc.integer({ min: 1, max: 4 }),
    shard: fc.integer({ min: 1, max: 4 }),
    newChunk: fc.integer({ min: 1, max: 5 }),
    newShard: fc.integer({ min: 1, max: 3 }),
  });
  const word = fc.oneof(fc.constant("empty"), fc.string({ unit: "grapheme", maxLength: 9 }));
  const words = fc.array(word, { minLength: 1, maxLength: 20 });
  const recipes = fc
    .array(axis, { minLength: 1, maxLength: 2 })
    .chain((axes) => fc.tuple(fc.constant(axes), words, rangesOf(axes.map(({ n }) => n))));
  const into = fc.constantFrom("shards", "chunks", "the same chunks in shards");
  await fc.assert(
    fc.asyncProperty(recipes, into, async ([axes, words, ranges], how) => {
      const shape = axes.map(({ n }) => n);
      const values = Array.from({ length: product(shape) }, (_, i) => words[(i * i) % words.length] ?? "");
      const chunks = axes.map(({ chunk }) => chunk);
      const grid = { shape, chunks, shards: axes.map(({ chunk, shard }) => chunk * shard) };
      const store = await given({ ...grid, dataType: "string", fillValue: "empty", values });
      const newChunks = how.startsWith("the same") ? chunks : axes.map(({ newChunk }) => newChunk);
      const shards = newChunks.map((n, d) => n * (axes[d]?.newShard ?? 1));
      const changes = { chunks: newChunks, ...(how.endsWith("shards") && { shards }), maxMemory: 4e6 };
      await rechunk(await openArray(store), "memory:words", { ...changes, verify: true });
      const rechunkedWords = await openArray("memory:words");
      expect([...(await slice(rechunkedWords).read()).data]).toEqual(values);
      const { start, step, shape: taken } = selectionOf(ranges);
      const expected = Array.from(coordsOf(taken), (coords) => {
        const at = coords.map((i, d) => (start[d] ?? 0) + i * (step[d] ?? 1));
        return values[indexOf(at, shape)];
      });
      expect([...(await slice(rechunkedWords, ranges).read()).data]).toEqual(expected);
      nameMemoryStore("words", undefined);
    }),
    { numRuns: samples(100) },
  );
});

test("chunks move between shards, and out of and into them, as they are stored", async () => {
  const items = Uint16Array.from({ length: 256 }, (_, i) => (i < 128 ? i : 0));
  const grid = { shape: [16, 16], chunks: [2, 4], shards: [8, 8] };
  const store = await given({ ...grid, dataType: "uint16", codec: "zstd:1", fillValue: 0, values: items });
  expect(await store.size("c/0/0")).toBeGreaterThan(0);
  expect(await store.size("c/1/0")).toBeUndefined();

  const strategies: string[] = [];
  const move = async (from: string | MemoryStore, to: string, shards: string | number[]) => {
    const source = await openArray(from);
    const planned = await planFlow(source, to, { chunks: [2, 4], shards });
    strategies.push(...planned.plan.jobs.map(({ strategy }) => strategy));
    await runFlow(planned, {});
    expect((await bytesOf(slice(to).bytes())).equals(Buffer.from(items.buffer))).toBe(true);
  };
  await move(store, "memory:moved-wide", [16, 16]);
  await move("memory:moved-wide", "memory:moved-plain", "none");
  await move("memory:moved-plain", "memory:moved-back", [8, 8]);
  expect(strategies).toEqual(["verbatim", "verbatim", "verbatim"]);
  const [before, after] = [await store.get("c/0/1"), await namedMemoryStore("moved-back")?.get("c/0/1")];
  expect(after?.length).toBe(before?.length);
});

test("whole shards that are mostly index fit the budget too", async () => {
  const shards = { shape: [2048], chunks: [1], shards: [512], values: (i: number) => 1 + (i % 255) };
  const array = await openArray(await given({ dataType: "uint8", ...shards }));
  for (const maxMemory of [100_000, 1e6]) {
    const planned = await planFlow(array, "memory:indexes", { slice: [[0, 2048]], maxMemory });
    expect(planned.plan.jobs[0]).toMatchObject({ strategy: "verbatim", tasks: expect.any(Number) });
    const { peakBuffers } = await runFlow(planned, {});
    expect(peakBuffers).toBeGreaterThan(0);
    expect(peakBuffers).toBeLessThanOrEqual(planned.plan.totals.predictedPeak);
    const found = await bytesOf(slice("memory:indexes").bytes());
    expect(found.equals(await bytesOf(slice(array).bytes()))).toBe(true);
    nameMemoryStore("indexes", undefined);
  }
});

test("rechunk in a group leaves other arrays' shards as they are", async () => {
  const store = await given({ shape: [8], dataType: "uint8", chunks: [2], shards: [8] });
  const report = await rechunk(await openArray(store), "memory:recoded", { chunks: {}, codec: "gzip" });
  expect(report.chunksRead).toBe(4);
  const recoded = await openArray("memory:recoded");
  expect(recoded.chunkShape).toEqual([8]);
  expect(JSON.stringify(recoded.metadata.codecs)).toContain("gzip");
  expect([...(await bytesOf(slice(recoded).bytes()))]).toEqual([0, 1, 2, 3, 4, 5, 6, 7]);
});
