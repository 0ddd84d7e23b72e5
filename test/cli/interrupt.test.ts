// @module-tag slow

import { mkdir, readdir, readFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { afterEach, beforeAll, describe, expect, it, onTestFinished, vi } from "vitest";
import { listenToInterrupts } from "../../src/cli/interrupt.ts";
import { requireBuild } from "../built-package.ts";
import { buildKiller, runAndKill } from "../faults/crash/killed-process.ts";
import { temporaryFolder } from "../stores/temporary-folder.ts";
import { continuing, exitOf, startCli, testFolder } from "../support/cli.ts";
import { runHere } from "../support/cli-here.ts";
import { ramp, writeV2Array } from "../support/v2-store.ts";

const killer = temporaryFolder();
beforeAll(async () => {
  requireBuild();
  await buildKiller(killer.path);
});
afterEach(() => void vi.restoreAllMocks());

/** An array whose rechunk has many tasks. */
async function arrayOfRows(): Promise<string> {
  const cwd = await testFolder();
  await mkdir(join(cwd, "scratch"));
  await writeV2Array(join(cwd, "a.zarr"), {
    shape: [60, 60],
    chunks: [1, 60],
    dtype: "<f4",
    items: ramp(3600),
  });
  return cwd;
}

/** An array larger than what a pipe holds. */
async function largeArray(): Promise<string> {
  const cwd = await testFolder();
  const items = new Float32Array(2 ** 20);
  await writeV2Array(join(cwd, "a.zarr"), { shape: [2 ** 20], chunks: [2 ** 20], dtype: "<f4", items });
  return cwd;
}

describe("signals", () => {
  it.each([
    ["SIGINT", 130, ["--strategy", "direct", "--max-mem", "18kB", "--threads", "1"]],
    ["SIGTERM", 7, ["--strategy", "staged", "--max-mem", "28kB", "--scratch", "scratch"]],
    ["SIGHUP", 7, ["--strategy", "direct", "--max-mem", "18kB", "--threads", "2"]],
  ] as const)(
    "%s stops a run, which is resumed by the command that it prints",
    async (signal, exitCode, how) => {
      const cwd = await arrayOfRows();
      const [from, to] = [join(cwd, "a.zarr"), join(cwd, "b.zarr")];
      const places = how.map((word) => (word === "scratch" ? join(cwd, word) : word));
      const words = ["rechunk", from, to, "--chunks", "60,1", ...places, "--quiet"];
      const { code, stderr } = await runAndKill(killer.path, words, { signal, at: 40 });
      expect({ code, stderr }).toEqual({
        code: exitCode,
        stderr: expect.stringMatching(
          `^zarrflow: interrupted by ${signal}\n  kept: [1-9]\\d* of \\d+ tasks\n  to continue: zarrflow (.* --resume)\n.*zarrflow clean .*b.zarr'?\n$`,
        ),
      });
      expect(await readdir(cwd)).not.toContain("b.zarr");
      const resumed = await runHere(cwd, ...continuing(stderr), "--json");
      expect({ ...resumed, report: JSON.parse(resumed.stdout) }).toMatchObject({
        code: 0,
        report: { tasksResumed: expect.any(Number) },
      });
      expect(JSON.parse(resumed.stdout).tasksResumed).toBeGreaterThan(0);
      expect((await runHere(cwd, "diff", "a.zarr", "b.zarr")).code).toBe(0);
      expect((await readdir(cwd)).sort()).toEqual(["a.zarr", "b.zarr", "scratch"]);
      expect(await readdir(join(cwd, "scratch"))).toEqual([]);
    },
  );

  it("leave nothing behind of a run that ends no task in the time it is given", async () => {
    const cwd = await arrayOfRows();
    await mkdir(join(cwd, "b.zarr"));
    vi.spyOn(process, "exit").mockImplementation(() => undefined as never);
    const { setTimeout } = globalThis;
    const isGrace = (ms?: number) => ms === 5000;
    vi.spyOn(globalThis, "setTimeout").mockImplementation(((run: () => void, ms?: number, ...of: []) =>
      setTimeout(run, isGrace(ms) ? 0 : ms, ...of)) as typeof setTimeout);
    const server = createServer(async ({ url = "" }, response) => {
      // the target is locked before the first task reads
      if (/\d$/.test(url) && (await readdir(cwd)).length > 3) process.emit("SIGINT", "SIGINT");
      else response.end(await readFile(join(cwd, url)).catch(() => response.writeHead(404) && ""));
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    onTestFinished(() => {
      server.close();
      server.closeAllConnections();
    });
    const source = `http://127.0.0.1:${(server.address() as AddressInfo).port}/a.zarr`;
    const words = ["rechunk", source, "b.zarr", "--chunks", "60,1", "--io", "1", "--quiet"];
    const { code, stderr } = await runHere(cwd, ...words);
    expect({ code, stderr }).toEqual({ code: 130, stderr: "zarrflow: interrupted by SIGINT\n" });
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
    const columns = { shape: [400, 100], chunks: [400, 1], dtype: "<f4", items: ramp(40_000) };
    await writeV2Array(join(cwd, "a.zarr"), columns);
    const words = ["slice", join(cwd, "a.zarr"), "--output", join(cwd, "out"), "--max-mem", "18kB"];
    // as the file is made
    const { code, calls } = await runAndKill(killer.path, words, { signal: "SIGINT", at: 0 });
    expect({ code, calls }).toEqual({ code: 130, calls: 2 });
    expect(await readdir(cwd)).toEqual(["a.zarr"]);
  });
});

describe("a second signal", () => {
  it("ends a process at once that does not stop at the first", () => {
    const listeners = new Set(process.listeners("SIGINT"));
    const exit = vi.spyOn(process, "exit").mockImplementation(() => undefined as never);
    const { signal } = listenToInterrupts();
    process.emit("SIGINT", "SIGINT");
    expect(signal.aborted).toBe(true);
    expect(exit).not.toHaveBeenCalled();
    process.emit("SIGINT", "SIGINT");
    expect(exit).toHaveBeenCalledWith(130);
    for (const name of ["SIGINT", "SIGTERM", "SIGHUP"] as const)
      for (const listener of process.listeners(name))
        if (!listeners.has(listener)) process.off(name, listener);
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
