// @module-tag slow
import { describe, expect, it } from "vitest";
import { type PlannedFlow, planFlow } from "../../src/flows/request/flow.ts";
import { runFlow } from "../../src/flows/run-flow.ts";
import {
  copy,
  openArray,
  planSlice,
  rechunk,
  slice,
  type ZarrArray,
  type ZarrflowError,
} from "../../src/index.ts";
import { namedMemoryStore } from "../../src/stores/memory.ts";
import { coordsOf, product } from "../../src/util/shape.ts";
import { testFolder } from "../support/cli.ts";
import { bytesOf } from "../support/consume.ts";
import { givenKeys } from "../support/given.ts";
import { oneIn } from "../support/samples.ts";

let targets = 0;
const newTarget = () => `memory:budget-${++targets}`;

/** An array of uncompressed chunks, in memory. */
async function arrayOf(shape: readonly number[], chunks: readonly number[]): Promise<ZarrArray> {
  const document = { zarr_format: 2, shape, chunks, dtype: "<f4", compressor: null, fill_value: null };
  const store = await givenKeys({ ".zarray": { ...document, order: "C", filters: null } });
  const grid = shape.map((n, d) => Math.ceil(n / (chunks[d] ?? 1)));
  for (const [i, coords] of [...coordsOf(grid)].entries())
    await store.set(coords.join("."), new Uint8Array(4 * product(chunks)).fill(1 + (i % 200)));
  return openArray(store);
}

async function expectWithin(maxMemory: number, planned: PlannedFlow): Promise<void> {
  const { peakBuffers } = await runFlow(planned, {});
  expect(peakBuffers).toBeLessThanOrEqual(planned.plan.totals.predictedPeak);
  expect(planned.plan.totals.predictedPeak).toBeLessThanOrEqual(maxMemory);
}

async function smallestBudget(attempt: (maxMemory: number) => Promise<unknown>): Promise<number> {
  const error = await attempt(1).catch((thrown) => thrown);
  expect(error).toMatchObject({ code: "budget-too-small" });
  return Number(/(\d+) bytes/.exec(String((error as ZarrflowError).details.expected))?.[1]);
}

describe("buffers stay within what the plan predicts, and that within the budget", () => {
  const cases = [
    ["large chunks to large chunks", [64, 300, 300], [8, 300, 300], [64, 50, 50], {}],
    ["sizes just above a power of two", [33, 257, 129], [3, 257, 129], [33, 65, 33], { codec: "zstd" }],
    ["one chunk to very many tiny ones", [42, 45], [42, 45], [2, 3], {}],
    ["very many tiny chunks to one", [42, 45], [2, 3], [42, 45], { codec: "blosc" }],
    ["many tiny chunks to other tiny ones", [50, 60], [3, 5], [4, 2], {}],
    ["the same grid, another codec", [64, 128, 130], [4, 128, 130], [4, 128, 130], { codec: "zstd" }],
  ] as const;
  for (const [i, [name, shape, from, chunks, codec]] of cases.entries()) {
    for (const [j, times] of [1, 3, 20].entries()) {
      it(`${name}, at ${times} times the smallest budget`, oneIn(2, i + j), async () => {
        const array = await arrayOf(shape, from);
        const planned = (maxMemory: number) => planFlow(array, newTarget(), { chunks, ...codec, maxMemory });
        const maxMemory = times * (await smallestBudget(planned));
        await expectWithin(maxMemory, await planned(maxMemory));
      });
    }
  }

  it("as bytes in C order", async () => {
    const array = await arrayOf([9, 130, 129], [3, 50, 129]);
    const smallest = await smallestBudget((maxMemory) => planSlice(array, {}, { maxMemory }));
    for (const maxMemory of [smallest, 3 * smallest]) {
      expect((await planSlice(array, {}, { maxMemory })).predictedPeak).toBeLessThanOrEqual(maxMemory);
      expect(await bytesOf(slice(array, {}, { maxMemory }).bytes())).toHaveLength(9 * 130 * 129 * 4);
    }
  });

  it("copied as they are, in pieces of chunks larger than the budget", async () => {
    const target = newTarget();
    await expectWithin(1e6, await planFlow(await arrayOf([4, 3e5], [1, 3e5]), target, { maxMemory: 1e6 }));
    const copied = await namedMemoryStore(target.slice(7))?.get("3.0");
    expect(Buffer.compare(copied ?? new Uint8Array(), new Uint8Array(1_200_000).fill(4))).toBe(0);
  });

  it("copied with the smallest budget", async () => {
    const planned = async (maxMemory: number) =>
      planFlow(await arrayOf([4], [2]), newTarget(), { maxMemory });
    const smallest = await smallestBudget(planned);
    await expectWithin(smallest, await planned(smallest));
  });

  it.each([
    ["a copy", copy, { maxMemory: 3e6 }, 13],
    ["a rechunked array", rechunk, { chunks: [2, 3e5], maxMemory: 12e6 }, 7],
  ] as const)("read back: %s", async (_, flow, options, keys) => {
    const array = await arrayOf([12, 3e5], [1, 3e5]);
    const target = `${await testFolder()}/target.zarr`;
    const report = await flow(array, target, { ...options, verify: true } as never);
    expect(report.keysVerified).toBe(keys);
    expect(report.peakBuffers).toBeLessThanOrEqual(options.maxMemory);
  });
});
