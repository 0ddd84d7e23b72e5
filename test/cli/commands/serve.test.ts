// @module-tag slow
import { once } from "node:events";
import { mkdir, rm, writeFile } from "node:fs/promises";
import { request } from "node:http";
import { text } from "node:stream/consumers";
import { describe, expect, it, onTestFinished } from "vitest";
import * as zarrita from "zarrita";
import { command } from "../../../src/cli/commands/serve.ts";
import { requireBuild } from "../../built-package.ts";
import { exitOf, startCli } from "../../support/cli.ts";
import { ramp } from "../../support/v2-store.ts";
import { deferred, statusOf } from "../server/asking.ts";
import { shell } from "../shell.ts";

/** A folder with the array `a.zarr` of 40 by 40 items, in chunks of one row. */
const source = () => shell({ "a.zarr": { shape: [40, 40], chunks: [1, 40] } });

/** Runs the command in this process until the test ends, and waits until it answers; what it prints. */
async function serve(source: string, flags = "") {
  const stop = new AbortController();
  const lines: string[] = [];
  const { promise: output, resolve: written } = deferred<string>();
  const { signal } = stop;
  const ended = command.run([source, ...flags.split(" ").filter(Boolean)], {
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

/** Starts a command as a process, and waits until it prints where it answers. */
async function start(cwd: string, ...args: readonly string[]) {
  requireBuild();
  const child = startCli(cwd, ...args);
  onTestFinished(() => void child.kill("SIGKILL"));
  const errors = text(child.stderr);
  const failed = errors.then((words) => Promise.reject(new Error(words)));
  const [line] = await Promise.race([once(child.stdout, "data"), failed]);
  return { child, errors, line: String(line).trim(), exit: exitOf(child) };
}

describe("zarrflow serve", () => {
  it.each(["SIGINT", "SIGTERM"] as const)("answers until %s, and ends with 0", async (signal) => {
    const { child, errors, line: url, exit } = await start((await source()).cwd, "serve", "a.zarr");
    expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/$/);
    expect((await fetch(`${url}.zarray`)).status).toBe(200);
    // a connection that is kept alive, and one that asks for nothing, do not keep it
    const idle = request({ host: "127.0.0.1", port: new URL(url).port, method: "POST" });
    idle.on("error", () => {}).flushHeaders();
    child.kill(signal);
    expect(await exit).toBe(0);
    expect(await errors).toBe("serving a.zarr; press Ctrl-C to stop\n");
  });

  it("gives zarrita the array in other chunks and another format, or a part, with its URL as JSON", async () => {
    const { at } = await source();
    const { url } = await serve(at("a.zarr"), "--chunks 40,7 --to v3 --codec zstd");
    const array = await zarrita.open.v3(new zarrita.FetchStore(url), { kind: "array" });
    expect(array.chunks).toEqual([40, 7]);
    expect((await zarrita.get(array)).data).toEqual(ramp(1600));
    const { url: line } = await serve(at("a.zarr"), "--slice 2:4,5 --json --quiet");
    const part = await zarrita.open.v2(new zarrita.FetchStore(JSON.parse(line).url), { kind: "array" });
    expect((await zarrita.get(part)).data).toEqual(Float32Array.of(85, 125));
  });

  it("never reads outside of its source", async () => {
    const { cwd, at } = await source();
    await mkdir(at("outside"));
    await writeFile(at("outside/secret"), "secret");
    const { url, lines } = await serve(at("a.zarr"));
    const above = ["/../outside/secret", "/%2e%2e/outside/secret", "/..%2foutside%2fsecret"];
    const odd = ["/a%00", "/%", `/${"a/".repeat(3000)}`, "/..\\outside\\secret", "//outside/secret", "/"];
    for (const path of [...above, ...odd]) expect([400, 404]).toContain(await statusOf(url, { path }));
    expect(lines).toEqual([`serving ${cwd}/a.zarr; press Ctrl-C to stop`]);
  });

  it("prints what failed as a line, and answers 502", async () => {
    const { at } = await source();
    const { url, lines } = await serve(at("a.zarr"), "--chunks 40,7");
    await writeFile(at("a.zarr/3.0"), "too short");
    const response = await fetch(`${url}0.0`);
    expect([response.status, await response.text()]).toEqual([502, "corrupt-chunk\n"]);
    await rm(at("a.zarr/3.0"));
    expect((await fetch(`${url}0.0`)).status).toBe(200);
    const failed = expect.stringMatching(/^GET \/0\.0: corrupt-chunk: .*chunk 3\.0/);
    expect(lines).toEqual([expect.any(String), failed]);
  });
});

it("zarrflow view prints where it answers, and ends when it is interrupted", async () => {
  const { cwd } = await shell({ "g.zarr": { t: { shape: [4] } } });
  const { child, line, exit } = await start(cwd, "view", "g.zarr", "--json");
  const { url } = JSON.parse(line);
  expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/[\w-]{24}\/$/);
  const response = await fetch(`${url}tree`);
  expect(await response.json()).toMatchObject({ url: "g.zarr", nodes: [{ path: "" }, { path: "t" }] });
  child.kill("SIGINT");
  expect(await exit).toBe(0);
  await expect(fetch(url)).rejects.toThrow("fetch failed");
});
