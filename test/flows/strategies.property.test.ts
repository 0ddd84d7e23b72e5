// @module-tag sampled
import { readdir } from "node:fs/promises";
import fc from "fast-check";
import { afterAll, expect, test } from "vitest";
import { planFlow } from "../../src/flows/request/flow.ts";
import { runFlow } from "../../src/flows/run/run-flow.ts";
import { openArray } from "../../src/hierarchy/open/open.ts";
import { MemoryStore, namedMemoryStore, nameMemoryStore } from "../../src/stores/memory.ts";
import { isZarrflowError } from "../../src/util/errors.ts";
import { product } from "../../src/util/shape.ts";
import { temporaryFolder } from "../stores/temporary-folder.ts";
import { contentsOf } from "../support/consume.ts";
import { makeArray } from "../support/made-array.ts";
import { drawsAll, samples } from "../support/samples.ts";

const folder = temporaryFolder();

afterAll(async () => {
  expect(await readdir(folder.path)).toEqual([]);
});

/** All keys of a store with their values. */
async function contents(name: string): Promise<Record<string, string>> {
  const values = await contentsOf(namedMemoryStore(name) ?? new MemoryStore());
  nameMemoryStore(name, undefined);
  return values;
}

interface Case {
  readonly chunks: readonly number[];
  readonly ranges: [number, number, number][];
  readonly maxMemory: number;
  readonly writeEmpty?: boolean;
}

/** What a strategy makes; undefined where it does not fit the budget. */
async function made(source: MemoryStore, strategy: "direct" | "staged", given: Case) {
  const { chunks, ranges, maxMemory, writeEmpty = false } = given;
  const array = await openArray(source);
  try {
    const options = { chunks, slice: ranges, maxMemory, strategy, scratch: folder.path, writeEmpty };
    const planned = await planFlow(array, `memory:${strategy}`, options);
    const report = await runFlow(planned);
    expect(report.tasks).toBe(planned.plan.totals.tasks);
    expect(report.chunksRead).toBe(planned.plan.totals.chunksRead);
    expect(report.peakBuffers).toBeLessThanOrEqual(planned.plan.totals.predictedPeak);
    return { plan: planned.plan, values: await contents(strategy) };
  } catch (error) {
    if (isZarrflowError(error, "budget-too-small") || isZarrflowError(error, "invalid-option"))
      return undefined;
    throw error;
  }
}

const axis = fc.record({
  n: fc.oneof(
    { weight: 12, arbitrary: fc.integer({ min: 1, max: 13 }) },
    { weight: 1, arbitrary: fc.constant(0) },
  ),
  from: fc.integer({ min: 1, max: 7 }),
  to: fc.integer({ min: 1, max: 15 }),
  a: fc.nat(13),
  b: fc.nat(13),
  step: fc.constantFrom(1, 1, 1, 2, 5),
});

/** Arrays of rank 0 to 6 and items of 1 to 32 bytes, a part of each, and chunks to rechunk it to. */
const cases = fc
  .record({
    axes: fc.array(axis, { maxLength: 6 }).filter((axes) => product(axes.map(({ n }) => n)) <= 3000),
    order: fc.constantFrom("C" as const, "F" as const),
    itemSize: fc.integer({ min: 1, max: 32 }),
    missing: fc.constantFrom(0, 0, 0.3, 1),
    seed: fc.nat(1e6),
    maxMemory: fc.constantFrom(60_000, 150_000, 1e6),
    writeEmpty: fc.boolean(),
  })
  .map(({ axes, maxMemory, writeEmpty, ...rest }) => ({
    recipe: { shape: axes.map(({ n }) => n), chunks: axes.map(({ from }) => from), ...rest },
    chunks: axes.map(({ to }) => to),
    ranges: axes.map(({ n, a, b, step }): [number, number, number] => [
      Math.min(a, b, n),
      Math.min(Math.max(a, b), n),
      step,
    ]),
    maxMemory,
    writeEmpty,
  }));

test("the direct and the staged strategy write the same bytes", async () => {
  let stagedRuns = 0;
  await fc.assert(
    fc.asyncProperty(cases, async ({ recipe, ...options }) => {
      const { store } = await makeArray(recipe);
      const staged = await made(store, "staged", options);
      const direct = await made(store, "direct", options);
      if (staged === undefined) return;
      if (staged.plan.jobs.some(({ strategy }) => strategy === "staged")) stagedRuns++;
      expect(staged.values).toEqual(direct?.values);
    }),
    { numRuns: samples(200) },
  );
  // of a few, chance may choose none
  if (drawsAll) expect(stagedRuns).toBeGreaterThan(8);
});
