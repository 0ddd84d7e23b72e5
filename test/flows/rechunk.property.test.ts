// @module-tag sampled
import { readdir } from "node:fs/promises";
import fc from "fast-check";
import { afterAll, expect, test } from "vitest";
import { readsOf, rechunk, slice, writesOf } from "../../src/flows/index.ts";
import { planFlow } from "../../src/flows/request/flow.ts";
import { runFlow } from "../../src/flows/run-flow.ts";
import { openArray } from "../../src/hierarchy/open/open.ts";
import { leaseBytesOf } from "../../src/plan/task.ts";
import { runPlan } from "../../src/run/run-plan.ts";
import { MemoryStore, namedMemoryStore, nameMemoryStore } from "../../src/stores/memory.ts";
import { type StoreRequest, withRequestLog } from "../../src/stores/with/request-log.ts";
import { openTargetBuild } from "../../src/targets/index.ts";
import { isZarrflowError } from "../../src/util/errors.ts";
import { product } from "../../src/util/shape.ts";
import { temporaryFolder } from "../stores/temporary-folder.ts";
import { bytesOf, contentsOf } from "../support/consume.ts";
import { makeArray, type Recipe } from "../support/made-array.ts";
import { tasksOf } from "../support/plan-tasks.ts";
import { rechunked } from "../support/recipes.ts";
import { drawsAll, samples } from "../support/samples.ts";

/** Bytes that one source chunk and one target chunk take decoded and encoded, in buffers of 4 KiB at least. */
function leastMemory({ itemSize, chunks: from }: Recipe, to: readonly number[]): number {
  return 4 * itemSize * (product(from) + product(to)) + 4 * 4096;
}

const isChunk = (key: string) => /^\d+(\.\d+)*$/.test(key);

test("a rechunked array holds what the naive model holds", async () => {
  await fc.assert(
    fc.asyncProperty(rechunked, fc.constantFrom(1000, 20000, 1e6), async ({ recipe, chunks }, spare) => {
      const made = await makeArray(recipe);
      const source = await openArray(made.store);
      const maxMemory = leastMemory(recipe, chunks) + spare;
      await rechunk(source, "memory:rechunked", { chunks, maxMemory, verify: true });
      expect((await openArray("memory:rechunked")).chunkShape).toEqual(chunks);
      expect((await bytesOf(slice("memory:rechunked").bytes())).equals(made.bytes)).toBe(true);
      nameMemoryStore("rechunked", undefined);
    }),
    { numRuns: samples(150) },
  );
});

test("tasks write every chunk once, read what they need, and fit the budget", async () => {
  await fc.assert(
    fc.asyncProperty(rechunked, fc.integer({ min: 1, max: 30000 }), async ({ recipe, chunks }, spare) => {
      const source = await openArray((await makeArray(recipe)).store);
      const maxMemory = leastMemory(recipe, chunks) + spare;
      const { plan } = await planFlow(source, "memory:planned", { chunks, maxMemory });
      const written = new Set<string>();
      let reads = 0;
      for (const task of tasksOf(plan)) {
        expect(leaseBytesOf(task)).toBeLessThanOrEqual(maxMemory);
        const isRead = task.kind === "scratch" ? task.pass === 0 : task.job.passes === undefined;
        if (isRead) reads += [...readsOf(task)].length;
        for (const coords of task.kind === "target" ? writesOf(task) : []) {
          expect(written.has(coords.join())).toBe(false);
          written.add(coords.join());
        }
      }
      const grid = product(recipe.shape.map((n, d) => Math.ceil(n / (chunks[d] ?? 1))));
      if (plan.totals.tasks > 0) expect(written.size).toBe(grid);
      expect(plan.totals.chunksRead).toBe(reads);
    }),
    { numRuns: samples(300) },
  );
});

test("totals equal the request log, and a plan runs as well after a trip through JSON", async () => {
  await fc.assert(
    fc.asyncProperty(rechunked, async ({ recipe, chunks }) => {
      const made = await makeArray({ ...recipe, missing: 0 });
      const maxMemory = leastMemory(recipe, chunks);
      const { plan } = await planFlow(await openArray(made.store), "memory:logged", { chunks, maxMemory });
      const requests: StoreRequest[] = [];
      const source = withRequestLog(made.store, (request) => requests.push(request));
      const build = await openTargetBuild(plan.target.store, { ifExists: "error" });
      const writes: StoreRequest[] = [];
      const store = withRequestLog(build.store, (request) => writes.push(request));
      await runPlan(JSON.parse(JSON.stringify(plan)), { source, build: { ...build, store } });

      const chunkReads = requests.filter(({ operation, key }) => operation === "get" && isChunk(key));
      if (plan.totals.tasks > 0) {
        expect(chunkReads.length).toBe(plan.totals.chunksRead);
        const chunkWrites = writes.filter(({ operation, key }) => operation === "set" && isChunk(key));
        expect(chunkWrites.length).toBeLessThanOrEqual(plan.totals.chunksWritten);
      }
      expect((await bytesOf(slice("memory:logged").bytes())).equals(made.bytes)).toBe(true);
      nameMemoryStore("logged", undefined);
    }),
    { numRuns: samples(60) },
  );
});

const folder = temporaryFolder();

afterAll(async () => {
  expect(await readdir(folder.path)).toEqual([]);
});

interface Case {
  readonly chunks: readonly number[];
  readonly ranges: [number, number, number][];
  readonly maxMemory: number;
  readonly writeEmptyChunks?: boolean;
}

/** What a strategy makes; undefined where it does not fit the budget. */
async function made(source: MemoryStore, strategy: "direct" | "staged", given: Case) {
  const { chunks, ranges, maxMemory, writeEmptyChunks = false } = given;
  const array = await openArray(source);
  try {
    const options = { chunks, slice: ranges, maxMemory, strategy, scratch: folder.path, writeEmptyChunks };
    const planned = await planFlow(array, `memory:${strategy}`, options);
    const report = await runFlow(planned);
    expect(report.tasks).toBe(planned.plan.totals.tasks);
    expect(report.chunksRead).toBe(planned.plan.totals.chunksRead);
    expect(report.peakBuffers).toBeLessThanOrEqual(planned.plan.totals.predictedPeak);
    const values = await contentsOf(namedMemoryStore(strategy) ?? new MemoryStore());
    nameMemoryStore(strategy, undefined);
    return { plan: planned.plan, values };
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
    writeEmptyChunks: fc.boolean(),
  })
  .map(({ axes, maxMemory, writeEmptyChunks, ...rest }) => ({
    recipe: { shape: axes.map(({ n }) => n), chunks: axes.map(({ from }) => from), ...rest },
    chunks: axes.map(({ to }) => to),
    ranges: axes.map(({ n, a, b, step }): [number, number, number] => [
      Math.min(a, b, n),
      Math.min(Math.max(a, b), n),
      step,
    ]),
    maxMemory,
    writeEmptyChunks,
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
