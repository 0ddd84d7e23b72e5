// @module-tag slow
import { execFile, spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { mkdir, open, readFile, truncate } from "node:fs/promises";
import { createServer } from "node:http";
import nodeModule from "node:module";
import type { AddressInfo } from "node:net";
import { dirname, join } from "node:path";
import { text } from "node:stream/consumers";
import { promisify } from "node:util";
import { afterEach, beforeAll, describe, expect, it, onTestFinished, vi } from "vitest";
import { commandNames } from "../../src/cli/command-list.ts";
import { listenToInterrupts } from "../../src/cli/terminal.ts";
import { exists } from "../../src/index.ts";
import { command, dist, requireBuild, root } from "../built-package.ts";
import { buildKiller, runAndKill } from "../faults/crash/killed-process.ts";
import { temporaryFolder } from "../stores/temporary-folder.ts";
import { continuing, exitOf, type Run, runCli, startCli } from "../support/cli.ts";
import { withoutPauses } from "../support/no-pauses.ts";
import { outputHere } from "../support/output-here.mjs";
import { ramp, writeV2Group } from "../support/v2-store.ts";
import { shell } from "./shell.ts";

const execute = promisify(execFile);
const killer = temporaryFolder();
beforeAll(async () => {
  requireBuild();
  await buildKiller(killer.path);
});

const containing = (text: string) => expect.stringContaining(text);
const small = { shape: [4, 6], chunks: [2, 3], dimensions: ["y", "x"] };

describe("exit codes", () => {
  it("are 0 when done, 1 for a broken chunk, 2 for a wrong flag, 3 for nothing, 4 for an unknown codec", async () => {
    const odd = { ...small, compressor: { id: "my-codec", level: 1 } };
    const { cwd, run, refusal, at } = await shell({
      "a.zarr": small,
      "g.zarr": { t: small },
      "odd.zarr": odd,
    });
    expect(await runCli(cwd, "info", "a.zarr")).toMatchObject({ code: 0, stderr: "" });
    await truncate(at("g.zarr/t/1.0"), 5);
    const said = await refusal(1, "digest g.zarr");
    expect(said).toMatch(
      /^t: no digest, because it cannot be read: .*chunk 1\.0 of `t` \(key t\/1\.0\).*24.*5/,
    );
    expect(said).not.toContain("    at ");
    const wrong = { code: 2, stdout: "", stderr: containing("Did you mean `--json`?") };
    expect(await runCli(cwd, "info", "a.zarr", "--jsno")).toMatchObject(wrong);
    expect(await refusal(3, "info no.zarr")).toContain("found none of zarr.json, .zarray, .zgroup, meta");
    expect(await run("digest odd.zarr")).toMatchObject({ code: 4, stderr: containing("my-codec") });
  });

  it("are part of errors as JSON, one line on standard error, of what the error knows", async () => {
    const { refusal } = await shell({ "a.zarr": { ...small, dimensions: [] } });
    const line = await refusal(2, "slice a.zarr --slice y=0 --json");
    expect(line.split("\n")).toHaveLength(2);
    const message = containing("its dimensions have no names");
    const known = { code: "invalid-selection", exitCode: 2, path: "", message, hint: expect.any(String) };
    expect(JSON.parse(line)).toEqual({ error: expect.objectContaining(known) });
    const { error } = JSON.parse(await refusal(2, "info --json --nonsense"));
    expect(error).toMatchObject({ code: "invalid-option", exitCode: 2 });
  });
});

describe("version and help", () => {
  const main = new URL("../../src/cli/main.ts", import.meta.url).href;
  let runs = 0;
  /** Runs what the process of the command runs. */
  const runMain = (line: string): Promise<Run> =>
    outputHere(".", () => {
      process.argv = [process.execPath, command, ...line.split(" ")];
      return import(`${main}?${++runs}`);
    });

  it("prints the package's version, and fails where it cannot be written", async () => {
    const { version } = JSON.parse(await readFile("package.json", "utf8"));
    expect(await runCli(".", "--version")).toMatchObject({ code: 0, stdout: `${version}\n`, stderr: "" });
    if (process.platform !== "linux") return;
    const full = await open("/dev/full", "w");
    const stdio = ["ignore", full.fd, "pipe"] as const;
    const ended = spawnSync(process.execPath, [command, "--version"], {
      stdio: [...stdio],
      encoding: "utf8",
    });
    await full.close();
    expect(ended).toMatchObject({ status: 1, stderr: containing("no space left") });
  });

  it.each(["--help", "-h", "help", "help --help", "help -h"])("%s lists the commands", async (line) => {
    const { code, stdout, stderr } = await runMain(line);
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    for (const name of [...commandNames, "help"]) expect(stdout).toMatch(new RegExp(`^ {2}${name} `, "m"));
  });

  it("explains a command on --help, wherever it stands, but after --", async () => {
    const { output, refusal } = await shell();
    const help = await output("help copy");
    expect(await output("copy a.zarr --help")).toBe(help);
    expect(help).toContain("zarrflow copy era5.zarr era5.zarr.zip");
    await refusal(3, "info -- --help");
  });
});

describe("compiled code", () => {
  it.each(["caches", "caches/", "not/absolute", ""])(
    "is kept in the user's folder of caches, where Node can (XDG_CACHE_HOME=%s)",
    async (name) => {
      const { cwd, at, names } = await shell({ "a.zarr": small });
      const [folder, home] = name.startsWith("caches") ? [at(name), ""] : [name, at("caches")];
      const env = { ...process.env, XDG_CACHE_HOME: folder, HOME: home, NODE_COMPILE_CACHE: "" };
      const ended = spawnSync(process.execPath, [command, "info", "a.zarr"], { cwd, env, encoding: "utf8" });
      expect(ended).toMatchObject({ status: 0, stderr: "" });
      const isKept = "enableCompileCache" in nodeModule && name !== "not/absolute";
      expect(await names()).toEqual(isKept ? ["a.zarr", "caches"] : ["a.zarr"]);
    },
  );
});

/** An array whose rechunk has many tasks, or one larger than what a pipe holds. */
const rows = () => shell({ "a.zarr": { shape: [60, 60], chunks: [1, 60] } });
const large = () => shell({ "a.zarr": { shape: [2 ** 20], items: new Float32Array(2 ** 20) } });

describe("signals", () => {
  afterEach(() => void vi.restoreAllMocks());

  it.each([
    ["SIGINT", 130, "--strategy direct --max-mem 18kB --threads 1"],
    ["SIGTERM", 7, "--strategy staged --max-mem 28kB --scratch SCRATCH"],
    ["SIGHUP", 7, "--strategy direct --max-mem 18kB --threads 2"],
  ] as const)("%s stops a run, which is resumed by the command that it prints", async (signal, code, how) => {
    const { output, json, names, at } = await rows();
    await mkdir(at("scratch"));
    const options = how.replace("SCRATCH", at("scratch")).split(" ");
    const words = ["rechunk", at("a.zarr"), at("b.zarr"), "--chunks", "60,1", ...options, "--quiet"];
    const ended = await runAndKill(killer.path, words, { signal, at: 40 });
    const kept =
      "kept: [1-9]\\d* of \\d+ tasks\n  to continue: zarrflow (.* --resume)\n.*zarrflow clean .*b.zarr'?";
    const stderr = expect.stringMatching(`^zarrflow: interrupted by ${signal}\n  ${kept}\n$`);
    expect(ended).toMatchObject({ code, stderr });
    expect(await names()).not.toContain("b.zarr");
    const report = await json<{ tasksResumed: number }>(continuing(ended.stderr).join(" "));
    expect(report.tasksResumed).toBeGreaterThan(0);
    await output("diff a.zarr b.zarr");
    expect(await names()).toEqual(["a.zarr", "b.zarr", "scratch"]);
    expect(await names("scratch")).toEqual([]);
  });

  it("leave nothing behind of a run that ends no task in the time it is given", async () => {
    const { run, names, at } = await rows();
    await mkdir(at("b.zarr"));
    vi.spyOn(process, "exit").mockImplementation(() => undefined as never);
    const { setTimeout } = globalThis;
    const isGrace = (ms?: number) => ms === 5000;
    vi.spyOn(globalThis, "setTimeout").mockImplementation(((run: () => void, ms?: number, ...of: []) =>
      setTimeout(run, isGrace(ms) ? 0 : ms, ...of)) as typeof setTimeout);
    const server = createServer(async ({ url = "" }, response) => {
      // the target is locked before the first task reads
      if (/\d$/.test(url) && (await names()).length > 2) process.emit("SIGINT", "SIGINT");
      else response.end(await readFile(at(url)).catch(() => response.writeHead(404) && ""));
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    onTestFinished(() => {
      server.close();
      server.closeAllConnections();
    });
    const source = `http://127.0.0.1:${(server.address() as AddressInfo).port}/a.zarr`;
    const ended = await run(`rechunk ${source} b.zarr --chunks 60,1 --io 1 --quiet`);
    expect(ended).toMatchObject({ code: 130, stderr: "zarrflow: interrupted by SIGINT\n" });
    expect(await names()).toEqual(["a.zarr", "b.zarr"]);
  });

  it("end a wait for a reader who does not read", async () => {
    const child = startCli((await large()).cwd, "slice", "a.zarr", "--json");
    const exit = exitOf(child);
    await new Promise((resolve) => child.stdout.once("readable", resolve));
    child.kill("SIGTERM");
    const stderr = await text(child.stderr);
    expect(await exit).toBe(130);
    expect(JSON.parse(stderr)).toMatchObject({ error: { code: "aborted", exitCode: 130 } });
  });

  it("leave no part of an output file", async () => {
    const { at, names } = await shell({ "a.zarr": { shape: [400, 100], chunks: [400, 1] } });
    const words = ["slice", at("a.zarr"), "--output", at("out"), "--max-mem", "18kB"];
    // as the file is made
    const ended = await runAndKill(killer.path, words, { signal: "SIGINT", at: 0 });
    expect(ended).toMatchObject({ code: 130, calls: 2 });
    expect(await names()).toEqual(["a.zarr"]);
  });

  it("end a process at once that does not stop at the first one", () => {
    const signals = ["SIGINT", "SIGTERM", "SIGHUP"] as const;
    const before = signals.map((name) => process.listeners(name));
    const exit = vi.spyOn(process, "exit").mockImplementation(() => undefined as never);
    const { signal } = listenToInterrupts();
    process.emit("SIGINT", "SIGINT");
    expect(signal.aborted).toBe(true);
    expect(exit).not.toHaveBeenCalled();
    process.emit("SIGINT", "SIGINT");
    expect(exit).toHaveBeenCalledWith(130);
    for (const [n, name] of signals.entries())
      for (const one of process.listeners(name)) if (!before[n]?.includes(one)) process.off(name, one);
  });
});

it("a reader that goes away ends the command quietly", async () => {
  const child = startCli((await large()).cwd, "slice", "a.zarr");
  const exit = exitOf(child);
  child.stdout.once("data", () => child.stdout.destroy());
  expect(await text(child.stderr)).toBe("");
  expect(await exit).toBe(0);
});

describe("a process that is killed", () => {
  withoutPauses();
  const killed = { code: null, signal: "SIGKILL" };

  it("as it builds a pyramid leaves nothing at its target, and the next one succeeds", async () => {
    const made = { shape: [60, 40], chunks: [4, 40], dimensions: ["y", "x"] };
    const { run, output, names, at } = await shell({ "s.zarr": { t: made } });
    const words = ["pyramid", at("s.zarr"), at("p.zarr"), "--levels", "3", "--quiet"];
    expect(await runAndKill(killer.path, words, { signal: "SIGKILL", at: 20 })).toMatchObject(killed);
    expect(await exists(at("p.zarr"))).toBe(false);
    const [part = "", ...others] = (await names()).filter((name) => name !== "s.zarr");
    expect(others).toEqual([]);
    expect((await names(part, true)).length).toBeGreaterThan(3);
    expect(await run(words.join(" "))).toMatchObject({ code: 0, stderr: "" });
    expect(await output("slice p.zarr/1/t --slice y=0,x=0:2 --format json")).toBe("[20.5,22.5]\n");
  });

  it("as it updates a copy leaves each array whole or out of view", async () => {
    const many = { shape: [6, 3], chunks: [1, 3] };
    const { output, at } = await shell({ "s.zarr": { a: many, b: many } });
    await output("copy s.zarr d.zarr");
    const old = (await output("digest d.zarr")).split("\n");
    const changed = { ...many, items: ramp(18).map((n) => -n) };
    await writeV2Group(at("s.zarr"), { a: changed, b: changed });
    const next = await output("digest s.zarr");
    for (const n of [6, 14, 22]) {
      const target = at(`d${n}.zarr`);
      cpSync(at("d.zarr"), target, { recursive: true });
      const words = ["copy", at("s.zarr"), target, "--update", "--io", "1"];
      expect(await runAndKill(killer.path, words, { signal: "SIGKILL", at: n })).toMatchObject(killed);
      const inView = ["a", "b"].filter((name) => existsSync(join(target, name, ".zarray")));
      expect(inView.length, `${n}`).toBeLessThan(2);
      for (const line of (await output(`digest ${target}`)).split("\n"))
        expect([...old, ...next.split("\n")]).toContain(line);
      // the lock is that of a process which runs no more on this machine
      await output(words.join(" "));
      expect(await output(`digest ${target}`)).toBe(next);
    }
  });
});

it("the demo runs on any dataset, and leaves its results in the folder demo", async () => {
  const field = { shape: [20, 30], chunks: [1, 30], dimensions: ["time", "x"] };
  const { cwd, names } = await shell({ "own.zarr": { field, x: { shape: [30], dimensions: ["x"] } } });
  const temporary = await shell();
  const env = { ...process.env, TMPDIR: temporary.cwd };
  const script = join(dist, "../scripts/demo.mjs");
  const { stdout, stderr } = await execute(process.execPath, [script, "own.zarr"], { cwd, env });
  expect(stderr).toBe("");
  expect(stdout).toContain("--chunks field:time=-1,x=30 --max-mem 64MB --verify\n");
  expect(stdout).toMatch(/memory: at most \d+ MB of 64MB in buffers, \d+ MB in the whole process\n/);
  expect(stdout).toContain("series.npy: npy of (20), ");
  expect(stdout).toContain("  the same\n");
  expect(await temporary.names()).toEqual([]);
  expect(await names()).toEqual(["demo", "own.zarr"]);
  expect(await names("demo")).toEqual(["series.npy", "series.zarr.zip"]);
});

it("the package without the packages that are optional says how to install what writes a format", async () => {
  const { cwd, at } = await shell({ "g.zarr": { t: { shape: [2], dimensions: ["x"] } } });
  cpSync(join(root, "dist"), at("package/dist"), { recursive: true });
  const document = readFileSync(join(root, "package.json"), "utf8");
  writeFileSync(at("package/package.json"), document);
  for (const dependency of Object.keys(JSON.parse(document).dependencies)) {
    const place = at("package/node_modules", dependency);
    mkdirSync(dirname(place), { recursive: true });
    symlinkSync(join(root, "node_modules", dependency), place);
  }
  for (const [format, name, wanted, version] of [
    ["arrow", "Arrow", "apache-arrow", 21],
    ["arrows", "Arrow", "apache-arrow", 21],
    ["parquet", "Parquet", "hyparquet-writer", 0.17],
  ] as const) {
    const words = ["package/dist/cli/main.js", "slice", "g.zarr/t", "--output", `t.${format}`];
    const missing = `zarrflow: ${name} is written by an optional package that is not installed (expected ${wanted})\n`;
    const stderr = `${missing}  hint: Install it beside zarrflow: npm install ${wanted}@${version}.\n`;
    const run = execute(process.execPath, words, { cwd });
    await expect(run).rejects.toMatchObject({ code: 4, stdout: "", stderr });
  }
});
