// @module-tag long
import { spawn } from "node:child_process";
import { mkdir, readdir, readFile, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { beforeEach, describe, expect, it } from "vitest";
import { command } from "../built-package.ts";
import { serveValues, type ValueServer } from "../stores/value-server.ts";
import { continuing, exitOf, runCli, testFolder } from "../support/cli.ts";
import { writeV2Group } from "../support/v2-store.ts";

const arrays = { t: { shape: [64, 64], chunks: [32, 64] } };

let cwd: string;
beforeEach(async () => {
  cwd = await testFolder();
  await writeV2Group(join(cwd, "g.zarr"), arrays, { title: "x" });
});

describe("a zip that is cut short", () => {
  it.each([0.3, 0.99])("is reported as that, whatever is left of it (%d)", async (part) => {
    expect(await runCli(cwd, "copy", "g.zarr", "g.zip")).toMatchObject({ code: 0 });
    const { length } = await readFile(join(cwd, "g.zip"));
    await truncate(join(cwd, "g.zip"), Math.floor(part * length));
    for (const line of [
      ["copy", "g.zip", "h.zarr"],
      ["info", "g.zip/t"],
      ["validate", "g.zip"],
    ]) {
      const { code, stdout, stderr } = await runCli(cwd, ...line);
      expect(code).toBe(1);
      expect(stdout + stderr).toMatch(/no zip directory at the end: this is not a zip, or it is truncated/);
    }
    expect((await readdir(cwd)).sort()).toEqual(["g.zarr", "g.zip"]);
  });
});

describe("a disk that is full", () => {
  /** Runs the command as one whose files may have so many bytes. */
  async function runWithin(bytes: number, ...args: readonly string[]) {
    const child = spawn("prlimit", [`--fsize=${bytes}`, process.execPath, command, ...args], {
      cwd,
      env: { ...process.env, NO_COLOR: "1" },
      stdio: ["ignore", "ignore", "pipe"],
    });
    const [code, stderr] = await Promise.all([exitOf(child), text(child.stderr)]);
    return { code, stderr };
  }

  it.runIf(process.platform === "linux").each([
    ["chunks", ["rechunk", "g.zarr", "h.zarr", "--chunks", "t:64,64", "--codec", "none"]],
    ["entries of a zip", ["copy", "g.zarr", "h.zip"]],
    ["values as they are", ["copy", "g.zarr", "h.zarr"]],
  ])("is reported for %s, and the run goes on where there is room", async (_, line) => {
    await mkdir(join(cwd, "g.zarr/notes"));
    await writeFile(join(cwd, "g.zarr/notes/long"), new Uint8Array(20_000).fill(1));
    const { code, stderr } = await runWithin(8192, ...line);
    expect({ code, stderr }).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("the file is too large for the file system"),
    });
    // where the first task fails, nothing is done that could be continued
    const again = line[0] === "rechunk" ? line : continuing(stderr);
    expect(await runCli(cwd, ...again)).toMatchObject({ code: 0 });
    expect((await readdir(cwd)).sort()).toEqual(["g.zarr", line[2]]);
  });
});

describe("a web server that closes amid a body", () => {
  async function serve(): Promise<ValueServer> {
    const values = new Map<string, Uint8Array>();
    for (const name of [".zarray", "0.0", "1.0"])
      values.set(name, await readFile(join(cwd, "g.zarr/t", name)));
    return serveValues(values);
  }

  it("is asked again, and reported when it stays so", async () => {
    const server = await serve();
    let left = 2;
    const closing: ValueServer["faults"][number] = (response, { url }) => {
      server.faults.push(closing);
      if (!url.endsWith("1.0") || left-- <= 0) return false;
      response.writeHead(200, { "content-length": 8192 }).write("half");
      setTimeout(() => response.destroy(), 5);
      return true;
    };
    server.faults.push(closing);
    expect(await runCli(cwd, "copy", server.url, "h.zarr")).toMatchObject({ code: 0 });
    expect(await readFile(join(cwd, "h.zarr/1.0"))).toEqual(await readFile(join(cwd, "g.zarr/t/1.0")));
    left = Number.POSITIVE_INFINITY;
    const { code, stderr } = await runCli(cwd, "copy", server.url, "i.zarr");
    expect(code).toBe(5);
    expect(stderr).toMatch(/^waiting \d[\s\S]*\nzarrflow: .*1\.0.*the connection failed/);
    left = 0;
    expect(await runCli(cwd, "copy", server.url, "i.zarr")).toMatchObject({ code: 0 });
    expect((await readdir(cwd)).sort()).toEqual(["g.zarr", "h.zarr", "i.zarr"]);
    await server.close();
  }, 180_000);
});
