import fc from "fast-check";
import { expect, test } from "vitest";
import type { Driver } from "../../../src/flows/plan/plan.ts";
import { planSlabs } from "../../../src/flows/plan/slab-plan.ts";
import { leaseBytesOf, taskAt } from "../../../src/flows/plan/task.ts";
import { slabRunner, slabTasks } from "../../../src/flows/slabs/slab-tasks.ts";
import { openArray } from "../../../src/hierarchy/open/open.ts";
import { MemoryStore } from "../../../src/stores/memory.ts";
import { withRequestLog } from "../../../src/stores/with/request-log.ts";
import { BufferPool } from "../../../src/streams/buffer-pool.ts";
import { wholeSelection } from "../../../src/streams/selection.ts";
import { makeArray, type Recipe } from "../../support/made-array.ts";
import { rechunked } from "../../support/recipes.ts";
import { samples } from "../../support/samples.ts";

/** Runs all tasks of the slabs of an array, each within its lease; every slab is given back before the next task. */
async function runBy(driver: Driver, recipe: Recipe, strategy: "direct" | "staged") {
  const made = await makeArray(recipe);
  const requests: string[] = [];
  const log = ({ operation, key }: { operation: string; key: string }) =>
    requests.push(`${operation} ${key}`);
  const array = await openArray(withRequestLog(made.store, log));
  const pipeline = await array.pipeline();
  const maxMemory = 200_000;
  const request = { array, pipeline, selection: wholeSelection(array.shape), maxMemory, concurrency: 4 };
  const plan = planSlabs({ ...request, strategy });
  const buffers = new BufferPool(maxMemory);
  const { signal } = new AbortController();
  const scratch = new MemoryStore();
  const reading = { array, pipeline, plan, driver, buffers, concurrency: 4, signal, scratch };
  const slabs: Buffer[] = [];
  const run = slabRunner(reading, {
    async offer({ data }, number, give) {
      slabs[number] = Buffer.from(data.bytes);
      give();
    },
  });
  const tasks = slabTasks(reading);
  for (const [stage, count] of tasks.stages.entries()) {
    for (let index = 0; index < count; index++) {
      const task = taskAt(tasks, stage, index);
      let peak = 0;
      const note = () => {
        peak = Math.max(peak, buffers.taken);
      };
      await run(task, { onRead: note }, signal);
      expect(peak).toBeLessThanOrEqual(leaseBytesOf(task));
      expect(buffers.taken).toBe(0);
    }
  }
  expect(Buffer.concat(slabs).equals(made.bytes)).toBe(true);
  return requests;
}

test.each(["direct", "staged"] as const)(
  "both drivers make the slabs of an array, with the same requests: %s",
  async (strategy) => {
    await fc.assert(
      fc.asyncProperty(rechunked, async ({ recipe }) => {
        const requests = await runBy("streams", recipe, strategy);
        expect(await runBy("loop", recipe, strategy)).toEqual(requests);
      }),
      { numRuns: samples(40) },
    );
  },
);
