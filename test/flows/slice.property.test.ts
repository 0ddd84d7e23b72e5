// @module-tag sampled
import { readdir } from "node:fs/promises";
import fc from "fast-check";
import { afterAll, describe, expect, test } from "vitest";
import { planSlice, slice } from "../../src/flows/index.ts";
import { openArray } from "../../src/hierarchy/open/open.ts";
import { type StoreRequest, withRequestLog } from "../../src/stores/with/request-log.ts";
import { coordsOf, cStrides, product } from "../../src/util/shape.ts";
import { temporaryFolder } from "../stores/temporary-folder.ts";
import { bytesOf } from "../support/consume.ts";
import { makeArray, naiveSlice, type Recipe } from "../support/made-array.ts";
import { selectionOf, slicedRecipes } from "../support/recipes.ts";
import { drawsAll, samples } from "../support/samples.ts";

/** Recipes whose items JavaScript holds as numbers, so that chunks() can be compared item by item. */
async function open(recipe: Recipe) {
  const made = await makeArray(recipe);
  return { made, array: await openArray(made.store) };
}

const leastMemory = ({ itemSize, chunks }: Recipe) => 4 * itemSize * product(chunks) + 4 * 4096;

test("bytes() gives the items of the naive model in C order, whatever the budget", async () => {
  await fc.assert(
    fc.asyncProperty(slicedRecipes, fc.constantFrom(0, 8192, 1e7), async ({ recipe, ranges }, spare) => {
      const { made, array } = await open(recipe);
      const found = await bytesOf(slice(array, ranges, { maxMemory: leastMemory(recipe) + spare }).bytes());
      expect(found.equals(naiveSlice(made, recipe, selectionOf(ranges)))).toBe(true);
    }),
    { numRuns: samples(200) },
  );
});

test("chunks() covers every item once, each where it belongs", async () => {
  await fc.assert(
    fc.asyncProperty(slicedRecipes, async ({ recipe, ranges }) => {
      const { made, array } = await open({ ...recipe, itemSize: 3 });
      const selection = selectionOf(ranges);
      const expected = naiveSlice(made, { ...recipe, itemSize: 3 }, selection);
      const strides = cStrides(selection.shape);
      const seen = new Set<number>();
      for await (const { region, data, shape, stride } of slice(array, ranges).chunks()) {
        for (const coords of coordsOf(shape)) {
          const at = coords.reduce((sum, c, d) => sum + (c + (region.start[d] ?? 0)) * (strides[d] ?? 0), 0);
          const value = data.at(coords.reduce((sum, c, d) => sum + c * (stride[d] ?? 0), 0));
          expect(value).toEqual(expected.slice(3 * at, 3 * at + 3));
          expect(seen.has(at)).toBe(false);
          seen.add(at);
        }
      }
      expect(seen.size).toBe(product(selection.shape));
    }),
    { numRuns: samples(100) },
  );
});

test("read() gives typed values in C order; an index drops its dimension", async () => {
  const recipe: Recipe = { shape: [5, 7], chunks: [2, 3], order: "F", itemSize: 4, missing: 0, seed: 7 };
  const { made, array } = await open(recipe);
  const { data, shape, stride } = await slice(array, [2, [1, 6, 2]]).read();
  expect([shape, stride]).toEqual([[3], [1]]);
  const expected = naiveSlice(made, recipe, { start: [2, 1], step: [1, 2], shape: [1, 3] });
  expect([...data]).toEqual([0, 4, 8].map((at) => expected.slice(at, at + 4)));
});

describe("items in C order that go through scratch objects", { tags: ["slow"] }, () => {
  const folder = temporaryFolder();
  afterAll(async () => {
    expect(await readdir(folder.path)).toEqual([]);
  });

  const stagedWithin = (maxMemory: number) =>
    ({ maxMemory, strategy: "staged", scratch: folder.path }) as const;
  const columns = (n: number): Recipe => {
    return { shape: [n, 64], chunks: [n, 1], order: "C", itemSize: 8, missing: 0, seed: 3 };
  };

  test("are those of the naive model", async () => {
    let stagedRuns = 0;
    await fc.assert(
      fc.asyncProperty(slicedRecipes, fc.constantFrom(60_000, 1e6), async ({ recipe, ranges }, budget) => {
        const { made, array } = await open(recipe);
        const options = stagedWithin(Math.max(budget, leastMemory(recipe)));
        if ((await planSlice(array, ranges, options)).job.passes) stagedRuns++;
        const found = await bytesOf(slice(array, ranges, options).bytes());
        expect(found.equals(naiveSlice(made, recipe, selectionOf(ranges)))).toBe(true);
      }),
      { numRuns: samples(150) },
    );
    // of a few, chance may choose none
    if (drawsAll) expect(stagedRuns).toBeGreaterThan(30);
  });

  test("are decoded once, where slabs would decode columns again and again", async () => {
    const made = await makeArray(columns(1500));
    const requests: StoreRequest[] = [];
    const array = await openArray(withRequestLog(made.store, (request) => requests.push(request)));
    const direct = await planSlice(array, {}, { maxMemory: 120_000, strategy: "direct" });
    expect(direct.readAmplification).toBeGreaterThan(5);
    const plan = await planSlice(array, {}, stagedWithin(120_000));
    expect(plan.readAmplification).toBe(1);
    expect(plan.predictedPeak).toBeLessThanOrEqual(120_000);
    requests.length = 0;
    const found = await bytesOf(slice(array, {}, stagedWithin(120_000)).bytes());
    expect(found.equals(made.bytes)).toBe(true);
    const chunks = requests.filter(({ operation, key }) => operation === "get" && !key.startsWith("."));
    expect(chunks).toHaveLength(64);
  });

  test("leave no scratch object of who stops early", async () => {
    const { array } = await open(columns(500));
    for await (const piece of slice(array, {}, stagedWithin(100_000)).bytes()) {
      expect(piece.length).toBeLessThan(500 * 64 * 8);
      break;
    }
    expect(await readdir(folder.path)).toEqual([]);
  });
});
