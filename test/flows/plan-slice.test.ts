import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { planSlice } from "../../src/flows/plan-slice.ts";
import { slice } from "../../src/flows/slice.ts";
import { openArray } from "../../src/hierarchy/open/open.ts";
import { writeV2Array } from "../support/v2-store.ts";

async function opened() {
  const folder = await mkdtemp(join(tmpdir(), "zarrflow-slice-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  await writeV2Array(folder, { shape: [200, 300], chunks: [100, 30] });
  return openArray(folder);
}

describe("planSlice", () => {
  it.each([
    [[], "1MB"],
    [
      [
        [3, 17],
        [null, null, 4],
      ],
      "1MB",
    ],
    [[], "60kB"],
    [
      [
        [5, 190],
        [4, 280],
      ],
      "50kB",
    ],
  ] as const)("counts the slabs that slice %j reads within %s", async (option, maxMemory) => {
    const array = await opened();
    const plan = await planSlice(array, option, { maxMemory });
    let slabs = 0;
    for await (const _ of slice(array, option, { maxMemory }).slabs()) slabs++;
    expect(plan.slabs).toBe(slabs);
    expect(plan.predictedPeak).toBeLessThanOrEqual(plan.maxMemory);
    expect(plan.chunksRead).toBeGreaterThanOrEqual(plan.chunksTouched);
    expect(plan.readAmplification).toBe(plan.chunksRead / plan.chunksTouched);
  });

  it("costs nothing for nothing", async () => {
    expect(await planSlice(await opened(), [[3, 3]])).toMatchObject({
      slabs: 0,
      chunksTouched: 0,
      chunksRead: 0,
    });
  });

  it("refuses what no plan fits", async () => {
    await expect(planSlice(await opened(), [], { maxMemory: 100 })).rejects.toMatchObject({
      code: "budget-too-small",
    });
  });
});
