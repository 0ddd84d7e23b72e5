// @module-tag long
import { spawn } from "node:child_process";
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { create } from "../../../src/hierarchy/create/create.ts";
import { isListable, type Store } from "../../../src/stores/store.ts";
import { openStore } from "../../../src/stores/url.ts";
import { command } from "../../built-package.ts";
import { exitOf } from "../../support/cli.ts";
import { IS_LONG } from "./cases.ts";

/** Items of 4 bytes in a step of time, and steps. */
const STEP = [256, 1024] as const;
const STEPS = IS_LONG ? 1024 : 32;
/** Runs of each case that are killed, each up to five times, before one is left to end. */
const KILLED_RUNS = Number(process.env.ZARRFLOW_KILLS ?? (IS_LONG ? 12 : 1));
const KILLS_OF_A_RUN = 5;
const MEMORY = IS_LONG ? "128MB" : "16MB";

let folder = "";
let source = "";
const counts = { kills: 0, resumed: 0, wrong: 0 };
/** What a kill at 95 % of a run cost, of the time of a run. */
const costs: number[] = [];

beforeAll(async () => {
  folder = await mkdtemp(join(process.env.ZARRFLOW_CRASH_FOLDER ?? tmpdir(), "zarrflow-kills-"));
  source = join(folder, "source.zarr");
  const array = await create(source, {
    shape: [STEPS, ...STEP],
    chunks: [1, ...STEP],
    dataType: "float32",
    zarrFormat: "v2",
    codec: "blosc:lz4:1",
  });
  const items = STEP[0] * STEP[1];
  for (let step = 0; step < STEPS; step++) {
    await array.write(
      [step],
      Float32Array.from({ length: items }, (_, i) => Math.fround(Math.sin(i / 50) + step)),
    );
  }
  await array.close();
}, 600_000);

afterAll(async () => {
  await rm(folder, { recursive: true, force: true });
  const median = costs.sort((a, b) => a - b)[costs.length >> 1] ?? 0;
  console.log(
    `${counts.kills} kills, ${counts.resumed} runs resumed, ${counts.wrong} wrong; a kill at 95 % cost ${(100 * median).toFixed(1)} % of a run`,
  );
});

const CASES = {
  "rechunk, direct": ["rechunk", "--chunks", `${STEPS},16,64`, "--strategy", "direct"],
  "rechunk, staged": ["rechunk", "--chunks", `${STEPS},16,64`, "--strategy", "staged"],
  "copy with another codec": ["copy", "--codec", "zstd:1"],
} as const;

/** Runs the command, which is killed after so many milliseconds; its exit code. */
async function run(
  args: readonly string[],
  killAfter?: number,
): Promise<{ readonly code: number | null; readonly ms: number }> {
  const began = performance.now();
  const child = spawn(process.execPath, [command, ...args], { stdio: ["ignore", "ignore", "inherit"] });
  const exit = exitOf(child);
  if (killAfter !== undefined) {
    await Promise.race([sleep(killAfter), exit]);
    if (child.exitCode === null) counts.kills++;
    child.kill("SIGKILL");
  }
  return { code: await exit, ms: performance.now() - began };
}

async function valuesOf(path: string): Promise<Map<string, string>> {
  if (!path.endsWith(".zip")) return filesBelow(path);
  const store: Store = await openStore({ kind: "zip", path });
  if (!isListable(store)) throw new Error("a zip lists its keys");
  const values = new Map<string, string>();
  for await (const { key } of store.list("")) {
    values.set(key, Buffer.from((await store.get(key)) ?? []).toString("latin1"));
  }
  await store.close?.();
  return values;
}

function filesBelow(path: string): Map<string, string> {
  const names = readdirSync(path, { recursive: true, encoding: "utf8" }).sort();
  const files = names.filter((name) => statSync(join(path, name)).isFile());
  return new Map(files.map((name) => [name, readFileSync(join(path, name), "latin1")]));
}

/** The keys whose values differ, or that one of two has alone. */
function differences(a: ReadonlyMap<string, string>, b: ReadonlyMap<string, string>): string[] {
  return [...new Set([...a.keys(), ...b.keys()])].filter((key) => a.get(key) !== b.get(key));
}

describe.each(Object.entries(CASES))("%s", (_name, [operation, ...options]) => {
  it.each(["out.zarr", "out.zarr.zip"])(
    "to %s, killed at random moments, ends as an undisturbed run",
    async (name) => {
      const scratch = join(folder, "scratch");
      const argsTo = (target: string) => [
        ...[operation, source, target, ...options, "--max-mem", MEMORY, "--quiet"],
        ...(operation === "rechunk" ? ["--scratch", scratch] : []),
      ];
      const undisturbed = join(folder, "undisturbed", name);
      const whole = await run(argsTo(undisturbed));
      expect(whole.code).toBe(0);
      const expected = await valuesOf(undisturbed);
      const target = join(folder, "killed", name);
      const args = [...argsTo(target), "--resume"];
      const wrong: string[] = [];
      for (let killed = 0; killed < KILLED_RUNS; killed++) {
        const isLate = killed % 2 === 1;
        const kills = isLate ? 1 : 1 + Math.floor(Math.random() * KILLS_OF_A_RUN);
        let spent = 0;
        for (let kill = 0; kill < kills && !existsSync(target); kill++) {
          spent += (await run(args, (isLate ? 0.95 : Math.random()) * whole.ms)).ms;
        }
        if (!existsSync(target)) {
          counts.resumed++;
          const last = await run(args);
          if (last.code !== 0) wrong.push(`resumed: exit code ${last.code}`);
          else if (isLate) costs.push((spent + last.ms) / whole.ms - 1);
        }
        if (existsSync(target)) wrong.push(...differences(await valuesOf(target), expected));
        const left = readdirSync(dirname(target)).filter((found) => found !== basename(target));
        wrong.push(...left, ...(existsSync(scratch) ? readdirSync(scratch) : []));
        await rm(dirname(target), { recursive: true, force: true });
      }
      counts.wrong += wrong.length;
      expect(wrong).toEqual([]);
      await rm(dirname(undisturbed), { recursive: true });
    },
    3_600_000,
  );
});
