// @module-tag sampled
// @module-tag slow
import { cpSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, test } from "vitest";
import { requireBuild } from "../../built-package.ts";
import { buildKiller } from "../../faults/crash/killed-process.ts";
import { filesOf } from "../../interop/trees.ts";
import { temporaryFolder } from "../../stores/temporary-folder.ts";
import { testFolder } from "../../support/cli.ts";
import { drawsAll } from "../../support/samples.ts";
import { endsIn, LARGE, makeSource, mustRun, SMALL, stagesOf, startShare } from "./support.ts";

/** Processes of each stage. */
const COUNT = drawsAll ? 8 : 2;

describe.each([
  ["direct", drawsAll ? "1MB" : "200kB"],
  ["staged", drawsAll ? "1500kB" : "200kB"],
])(`a %s rechunk by ${COUNT} processes`, (strategy, memory) => {
  const given = temporaryFolder();
  const killer = temporaryFolder();
  const how = ["--chunks", "time=-1,y=8,x=8", "--max-mem", memory, "--strategy", strategy];

  beforeAll(async () => {
    requireBuild();
    await buildKiller(killer.path);
    await makeSource(join(given.path, "src.zarr"), drawsAll ? LARGE : SMALL);
    await mustRun(given.path, ["rechunk", "src.zarr", "inline.zarr", ...how, "--quiet"]);
  });

  async function planned(): Promise<string> {
    const folder = await testFolder();
    cpSync(given.path, folder, { recursive: true });
    const scratch = strategy === "staged" ? ["--scratch", "scratch"] : [];
    const words = ["src.zarr", "out.zarr", ...how, ...scratch, "--output", "plan.json", "--quiet"];
    await mustRun(folder, ["plan", "rechunk", ...words]);
    expect(stagesOf(folder).length).toBe(strategy === "direct" ? 1 : 2);
    for (const tasks of stagesOf(folder)) expect(tasks).toBeGreaterThan(COUNT);
    return folder;
  }

  function sharesOf(stage: number) {
    return Array.from({ length: COUNT }, (_, index) => ({ stage, index, count: COUNT }));
  }

  function expectSame(folder: string): void {
    expect(filesOf(join(folder, "out.zarr"))).toEqual(filesOf(join(folder, "inline.zarr")));
    expect(readdirSync(folder).filter((name) => name.startsWith("."))).toEqual([]);
    if (strategy === "staged") expect(readdirSync(join(folder, "scratch"))).toEqual([]);
  }

  const tags = strategy === "staged" ? ["long"] : [];
  test("makes the target that one process makes", { tags, timeout: 300_000 }, async () => {
    const folder = await planned();
    for (const stage of stagesOf(folder).keys()) {
      const started = sharesOf(stage + 1).map((share) => startShare(folder, share));
      expect(await Promise.all(started.map(({ exit }) => exit))).toEqual(Array(COUNT).fill(0));
    }
    const tasks = stagesOf(folder).reduce((sum, inStage) => sum + inStage, 0);
    expect([...endsIn(folder).values()]).toEqual(Array(tasks).fill(1));
    await mustRun(folder, ["finish", "plan.json", "--verify", "--quiet"]);
    expectSame(folder);
  });

  test("makes it too when a third of them are killed and run again", { timeout: 300_000 }, async () => {
    const folder = await planned();
    let killed = 0;
    for (const stage of stagesOf(folder).keys()) {
      const isVictim = (index: number) => index % 3 === 0;
      const shares = sharesOf(stage + 1);
      const started = shares.map((share) =>
        startShare(folder, share, isVictim(share.index) ? { killer: killer.path, at: 12 } : undefined),
      );
      const codes = await Promise.all(started.map(({ exit }) => exit));
      expect(codes).toEqual(shares.map(({ index }) => (isVictim(index) ? null : 0)));
      const { stderr } = await mustRun(folder, ["finish", "plan.json"], 75);
      expect(stderr).toMatch(/of stage \d are not done/);
      const again = shares.filter(({ index }) => isVictim(index)).map((share) => startShare(folder, share));
      expect(await Promise.all(again.map(({ exit }) => exit))).toEqual(again.map(() => 0));
      killed += again.length;
    }
    const twice = [...endsIn(folder).values()].reduce((sum, times) => sum + times - 1, 0);
    expect(twice).toBeLessThanOrEqual(killed);
    await mustRun(folder, ["finish", "plan.json", "--verify=values", "--quiet"]);
    expectSame(folder);
  });
});
