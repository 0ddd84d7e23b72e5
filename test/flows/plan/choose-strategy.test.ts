import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { planFlow } from "../../../src/flows/request/flow.ts";

let folder = "";
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "zarrflow-rechunked-"));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** The strategy for float32 steps of 128 KiB that are cut into series, and how many windows there are. */
async function chosen(steps: number, threads: number) {
  const source = join(folder, `${steps}.zarr`);
  await mkdir(source, { recursive: true });
  const document = {
    zarr_format: 2,
    shape: [steps, 128, 256],
    chunks: [1, 128, 256],
    dtype: "<f4",
    order: "C",
  };
  const rest = { compressor: { id: "lz4" }, filters: null, fill_value: 0 };
  await writeFile(join(source, ".zarray"), JSON.stringify({ ...document, ...rest }));
  const target = join(folder, "target.zarr");
  const { plan, close } = await planFlow(source, target, { chunks: [steps, 16, 16], threads });
  await close();
  return { strategy: plan.jobs[0]?.strategy, windows: plan.stages.at(-1) ?? 0 };
}

test("one window that holds all is enough for one thread, and for little work", async () => {
  expect(await chosen(512, 1)).toEqual({ strategy: "direct", windows: 1 });
  expect(await chosen(64, 2)).toEqual({ strategy: "direct", windows: 1 });
});

test("where a second thread would have nothing to do, the staged strategy gives it some", async () => {
  const { strategy, windows } = await chosen(512, 2);
  expect(strategy).toBe("staged");
  expect(windows).toBeGreaterThanOrEqual(2);
});
