// @module-tag slow
import { once } from "node:events";
import { mkdir, rm, writeFile } from "node:fs/promises";
import { request } from "node:http";
import { type AddressInfo, createServer } from "node:net";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { describe, expect, it, onTestFinished } from "vitest";
import * as zarrita from "zarrita";
import { command } from "../../../src/cli/commands/serve.ts";
import { requireBuild } from "../../built-package.ts";
import { exitOf, startCli, testFolder } from "../../support/cli.ts";
import { runHere } from "../../support/cli-here.ts";
import { ramp, writeV2Array } from "../../support/v2-store.ts";

/** A folder with the array `a.zarr` of 40 by 40 items, in chunks of one row. */
async function source(): Promise<string> {
  const cwd = await testFolder();
  await mkdir(join(cwd, "outside"));
  await writeFile(join(cwd, "outside", "secret"), "secret");
  await writeV2Array(join(cwd, "a.zarr"), { shape: [40, 40], chunks: [1, 40] });
  return cwd;
}

/** Runs the command in this process until the test ends, and waits until it answers; what it prints. */
async function serve(cwd: string, source: string, ...flags: readonly string[]) {
  const stop = new AbortController();
  const lines: string[] = [];
  let written = (_: string) => {};
  const output = new Promise<string>((resolve) => {
    written = resolve;
  });
  const { signal } = stop;
  const ended = command.run([join(cwd, source), ...flags], {
    ...{ signal, interrupts: { signal, interruption: undefined, stopFirst: () => signal } },
    ...{ isOutputSeen: false, errors: process.stderr, endWith: () => {} },
    write: async (data) => written(String(data)),
    printLine: (line) => void lines.push(line),
  });
  onTestFinished(async () => {
    stop.abort();
    await ended;
  });
  const failed = ended.then(() => Promise.reject(new Error("it has ended")));
  return { url: (await Promise.race([output, failed])).trim(), lines };
}

/** Starts the command as a process, and waits until it answers. */
async function start(cwd: string, ...args: readonly string[]) {
  requireBuild();
  const child = startCli(cwd, "serve", ...args);
  onTestFinished(() => void child.kill("SIGKILL"));
  const errors = text(child.stderr);
  const [line] = await Promise.race([
    once(child.stdout, "data"),
    errors.then((words) => {
      throw new Error(words);
    }),
  ]);
  return { child, errors, url: String(line).trim(), exit: exitOf(child) };
}

/** The status of a path that no parser of URLs has touched. */
function statusOf(url: string, path: string): Promise<number | undefined> {
  const { hostname, port } = new URL(url);
  return new Promise((resolve, reject) => {
    request({ hostname, port, path }, (response) => {
      response.resume();
      resolve(response.statusCode);
    })
      .on("error", reject)
      .end();
  });
}

describe("zarrflow serve", () => {
  it.each(["SIGINT", "SIGTERM"] as const)("answers until %s, and ends with 0", async (signal) => {
    const { child, errors, url, exit } = await start(await source(), "a.zarr");
    expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/$/);
    expect((await fetch(`${url}.zarray`)).status).toBe(200);
    // a connection that is kept alive, and one that asks for nothing, do not keep it
    const idle = request({ host: "127.0.0.1", port: new URL(url).port, method: "POST" });
    idle.on("error", () => {}).flushHeaders();
    child.kill(signal);
    expect(await exit).toBe(0);
    expect(await errors).toBe("serving a.zarr; Ctrl-C stops it\n");
  });

  it("gives zarrita the array in other chunks and another format", async () => {
    const { url } = await serve(
      await source(),
      "a.zarr",
      "--chunks",
      "40,7",
      "--to",
      "v3",
      "--codec",
      "zstd",
    );
    const array = await zarrita.open.v3(new zarrita.FetchStore(url), { kind: "array" });
    expect(array.chunks).toEqual([40, 7]);
    const { data } = await zarrita.get(array);
    expect([...(data as Float32Array)]).toEqual([...ramp(1600)]);
  });

  it("gives a part, and its URL as JSON", async () => {
    const { url: line } = await serve(await source(), "a.zarr", "--slice", "2:4,5", "--json", "--quiet");
    const { url } = JSON.parse(line);
    const array = await zarrita.open.v2(new zarrita.FetchStore(url), { kind: "array" });
    expect([...((await zarrita.get(array)).data as Float32Array)]).toEqual([85, 125]);
  });

  it("never reads outside of its source", async () => {
    const cwd = await source();
    const { url, lines } = await serve(cwd, "a.zarr");
    const hostile = ["/../outside/secret", "/%2e%2e/outside/secret", "/..%2foutside%2fsecret", "/a%00", "/%"];
    for (const path of [
      ...hostile,
      `/${"a/".repeat(3000)}`,
      "/..\\outside\\secret",
      "//outside/secret",
      "/",
    ]) {
      expect([400, 404]).toContain(await statusOf(url, path));
    }
    expect(lines).toEqual([`serving ${cwd}/a.zarr; Ctrl-C stops it`]);
  });

  it("prints what failed as a line, and answers 502", async () => {
    const cwd = await source();
    const { url, lines } = await serve(cwd, "a.zarr", "--chunks", "40,7");
    await writeFile(join(cwd, "a.zarr", "3.0"), "too short");
    const response = await fetch(`${url}0.0`);
    expect([response.status, await response.text()]).toEqual([502, "corrupt-chunk\n"]);
    await rm(join(cwd, "a.zarr", "3.0"));
    expect((await fetch(`${url}0.0`)).status).toBe(200);
    expect(lines).toHaveLength(2);
    expect(lines[1]).toMatch(/^GET \/0\.0: corrupt-chunk: .*chunk 3\.0/);
  });

  it("rejects what it cannot serve, or listen at", async () => {
    const cwd = await source();
    const other = createServer();
    onTestFinished(() => void other.close());
    await new Promise<void>((resolve) => other.listen(0, "127.0.0.1", resolve));
    const { port } = other.address() as AddressInfo;
    const failing = async (...args: string[]) => {
      const { code, stderr } = await runHere(cwd, "serve", ...args);
      return `${code}: ${stderr}`;
    };
    expect(await failing("a.zarr", "--port", `${port}`)).toMatch(/^2: [\s\S]*another program listens there/);
    expect(await failing("a.zarr", "--port", "70000")).toMatch(/^2: [\s\S]*not a port/);
    expect(await failing("a.zarr", "--host", "192.0.2.1")).toMatch(
      /^2: [\s\S]*not an address of this machine/,
    );
    expect(await failing("b.zarr")).toMatch(/^3: /);
    expect(await failing("a.zarr", "--chunks", "1,2,3")).toMatch(/^2: /);
    expect(await failing("a.zarr", "--chunks", "40,40", "--max-mem", "1kB")).toMatch(/^2: [\s\S]*at least/);
  });
});
