// @module-tag slow
import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { exitOf, runCli, startCli, testFolder } from "../support/cli.ts";
import { ramp, writeV2Group } from "../support/v2-store.ts";

it("zarrflow copy --update leaves each array whole or out of view when it is killed", async () => {
  const cwd = await testFolder();
  const many = { shape: [400, 3], chunks: [1, 3], dtype: "<f4" };
  await writeV2Group(join(cwd, "s.zarr"), {
    a: { ...many, items: ramp(1200) },
    b: { ...many, items: ramp(1200) },
  });
  await runCli(cwd, "copy", "s.zarr", "d.zarr");
  const old = (await runCli(cwd, "digest", "d.zarr")).stdout.split("\n");
  const changed = { ...many, items: ramp(1200).map((n) => -n) };
  await writeV2Group(join(cwd, "s.zarr"), { a: changed, b: changed });
  const next = (await runCli(cwd, "digest", "s.zarr")).stdout.split("\n");
  const isOutOfView = () => ["a", "b"].some((name) => !existsSync(join(cwd, "d.zarr", name, ".zarray")));
  let amid = 0;
  for (const ms of [0, 20, 60]) {
    const child = startCli(cwd, "copy", "s.zarr", "d.zarr", "--update", "--io", "1");
    const watch = setInterval(() => isOutOfView() && setTimeout(() => child.kill("SIGKILL"), ms), 1);
    await exitOf(child);
    clearInterval(watch);
    if (isOutOfView()) amid++;
    const { code, stdout } = await runCli(cwd, "digest", "d.zarr");
    expect(code).toBe(0);
    for (const line of stdout.split("\n")) expect([...old, ...next]).toContain(line);
  }
  expect(amid).toBeGreaterThan(0);
  // the lock is that of a process which runs no more on this machine
  expect(await runCli(cwd, "copy", "s.zarr", "d.zarr", "--update")).toMatchObject({ code: 0 });
  expect((await runCli(cwd, "digest", "d.zarr")).stdout.split("\n")).toEqual(next);
}, 60_000);
