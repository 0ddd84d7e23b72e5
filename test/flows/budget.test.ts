// @module-tag slow

import { describe, expect, it } from "vitest";
import { copy, rechunk } from "../../src/flows/copy.ts";
import { planSlice } from "../../src/flows/plan-slice.ts";
import { type PlannedFlow, planFlow } from "../../src/flows/request/flow.ts";
import { runFlow } from "../../src/flows/run/run-flow.ts";
import { slice } from "../../src/flows/slice.ts";
import type { ZarrArray } from "../../src/hierarchy/node.ts";
import { openArray } from "../../src/hierarchy/open/open.ts";
import type { CodecText } from "../../src/meta/codec-option.ts";
import { namedMemoryStore } from "../../src/stores/memory.ts";
import { ZarrflowError } from "../../src/util/errors.ts";
import { testFolder } from "../support/cli.ts";
import { givenKeys } from "../support/given.ts";
import { oneIn } from "../support/samples.ts";

let targets = 0;

/** An array of uncompressed chunks, in memory. */
async function arrayOf(shape: number[], chunks: number[], dtype = "<f4"): Promise<ZarrArray> {
  const document = { zarr_format: 2, shape, chunks, dtype, compressor: null, fill_value: null, order: "C" };
  const store = await givenKeys({ ".zarray": { ...document, filters: null } });
  const size = chunks.reduce((bytes, n) => bytes * n, Number(dtype.slice(2)));
  const grid = shape.map((n, d) => Math.ceil(n / (chunks[d] ?? 1)));
  const keys = grid.reduce<string[]>(
    (prefixes, n) => prefixes.flatMap((p) => Array.from({ length: n }, (_, i) => (p ? `${p}.${i}` : `${i}`))),
    [""],
  );
  for (const [i, key] of keys.entries()) await store.set(key, new Uint8Array(size).fill(1 + (i % 200)));
  return openArray(store);
}

function newTarget(): string {
  targets++;
  return `memory:budget-${targets}`;
}

async function run(planned: PlannedFlow, options = {}): Promise<{ peak: number; predicted: number }> {
  const report = await runFlow(planned, options);
  return { peak: report.peakBuffers, predicted: planned.plan.totals.predictedPeak };
}

async function smallestBudget(attempt: (maxMemory: number) => Promise<unknown>): Promise<number> {
  const error = await attempt(1).catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(ZarrflowError);
  expect(error).toMatchObject({ code: "budget-too-small" });
  return Number(/(\d+) bytes/.exec(String((error as ZarrflowError).details.expected))?.[1]);
}

describe("buffers stay within what the plan predicts, and that within the budget", () => {
  const cases: [string, number[], number[], number[], CodecText | undefined][] = [
    ["large chunks to large chunks", [64, 300, 300], [8, 300, 300], [64, 50, 50], undefined],
    ["sizes just above a power of two", [33, 257, 129], [3, 257, 129], [33, 65, 33], "zstd"],
    ["one chunk to very many tiny ones", [42, 45], [42, 45], [2, 3], undefined],
    ["very many tiny chunks to one", [42, 45], [2, 3], [42, 45], "blosc"],
    ["many tiny chunks to other tiny ones", [50, 60], [3, 5], [4, 2], undefined],
    ["the same grid, another codec", [64, 128, 130], [4, 128, 130], [4, 128, 130], "zstd"],
  ];
  const settings = cases.flatMap((one, i) =>
    [1, 3, 20].map((times, j) => [...one, times, oneIn(2, i + j)] as const),
  );
  for (const [name, shape, from, to, codec, times, tags] of settings) {
    it(`${name}, at ${times} times the smallest budget`, tags, async () => {
      const array = await arrayOf(shape, from);
      const changes = { chunks: to, ...(codec !== undefined && { codec }) };
      const smallest = await smallestBudget((maxMemory) =>
        planFlow(array, newTarget(), { ...changes, maxMemory }),
      );
      const maxMemory = times * smallest;
      const planned = await planFlow(array, newTarget(), { ...changes, maxMemory });
      const { peak, predicted } = await run(planned);
      expect(peak).toBeLessThanOrEqual(predicted);
      expect(predicted).toBeLessThanOrEqual(maxMemory);
    });
  }

  it("as bytes in C order", async () => {
    const array = await arrayOf([9, 130, 129], [3, 50, 129]);
    const smallest = await smallestBudget((maxMemory) => planSlice(array, {}, { maxMemory }));
    for (const maxMemory of [smallest, 3 * smallest]) {
      const plan = await planSlice(array, {}, { maxMemory });
      expect(plan.predictedPeak).toBeLessThanOrEqual(maxMemory);
      let bytes = 0;
      for await (const piece of slice(array, {}, { maxMemory }).bytes()) bytes += piece.length;
      expect(bytes).toBe(9 * 130 * 129 * 4);
    }
  });
});

describe("copies as they are", () => {
  it("moves chunks larger than the budget in pieces", async () => {
    const array = await arrayOf([4, 300_000], [1, 300_000]);
    const target = newTarget();
    const { peak, predicted } = await run(await planFlow(array, target, { maxMemory: 1e6 }));
    expect(peak).toBeLessThanOrEqual(1e6);
    expect(peak).toBeLessThanOrEqual(predicted);
    const copied = await namedMemoryStore(target.slice(7))?.get("3.0");
    expect(Buffer.compare(copied ?? new Uint8Array(), new Uint8Array(1_200_000).fill(4))).toBe(0);
  });

  it("reads back within the budget", async () => {
    const array = await arrayOf([12, 300_000], [1, 300_000]);
    const { peakBuffers, keysVerified } = await copy(array, `${await testFolder()}/copy.zarr`, {
      maxMemory: 3e6,
      verify: true,
    });
    expect(keysVerified).toBe(13);
    expect(peakBuffers).toBeLessThanOrEqual(3e6);
  });

  it("says what it needs at least", async () => {
    const array = await arrayOf([4], [2]);
    const smallest = await smallestBudget((maxMemory) => planFlow(array, newTarget(), { maxMemory }));
    const { peakBuffers } = await copy(array, newTarget(), { maxMemory: smallest });
    expect(peakBuffers).toBeLessThanOrEqual(smallest);
  });
});

it("reads a rechunked array back within the budget", async () => {
  const array = await arrayOf([20, 100_000], [1, 100_000]);
  const options = { chunks: [2, 100_000], maxMemory: 4e6, verify: true };
  const { peakBuffers } = await rechunk(array, `${await testFolder()}/rechunked.zarr`, options);
  expect(peakBuffers).toBeLessThanOrEqual(4e6);
});
