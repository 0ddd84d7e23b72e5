// @module-tag alone
// @module-tag slow
import { writeFile } from "node:fs/promises";
import { afterEach, describe, expect, it, vi } from "vitest";
import { planRechunk } from "../../../../src/flows/copy.ts";
import { type RunPlanOptions, runPlan } from "../../../../src/flows/run/run-plan.ts";
import { create } from "../../../../src/hierarchy/create/create.ts";
import { openTargetBuild } from "../../../../src/stores/target.ts";
import { testFolder } from "../../../support/cli.ts";
import { digestOf } from "../../../support/digest-of.ts";
import { workerScript } from "../../../support/worker-script.ts";

const MAX_MEMORY = 8e6;
/** So slow a codec that workers start before all is done. */
const CHANGES = { chunks: [512, 4, 4], codec: "zlib:9", strategy: "direct" } as const;
const script = workerScript();

afterEach(() => vi.unstubAllGlobals());

describe("threads that share no memory, as those of a page that is not isolated", () => {
  it.each(["direct", "staged"] as const)("run all tasks, within the budget of all (%s)", async (strategy) => {
    const [source, target] = await places();
    const report = await flow(source, target, { ...CHANGES, strategy, maxMemory: MAX_MEMORY });
    const busy = report.threads?.filter(({ tasks }) => tasks > 0) ?? [];
    expect(busy).toHaveLength(3);
    expect(busy.reduce((sum, { tasks }) => sum + tasks, 0)).toBe(report.tasks);
    expect(report.peakBuffers).toBeLessThanOrEqual(MAX_MEMORY);
    expect(await digestOf(target)).toBe(await digestOf(source));
  });

  it("begin no more tasks when they are stopped", async () => {
    const stop = new AbortController();
    let ended = 0;
    const stopped = flow(
      ...(await places()),
      { ...CHANGES, maxMemory: MAX_MEMORY },
      {
        stop: stop.signal,
        onEvent: ({ type }) => {
          if (type !== "task-end") return;
          ended++;
          stop.abort();
        },
      },
    );
    await expect(stopped).rejects.toMatchObject({ code: "aborted" });
    expect(ended).toBeGreaterThan(0);
    expect(ended).toBeLessThan(200);
  });

  it("end with the first failure", async () => {
    const [source, target] = await places();
    await writeFile(`${source}/c/77/0/0`, "no zstd");
    const failing = flow(source, target, { ...CHANGES, maxMemory: MAX_MEMORY });
    await expect(failing).rejects.toMatchObject({ code: "corrupt-chunk" });
  });

  it("are no more than tasks that the budget holds at one time", async () => {
    const [source, target] = await places();
    vi.stubGlobal("SharedArrayBuffer", undefined);
    const { plan, close } = await planRechunk(source, target, { ...CHANGES, maxMemory: 650e3, threads: 3 });
    await close();
    expect(plan.execution.threads).toBe(1);
  });
});

const SOURCE = {
  shape: [512, 64, 64],
  chunks: [4, 64, 64],
  dataType: "float32",
  codec: "zstd",
  zarrFormat: "v3",
} as const;

/** Where an array lies, and where nothing lies yet. */
async function places(): Promise<[string, string]> {
  const folder = await testFolder();
  const array = await create(`${folder}/a.zarr`, SOURCE);
  const values = Float32Array.from({ length: 512 * 64 * 64 }, (_, i) => Math.sin(i / 1000));
  await array.write({}, values);
  await array.close();
  return [`${folder}/a.zarr`, `${folder}/b.zarr`];
}

/** Rechunks in three threads. */
async function flow(
  source: string,
  target: string,
  options: Parameters<typeof planRechunk>[2],
  how: Pick<RunPlanOptions, "stop" | "onEvent"> = {},
) {
  vi.stubGlobal("SharedArrayBuffer", undefined);
  const { plan, ...planned } = await planRechunk(source, target, { ...options, threads: 3 });
  expect(plan.execution.singleThreadReason).toBeUndefined();
  const build = await openTargetBuild(plan.target.store, { ifExists: "error" });
  try {
    return await runPlan(plan, {
      source: planned.source,
      build,
      ...how,
      worker: { threads: 3, script: script() },
    });
  } finally {
    await planned.close();
  }
}
