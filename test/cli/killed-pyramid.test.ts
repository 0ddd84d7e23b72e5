// @module-tag slow
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { exists, open } from "../../src/index.ts";
import { exitOf, runCli, startCli, testFolder } from "../support/cli.ts";
import { ramp, writeV2Group } from "../support/v2-store.ts";

it("zarrflow pyramid leaves nothing at its target when it is killed, and succeeds the next time", async () => {
  const cwd = await testFolder();
  const [y, x] = [600, 400];
  await writeV2Group(join(cwd, "s.zarr"), {
    t: { shape: [y, x], chunks: [4, x], dtype: "<f4", items: ramp(y * x), dimensions: ["y", "x"] },
  });
  const words = ["pyramid", "s.zarr", "p.zarr", "--levels", "3", "--io", "1", "--quiet"] as const;
  const partOf = async () => (await readdir(cwd)).find((name) => name !== "s.zarr" && name !== "p.zarr");
  const child = startCli(cwd, ...words);
  const ended = exitOf(child);
  const isAmid = async () => {
    const part = await partOf();
    return part !== undefined && (await readdir(join(cwd, part), { recursive: true })).length > 30;
  };
  await expect.poll(isAmid, { interval: 1, timeout: 30_000 }).toBe(true);
  child.kill("SIGKILL");
  await ended;
  expect(child.signalCode).toBe("SIGKILL");
  expect(await exists(join(cwd, "p.zarr"))).toBe(false);
  await expect(open(join(cwd, "p.zarr"))).rejects.toMatchObject({ code: "not-found" });
  expect(await partOf()).toBeDefined();

  expect(await runCli(cwd, ...words)).toMatchObject({ code: 0, stderr: "" });
  const { stdout } = await runCli(cwd, "slice", "p.zarr/1/t", "--slice", "y=0,x=0:2", "--format", "json");
  expect(JSON.parse(stdout)).toEqual([200.5, 202.5]);
}, 60_000);
