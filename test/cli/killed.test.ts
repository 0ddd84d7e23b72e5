// @module-tag slow
import { cpSync, existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, expect, it } from "vitest";
import { exists, open } from "../../src/index.ts";
import { requireBuild } from "../built-package.ts";
import { buildKiller, runAndKill } from "../faults/crash/killed-process.ts";
import { temporaryFolder } from "../stores/temporary-folder.ts";
import { testFolder } from "../support/cli.ts";
import { runHere } from "../support/cli-here.ts";
import { withoutPauses } from "../support/no-pauses.ts";
import { ramp, writeV2Group } from "../support/v2-store.ts";

withoutPauses();

const killer = temporaryFolder();
beforeAll(async () => {
  requireBuild();
  await buildKiller(killer.path);
});

const KILLED = { code: null, signal: "SIGKILL" };

it("zarrflow pyramid leaves nothing at its target when it is killed, and succeeds the next time", async () => {
  const cwd = await testFolder();
  const [y, x] = [60, 40];
  await writeV2Group(join(cwd, "s.zarr"), {
    t: { shape: [y, x], chunks: [4, x], dtype: "<f4", items: ramp(y * x), dimensions: ["y", "x"] },
  });
  const words = ["pyramid", join(cwd, "s.zarr"), join(cwd, "p.zarr"), "--levels", "3", "--quiet"];
  expect(await runAndKill(killer.path, words, { signal: "SIGKILL", at: 20 })).toMatchObject(KILLED);
  expect(await exists(join(cwd, "p.zarr"))).toBe(false);
  await expect(open(join(cwd, "p.zarr"))).rejects.toMatchObject({ code: "not-found" });
  const parts = readdirSync(cwd).filter((name) => name !== "s.zarr");
  expect(parts).toHaveLength(1);
  expect(readdirSync(join(cwd, parts[0] ?? ""), { recursive: true }).length).toBeGreaterThan(3);

  expect(await runHere(cwd, ...words)).toMatchObject({ code: 0, stderr: "" });
  const { stdout } = await runHere(cwd, "slice", "p.zarr/1/t", "--slice", "y=0,x=0:2", "--format", "json");
  expect(JSON.parse(stdout)).toEqual([20.5, 22.5]);
});

it("zarrflow copy --update leaves each array whole or out of view when it is killed", async () => {
  const cwd = await testFolder();
  const many = { shape: [6, 3], chunks: [1, 3], dtype: "<f4" };
  await writeV2Group(join(cwd, "s.zarr"), {
    a: { ...many, items: ramp(18) },
    b: { ...many, items: ramp(18) },
  });
  await runHere(cwd, "copy", "s.zarr", "d.zarr");
  const old = (await runHere(cwd, "digest", "d.zarr")).stdout.split("\n");
  const changed = { ...many, items: ramp(18).map((n) => -n) };
  await writeV2Group(join(cwd, "s.zarr"), { a: changed, b: changed });
  const next = (await runHere(cwd, "digest", "s.zarr")).stdout.split("\n");
  for (const at of [6, 14, 22]) {
    const target = join(cwd, `d${at}.zarr`);
    cpSync(join(cwd, "d.zarr"), target, { recursive: true });
    const words = ["copy", join(cwd, "s.zarr"), target, "--update", "--io", "1"];
    expect(await runAndKill(killer.path, words, { signal: "SIGKILL", at })).toMatchObject(KILLED);
    const isInView = (name: string) => existsSync(join(target, name, ".zarray"));
    expect(isInView("a") && isInView("b"), `${at}`).toBe(false);
    const { code, stdout } = await runHere(cwd, "digest", target);
    expect(code).toBe(0);
    for (const line of stdout.split("\n")) expect([...old, ...next]).toContain(line);
    // the lock is that of a process which runs no more on this machine
    expect(await runHere(cwd, ...words)).toMatchObject({ code: 0 });
    expect((await runHere(cwd, "digest", target)).stdout.split("\n")).toEqual(next);
  }
});
