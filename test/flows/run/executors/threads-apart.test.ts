// @module-tag slow
import { writeFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, describe, expect, it, vi } from "vitest";
import type { FlowEvent } from "../../../../src/flows/events.ts";
import { planFlow } from "../../../../src/flows/request/flow.ts";
import { type RunPlanOptions, runPlan } from "../../../../src/flows/run/run-plan.ts";
import { openTargetBuild } from "../../../../src/stores/target.ts";
import { testFolder } from "../../../support/cli.ts";
import { digestOf } from "../../../support/consume.ts";
import { given } from "../../../support/given.ts";
import { scriptAfter, waitFor, workerScript } from "../../../support/worker-script.ts";

/** Tasks of which three fit in the budget at one time. */
const CHANGES = { chunks: [16, 4, 4], strategy: "direct", maxMemory: 600e3, threads: 3 } as const;
const script = workerScript();

afterEach(() => vi.unstubAllGlobals());

describe("threads that share no memory, as those of a page that is not isolated", () => {
  it.each(["direct", "staged"] as const)("run all tasks, within the budget of all (%s)", async (strategy) => {
    const [source, target] = await places();
    const report = await flow(source, target, { ...CHANGES, strategy });
    const busy = report.threads?.filter(({ tasks }) => tasks > 0) ?? [];
    expect(busy).toHaveLength(3);
    expect(busy.reduce((sum, { tasks }) => sum + tasks, 0)).toBe(report.tasks);
    expect(report.peakBuffers).toBeLessThanOrEqual(CHANGES.maxMemory);
    expect(await digestOf(target)).toBe(await digestOf(source));
  });

  it("begin no more tasks when they are stopped", async () => {
    const [source, target] = await places();
    const [gate, path] = [`${source}.gate`, `${source}.mjs`];
    const stop = new AbortController();
    let ended = 0;
    const started = new Set<number>();
    const onEvent = (event: FlowEvent) => {
      if (event.type === "task-end") ended++;
      if (event.type !== "task-start" || started.add(event.task % 3).size < 3) return;
      stop.abort();
      writeFileSync(gate, "");
    };
    // all three begin a task, and read for it after the stop
    const waiting = await scriptAfter(script(), path, waitFor(gate, 0));
    const stopped = flow(source, target, CHANGES, { stop: stop.signal, onEvent }, waiting);
    await expect(stopped).rejects.toMatchObject({ code: "aborted" });
    expect(ended).toBeGreaterThan(0);
    expect(ended).toBeLessThan(9);
  });

  it("end with the first failure", async () => {
    const [source, target] = await places();
    await writeFile(`${source}/c/7/0/0`, "no zstd");
    const failing = flow(source, target, CHANGES);
    await expect(failing).rejects.toMatchObject({ code: "corrupt-chunk" });
  });

  it("are no more than tasks that the budget holds at one time", async () => {
    const [source, target] = await places();
    vi.stubGlobal("SharedArrayBuffer", undefined);
    const { plan, close } = await planFlow(source, target, { ...CHANGES, maxMemory: 250e3 });
    await close();
    expect(plan.execution.threads).toBe(1);
  });
});

const SOURCE = {
  shape: [16, 64, 64],
  chunks: [1, 64, 64],
  dataType: "float32",
  codec: "zstd",
  zarrFormat: "v3",
} as const;

/** Where an array lies, and where nothing lies yet. */
async function places(): Promise<[string, string]> {
  const folder = await testFolder();
  await given({ at: `${folder}/a.zarr`, ...SOURCE, values: (i) => Math.sin(i / 1000) });
  return [`${folder}/a.zarr`, `${folder}/b.zarr`];
}

/** Rechunks in three threads. Where it can be stopped, this one reads its first chunk then. */
async function flow(
  source: string,
  target: string,
  options: Parameters<typeof planFlow>[2],
  how: Pick<RunPlanOptions, "stop" | "onEvent"> = {},
  workers = script(),
) {
  vi.stubGlobal("SharedArrayBuffer", undefined);
  const { plan, ...planned } = await planFlow(source, target, options);
  expect(plan.execution.singleThreadReason).toBeUndefined();
  const { stop } = how;
  if (stop) {
    const { source } = planned;
    const get = source.get.bind(source);
    const held: typeof get = async (key, options) => {
      while (/\d$/.test(key) && !stop.aborted) await sleep(1);
      return get(key, options);
    };
    Object.assign(source, { getSync: () => undefined, get: held });
  }
  const build = await openTargetBuild(plan.target.store, { ifExists: "error" });
  try {
    return await runPlan(plan, {
      source: planned.source,
      build,
      ...how,
      worker: { threads: 3, script: workers },
    });
  } finally {
    await planned.close();
  }
}
