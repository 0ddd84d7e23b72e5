// @module-tag slow
import { spawn } from "node:child_process";
import { mkdir, readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath, pathToFileURL } from "node:url";
import { build } from "rolldown";
import { describe, expect, it } from "vitest";
import { exitOf, runCli, startCli, testFolder } from "../support/cli.ts";
import { ramp, writeV2Array } from "../support/v2-store.ts";

/** An array whose rechunk takes a while: it has many tasks, of many chunks each. */
async function slowArray(): Promise<string> {
  const cwd = await testFolder();
  await mkdir(join(cwd, "scratch"));
  await writeV2Array(join(cwd, "a.zarr"), {
    shape: [600, 600],
    chunks: [1, 600],
    dtype: "<f4",
    items: ramp(360_000),
  });
  return cwd;
}

const HOW = ["--chunks", "600,1", "--max-mem", "300kB"];
const STAGED = ["--strategy", "staged", "--scratch", "scratch"];

/** Resolves when a task has ended of a run that builds `b.zarr`. */
async function firstTaskEnded(cwd: string): Promise<void> {
  await until(async () => {
    const control = (await readdir(cwd)).find((name) => name.startsWith(".b.zarr.zarrflow-"));
    const ledger = control && (await readFile(join(cwd, control, "ledger.jsonl"), "utf8").catch(() => ""));
    return ledger?.includes('"end":') === true;
  });
}

/** An array larger than what a pipe holds. */
async function largeArray(): Promise<string> {
  const cwd = await testFolder();
  const items = new Float32Array(2 ** 20);
  await writeV2Array(join(cwd, "a.zarr"), { shape: [2 ** 20], chunks: [2 ** 20], dtype: "<f4", items });
  return cwd;
}

async function until(condition: () => Promise<boolean>): Promise<void> {
  while (!(await condition())) await sleep(5);
}

describe("signals", () => {
  it.each([
    ["SIGINT", 130, ["--strategy", "direct"], "1"],
    ["SIGTERM", 7, STAGED, "2"],
    ["SIGHUP", 7, ["--strategy", "direct"], "2"],
  ] as const)(
    "%s stops a run, which is resumed by the command that it prints",
    async (signal, code, how, threads) => {
      const cwd = await slowArray();
      const child = startCli(
        cwd,
        "rechunk",
        "a.zarr",
        "b.zarr",
        ...HOW,
        ...how,
        "--threads",
        threads,
        "--quiet",
      );
      const exit = exitOf(child);
      await firstTaskEnded(cwd);
      child.kill(signal);
      const stderr = await text(child.stderr);
      expect(await exit).toBe(code);
      const said = new RegExp(
        `^zarrflow: interrupted by ${signal}\n  kept: \\d+ of \\d+ tasks\n  to continue: zarrflow (.* --resume)\n.*zarrflow clean \\S*b.zarr\n$`,
      );
      expect(stderr).toMatch(said);
      expect(await readdir(cwd)).not.toContain("b.zarr");
      const resuming = said.exec(stderr)?.[1]?.split(" ") ?? [];
      const { code: resumed, stdout } = await runCli(cwd, ...resuming, "--json");
      expect({ resumed, report: JSON.parse(stdout) }).toMatchObject({
        resumed: 0,
        report: { tasksResumed: expect.any(Number) },
      });
      expect(JSON.parse(stdout).tasksResumed).toBeGreaterThan(0);
      expect((await runCli(cwd, "diff", "a.zarr", "b.zarr")).code).toBe(0);
      expect((await readdir(cwd)).sort()).toEqual(["a.zarr", "b.zarr", "scratch"]);
      expect(await readdir(join(cwd, "scratch"))).toEqual([]);
    },
  );

  it("leave nothing behind of a run that has done nothing", async () => {
    const cwd = await slowArray();
    await mkdir(join(cwd, "b.zarr"));
    const child = startCli(cwd, "rechunk", "a.zarr", "b.zarr", ...HOW, "--tps", "1", "--quiet");
    const exit = exitOf(child);
    await until(async () => (await readdir(cwd)).length > 3);
    child.kill("SIGINT");
    const stderr = await text(child.stderr);
    expect(await exit).toBe(130);
    expect(stderr).toBe("zarrflow: interrupted by SIGINT\n");
    expect((await readdir(cwd)).sort()).toEqual(["a.zarr", "b.zarr", "scratch"]);
  });

  it("end a wait for a reader who does not read", async () => {
    const cwd = await largeArray();
    const child = startCli(cwd, "slice", "a.zarr", "--json");
    const exit = exitOf(child);
    await new Promise((resolve) => child.stdout.once("readable", resolve));
    child.kill("SIGTERM");
    const stderr = await text(child.stderr);
    expect(await exit).toBe(130);
    expect(JSON.parse(stderr)).toMatchObject({ error: { code: "aborted", exitCode: 130 } });
  });

  it("leave no part of an output file", async () => {
    const cwd = await testFolder();
    const items = ramp(500_000);
    await writeV2Array(join(cwd, "a.zarr"), { shape: [2000, 250], chunks: [2000, 1], dtype: "<f4", items });
    const slowly = ["--max-mem", "81kB", "--strategy", "direct"];
    const child = startCli(cwd, "slice", "a.zarr", "--output", "out", ...slowly);
    const exit = exitOf(child);
    await until(async () => (await readdir(cwd)).length > 1);
    expect(await readdir(cwd)).not.toContain("out");
    child.kill("SIGINT");
    expect(await exit).toBe(130);
    expect(await readdir(cwd)).toEqual(["a.zarr"]);
  });
});

describe("a second signal", () => {
  it("ends a process at once that does not stop at the first", async () => {
    const file = join(await testFolder(), "interrupt.mjs");
    const input = fileURLToPath(new URL("../../src/cli/interrupt.ts", import.meta.url));
    await build({ input, platform: "node", output: { file } });
    const { href } = pathToFileURL(file);
    const program = `const { listenToInterrupts } = await import("${href}");
      listenToInterrupts().signal.addEventListener("abort", () => console.log("aborted"));
      setInterval(() => {}, 1000);
      console.log("ready");`;
    const child = spawn(process.execPath, ["--input-type=module", "--eval", program]);
    const exit = exitOf(child);
    let said = "";
    for await (const text of child.stdout) {
      said += text;
      child.kill("SIGINT");
    }
    expect(said).toBe("ready\naborted\n");
    expect(await exit).toBe(130);
  });
});

describe("a reader that goes away", () => {
  it("ends the command quietly", async () => {
    const cwd = await largeArray();
    const child = startCli(cwd, "slice", "a.zarr");
    const exit = exitOf(child);
    child.stdout.once("data", () => child.stdout.destroy());
    expect(await text(child.stderr)).toBe("");
    expect(await exit).toBe(0);
  });
});
