// @module-tag slow
// @module-tag sampled
import { readdir } from "node:fs/promises";
import fc from "fast-check";
import { afterAll, expect, test } from "vitest";
import { planSlice, slice } from "../../src/flows/index.ts";
import { openArray } from "../../src/hierarchy/open/open.ts";
import { type StoreRequest, withRequestLog } from "../../src/stores/with/request-log.ts";
import { product } from "../../src/util/shape.ts";
import { temporaryFolder } from "../stores/temporary-folder.ts";
import { bytesOf } from "../support/consume.ts";
import { makeArray, naiveSlice, type Recipe } from "../support/made-array.ts";
import { rangesOf, rechunked } from "../support/recipes.ts";
import { drawsAll, samples } from "../support/samples.ts";

const folder = temporaryFolder();

afterAll(async () => {
  expect(await readdir(folder.path)).toEqual([]);
});

test("items in C order that went through scratch objects are those of the naive model", async () => {
  let stagedRuns = 0;
  const sliced = rechunked.chain(({ recipe }) =>
    rangesOf(recipe.shape).map((ranges) => ({ recipe, ranges })),
  );
  await fc.assert(
    fc.asyncProperty(sliced, fc.constantFrom(60_000, 1e6), async ({ recipe, ranges }, budget) => {
      const made = await makeArray(recipe);
      const array = await openArray(made.store);
      const maxMemory = Math.max(budget, 4 * recipe.itemSize * product(recipe.chunks) + 4 * 4096);
      const options = { maxMemory, strategy: "staged", scratch: folder.path } as const;
      if ((await planSlice(array, ranges, options)).job.passes) stagedRuns++;
      const found = await bytesOf(slice(array, ranges, options).bytes());
      const selection = {
        start: ranges.map(([start]) => start),
        step: ranges.map(([, , step]) => step),
        shape: ranges.map(([start, stop, step]) => Math.max(0, Math.ceil((stop - start) / step))),
      };
      expect(found.equals(naiveSlice(made, recipe, selection))).toBe(true);
    }),
    { numRuns: samples(150) },
  );
  // of a few, chance may choose none
  if (drawsAll) expect(stagedRuns).toBeGreaterThan(30);
});

test("columns are decoded once, where slabs would decode them again and again", async () => {
  const n = 1500;
  const recipe: Recipe = { shape: [n, 64], chunks: [n, 1], order: "C", itemSize: 8, missing: 0, seed: 3 };
  const made = await makeArray(recipe);
  const requests: StoreRequest[] = [];
  const array = await openArray(withRequestLog(made.store, (request) => requests.push(request)));
  const maxMemory = 120_000;
  const direct = await planSlice(array, {}, { maxMemory, strategy: "direct" });
  expect(direct.readAmplification).toBeGreaterThan(5);
  const plan = await planSlice(array, {}, { maxMemory, strategy: "staged", scratch: folder.path });
  expect(plan.readAmplification).toBe(1);
  expect(plan.predictedPeak).toBeLessThanOrEqual(maxMemory);
  requests.length = 0;
  const options = { maxMemory, strategy: "staged", scratch: folder.path } as const;
  expect((await bytesOf(slice(array, {}, options).bytes())).equals(made.bytes)).toBe(true);
  const chunks = requests.filter(({ operation, key }) => operation === "get" && !key.startsWith("."));
  expect(chunks).toHaveLength(64);
});

test("who stops early leaves no scratch object", async () => {
  const recipe: Recipe = { shape: [500, 64], chunks: [500, 1], order: "C", itemSize: 8, missing: 0, seed: 3 };
  const array = await openArray((await makeArray(recipe)).store);
  for await (const piece of slice(
    array,
    {},
    { maxMemory: 100_000, strategy: "staged", scratch: folder.path },
  ).bytes()) {
    expect(piece.length).toBeLessThan(product(recipe.shape) * 8);
    break;
  }
  expect(await readdir(folder.path)).toEqual([]);
});
