// @module-tag slow
import { execFile } from "node:child_process";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, it } from "vitest";
import { dist } from "../built-package.ts";
import { testFolder } from "../support/cli.ts";
import { writeV2Group } from "../support/v2-store.ts";

it("the demo runs on any data set, and leaves its results in the folder demo", async () => {
  const cwd = await testFolder();
  const temporary = await testFolder();
  await writeV2Group(join(cwd, "own.zarr"), {
    field: { shape: [20, 30], chunks: [1, 30], dimensions: ["time", "x"] },
    x: { shape: [30], dimensions: ["x"] },
  });
  const demo = join(dist, "../scripts/demo.mjs");
  const env = { ...process.env, TMPDIR: temporary };
  const { stdout, stderr } = await promisify(execFile)(process.execPath, [demo, "own.zarr"], { cwd, env });
  expect(stderr).toBe("");
  expect(stdout).toContain("--chunks field:time=-1,x=30 --max-mem 64MB --verify\n");
  expect(stdout).toMatch(/memory: at most \d+ MB of 64MB in buffers, \d+ MB the whole process\n/);
  expect(stdout).toContain("series.npy: npy of (20), ");
  expect(stdout).toContain("  the same\n");
  expect(await readdir(temporary)).toEqual([]);
  expect((await readdir(cwd)).sort()).toEqual(["demo", "own.zarr"]);
  expect((await readdir(join(cwd, "demo"))).sort()).toEqual(["series.npy", "series.zarr.zip"]);
});
