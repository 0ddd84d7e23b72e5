import { expect, test } from "vitest";
import { type Task, taskAt } from "../../../src/flows/plan/task.ts";
import { planFlow } from "../../../src/flows/request/flow.ts";
import { openArray } from "../../../src/hierarchy/open/open.ts";
import { givenKeys } from "../../support/given.ts";

/** 40 TB in 10^9 chunks, none of them stored. */
async function billionChunks() {
  const shape = [100_000, 10_000, 10_000];
  const document = { zarr_format: 2, shape, chunks: [1, 100, 100], dtype: "<f4", order: "C" };
  const rest = { compressor: null, filters: null, fill_value: 0 };
  return openArray(await givenKeys({ ".zarray": { ...document, ...rest } }));
}

test.each([
  ["of the strategy that is chosen", undefined],
  ["by direct", "direct"],
  ["by staged", "staged"],
] as const)(
  "a plan of 10^9 chunks, %s, takes kilobytes, and less than a second of work",
  async (_, strategy) => {
    const array = await billionChunks();
    const before = { cpu: process.cpuUsage(), heap: process.memoryUsage().heapUsed };
    const { plan } = await planFlow(array, "memory:large", {
      chunks: [1000, 20, 20],
      maxMemory: "1GB",
      ...(strategy && { strategy }),
    });
    const { user, system } = process.cpuUsage(before.cpu);
    expect(user + system).toBeLessThan(1e6);
    expect(process.memoryUsage().heapUsed - before.heap).toBeLessThan(100e6);
    expect(JSON.stringify(plan).length).toBeLessThan(10_000);
    expect(plan.totals.chunksRead).toBeGreaterThanOrEqual(1e9);
    const tasks = plan.stages.flatMap((count, stage): Task[] => [
      taskAt(plan, stage, 0),
      taskAt(plan, stage, count - 1),
    ]);
    expect(tasks.map(({ number }) => number)).toEqual(
      plan.stages.flatMap((count, i) => {
        const first = plan.stages.slice(0, i).reduce((sum, n) => sum + n, 0);
        return [first, first + count - 1];
      }),
    );
  },
);
