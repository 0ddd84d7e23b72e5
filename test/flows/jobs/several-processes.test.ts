// @module-tag sampled
// @module-tag slow
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { requireBuild } from "../../built-package.ts";
import { filesOf } from "../../interop/trees.ts";
import { testFolder } from "../../support/cli.ts";
import { drawsAll } from "../../support/samples.ts";
import { endsIn, makeSource, mustRun, type Started, stagesOf, startShare, TO_SERIES } from "./processes.ts";

/** Processes of each stage. */
const COUNT = drawsAll ? 8 : 3;

describe.each([
  ["direct", "1MB"],
  ["staged", "1500kB"],
])(`a %s rechunk by ${COUNT} processes`, (strategy, memory) => {
  async function planned(): Promise<string> {
    requireBuild();
    const folder = await testFolder();
    await makeSource(join(folder, "src.zarr"));
    const how = [...TO_SERIES, "--max-mem", memory, "--strategy", strategy];
    await mustRun(folder, ["rechunk", "src.zarr", "inline.zarr", ...how, "--quiet"]);
    const place = ["--scratch", "scratch", "--output", "plan.json", "--quiet"];
    await mustRun(folder, ["plan", "rechunk", "src.zarr", "out.zarr", ...how, ...place]);
    expect(stagesOf(folder).length).toBe(strategy === "direct" ? 1 : 2);
    for (const tasks of stagesOf(folder)) expect(tasks).toBeGreaterThan(COUNT);
    return folder;
  }

  async function expectSame(folder: string): Promise<void> {
    expect(await filesOf(join(folder, "out.zarr"))).toEqual(await filesOf(join(folder, "inline.zarr")));
    expect(readdirSync(folder).filter((name) => name.startsWith("."))).toEqual([]);
    if (strategy === "staged") expect(readdirSync(join(folder, "scratch"))).toEqual([]);
  }

  test("makes the target that one process makes", async () => {
    const folder = await planned();
    for (const stage of stagesOf(folder).keys()) {
      const started = Array.from({ length: COUNT }, (_, index) =>
        startShare(folder, stage + 1, index, COUNT),
      );
      expect(await Promise.all(started.map(({ exit }) => exit))).toEqual(Array(COUNT).fill(0));
    }
    const tasks = stagesOf(folder).reduce((sum, inStage) => sum + inStage, 0);
    expect([...endsIn(folder).values()]).toEqual(Array(tasks).fill(1));
    await mustRun(folder, ["finish", "plan.json", "--verify", "--quiet"]);
    await expectSame(folder);
  }, 300_000);

  test("makes it too when a third of them are killed and run again", async () => {
    const folder = await planned();
    let inFlight = 0;
    for (const stage of stagesOf(folder).keys()) {
      const start = (index: number) => startShare(folder, stage + 1, index, COUNT);
      const started = Array.from({ length: COUNT }, (_, index) => start(index));
      const victims = started.filter(({ index }) => index % 3 === 0);
      await Promise.all(victims.map((victim) => killedAtWork(folder, stage, victim)));
      const codes = await Promise.all(started.map(({ exit }) => exit));
      const killed = started.filter((_, i) => codes[i] !== 0);
      inFlight += killed.length;
      // one that was killed may have done all of its tasks
      const tasks = stagesOf(folder).slice(0, stage + 1);
      if (endsIn(folder).size < tasks.reduce((sum, inStage) => sum + inStage, 0)) {
        const { stderr } = await mustRun(folder, ["finish", "plan.json"], 75);
        expect(stderr).toMatch(/of stage \d are not done/);
      }
      const again = killed.map(({ index }) => start(index));
      expect(await Promise.all(again.map(({ exit }) => exit))).toEqual(again.map(() => 0));
    }
    const twice = [...endsIn(folder).values()].reduce((sum, times) => sum + times - 1, 0);
    expect(twice).toBeLessThanOrEqual(inFlight);
    await mustRun(folder, ["finish", "plan.json", "--verify=values", "--quiet"]);
    await expectSame(folder);
  }, 300_000);
});

/** Kills a process as soon as it has begun to record what it does. */
async function killedAtWork(folder: string, stage: number, victim: Started): Promise<void> {
  let hasEnded = false;
  void victim.exit.then(() => {
    hasEnded = true;
  });
  while (!hasEnded && !hasLedger(folder, stage, victim.index)) await sleep(2);
  victim.kill();
}

function hasLedger(folder: string, stage: number, index: number): boolean {
  const [control] = readdirSync(folder).filter((name) => /^\.out\.zarr\.zarrflow-[0-9a-f]{12}$/.test(name));
  const name = `ledger-${stage}-${index}-${COUNT}-`;
  return control !== undefined && readdirSync(join(folder, control)).some((file) => file.startsWith(name));
}
