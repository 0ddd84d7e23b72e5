// @module-tag sampled
// @module-tag slow
import fc from "fast-check";
import { expect, test } from "vitest";
import { type PlannedFlow, planFlow } from "../../src/flows/request/flow.ts";
import { openArray } from "../../src/index.ts";
import type { Driver, Plan } from "../../src/plan/plan.ts";
import { leaseBytesOf, taskAt } from "../../src/plan/task.ts";
import { loadDocuments } from "../../src/run/documents.ts";
import { openJob } from "../../src/run/open-job.ts";
import { taskRunner } from "../../src/run/task-runner.ts";
import { MemoryStore } from "../../src/stores/memory.ts";
import { withRequestLog } from "../../src/stores/with/request-log.ts";
import { BufferPool } from "../../src/streams/buffer-pool.ts";
import { isZarrflowError } from "../../src/util/errors.ts";
import { product } from "../../src/util/shape.ts";
import { contentsOf } from "../support/consume.ts";
import { given } from "../support/given.ts";
import { drawsAll, samples } from "../support/samples.ts";

const axis = fc.record({
  n: fc.integer({ min: 1, max: 12 }),
  from: fc.integer({ min: 1, max: 5 }),
  to: fc.integer({ min: 1, max: 6 }),
  perShard: fc.integer({ min: 1, max: 3 }),
});

const cases = fc.record({
  axes: fc.array(axis, { minLength: 1, maxLength: 3 }),
  dataType: fc.constantFrom("float32" as const, "uint8" as const, "string" as const),
  sourceShards: fc.boolean(),
  targetShards: fc.boolean(),
  change: fc.constantFrom("nothing" as const, "codec" as const, "chunks" as const),
  strategy: fc.constantFrom("direct" as const, "staged" as const),
  writeEmptyChunks: fc.boolean(),
  singleWriter: fc.boolean(),
  missing: fc.boolean(),
});

type Case = typeof cases extends fc.Arbitrary<infer T> ? T : never;

function sourceOf({ axes, dataType, sourceShards, missing }: Case): Promise<MemoryStore> {
  const shape = axes.map(({ n }) => n);
  const chunks = axes.map(({ from }) => from);
  const shards = sourceShards && { shards: axes.map(({ from, perShard }) => from * perShard) };
  // of the second half of the rows each item is the fill value
  const count = product(missing ? [Math.ceil((shape[0] ?? 1) / 2), ...shape.slice(1)] : shape);
  const values = (i: number) => {
    const at = i < count ? i : 0;
    return dataType === "string" ? "x".repeat(at % 7) : at % 251;
  };
  return given({ shape, dataType, chunks, codec: "gzip:1", ...shards, values });
}

function planOf(store: MemoryStore, given: Case): Promise<PlannedFlow> {
  const { axes, sourceShards, targetShards, change, strategy } = given;
  const chunks = axes.map(({ from, to }) => (change === "chunks" ? to : from));
  const shards = targetShards ? chunks.map((size, d) => size * (axes[d]?.perShard ?? 1)) : "none";
  return openArray(store).then((array) =>
    planFlow(array, "memory:drivers", {
      chunks,
      ...((targetShards || sourceShards) && { shards }),
      ...(change !== "nothing" && { codec: "zstd:1" }),
      ...(change === "chunks" && !targetShards && { strategy }),
      maxMemory: 2e6,
    }),
  );
}

interface Result {
  readonly values: Readonly<Record<string, string>>;
  readonly requests: readonly string[];
}

/** Runs all tasks of a plan one after the other; each must stay within its lease. */
async function runBy(driver: Driver, plan: Plan, source: MemoryStore, given: Case): Promise<Result> {
  const requests: string[] = [];
  const log = (name: string) => (request: { operation: string; key: string; bytes: number | undefined }) => {
    requests.push(`${name} ${request.operation} ${request.key} ${request.bytes}`);
  };
  const target = new MemoryStore();
  const written = withRequestLog(target, log("target"));
  const buffers = new BufferPool(plan.budget.maxMemory);
  const opened = {
    plan,
    source: withRequestLog(source, log("source")),
    target: given.singleWriter ? Object.assign(written, { singleWriter: true }) : written,
    documents: await loadDocuments(plan, { source }),
  };
  const run = taskRunner({
    plan: { execution: { ...plan.execution, driver } },
    open: (job, signal) => openJob(job, { ...opened, signal }),
    scratch: withRequestLog(new MemoryStore(), log("scratch")),
    buffers,
    threads: 1,
    writeEmptyChunks: given.writeEmptyChunks,
  });
  const { signal } = new AbortController();
  for (const [stage, tasks] of plan.stages.entries()) {
    for (let index = 0; index < tasks; index++) {
      const task = taskAt(plan, stage, index);
      let peak = 0;
      const note = () => {
        peak = Math.max(peak, buffers.taken);
      };
      await run(task, { onRead: note, onWritten: note, onStored: note }, signal);
      // What strings take is an estimate until they are there.
      if (given.dataType !== "string") expect(peak).toBeLessThanOrEqual(leaseBytesOf(task));
      expect(buffers.taken).toBe(0);
      buffers.clear();
    }
  }
  return { values: await contentsOf(target), requests: requests.sort() };
}

test("streams and the loop write the same bytes, by the same requests, within each task's lease", async () => {
  const strategies = new Map<string, number>();
  await fc.assert(
    fc.asyncProperty(cases, async (given) => {
      const source = await sourceOf(given);
      const planned = await planOf(source, given).catch((error) => {
        if (isZarrflowError(error, "budget-too-small") || isZarrflowError(error, "invalid-option"))
          return undefined;
        throw error;
      });
      if (planned === undefined) return;
      const { plan } = planned;
      for (const { strategy, tasks } of plan.jobs) {
        if (tasks > 0) strategies.set(strategy, (strategies.get(strategy) ?? 0) + 1);
      }
      const streams = await runBy("streams", plan, source, given);
      expect(await runBy("loop", plan, source, given)).toEqual(streams);
    }),
    { numRuns: samples(240), ...(!drawsAll && { seed: 7 }) },
  );
  expect([...strategies.keys()].sort()).toEqual(["direct", "staged", "transcode", "verbatim"]);
});
