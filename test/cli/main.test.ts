// @module-tag slow
import { spawnSync } from "node:child_process";
import { open, readFile, rm, truncate } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { commandNames } from "../../src/cli/command-list.ts";
import { command } from "../built-package.ts";
import { type Run, runCli, testFolder } from "../support/cli.ts";
import { runHere } from "../support/cli-here.ts";
import { outputHere } from "../support/output-here.mjs";
import { writeV2Array, writeV2Group } from "../support/v2-store.ts";

const small = { shape: [4, 6], chunks: [2, 3], dimensions: ["y", "x"] };

describe("exit codes", () => {
  it("0 when done", async () => {
    const cwd = await testFolder();
    await writeV2Array(join(cwd, "a.zarr"), small);
    expect(await runCli(cwd, "info", "a.zarr")).toMatchObject({ code: 0, stderr: "" });
  });

  it("1 for a broken chunk, with array, key and chunk", async () => {
    const cwd = await testFolder();
    await writeV2Group(join(cwd, "g.zarr"), { t: small });
    await truncate(join(cwd, "g.zarr/t/1.0"), 5);
    const { code, stdout, stderr } = await runHere(cwd, "digest", "g.zarr");
    expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
    expect(stderr).toMatch(/^t: cannot be read, .*chunk 1\.0 of `t` \(key t\/1\.0\).*24.*5/);
    expect(stderr).not.toContain("    at ");
  });

  it("2 for a wrong flag", async () => {
    const { code, stdout, stderr } = await runCli(".", "info", "a.zarr", "--jsno");
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr).toContain("Did you mean `--json`?");
  });

  it("3 when there is nothing", async () => {
    const cwd = await testFolder();
    const { code, stderr } = await runHere(cwd, "info", "no.zarr");
    expect(code).toBe(3);
    expect(stderr).toContain("found none of zarr.json, .zarray, .zgroup, meta");
  });

  it("4 for a codec that is not known", async () => {
    const cwd = await testFolder();
    await writeV2Array(join(cwd, "a.zarr"), { ...small, compressor: { id: "my-codec", level: 1 } });
    const { code, stderr } = await runHere(cwd, "digest", "a.zarr");
    expect(code).toBe(4);
    expect(stderr).toContain("my-codec");
  });
});

describe("errors as JSON", () => {
  it("are one line on standard error, of what the error knows", async () => {
    const cwd = await testFolder();
    await writeV2Array(join(cwd, "a.zarr"), small);
    await rm(join(cwd, "a.zarr/.zattrs"));
    const { code, stdout, stderr } = await runHere(cwd, "slice", "a.zarr", "--slice", "y=0", "--json");
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr.split("\n")).toHaveLength(2);
    expect(JSON.parse(stderr)).toEqual({
      error: expect.objectContaining({
        code: "invalid-selection",
        exitCode: 2,
        path: "",
        message: expect.stringContaining("its dimensions have no names"),
        hint: expect.any(String),
      }),
    });
  });

  it("come for wrong flags, too", async () => {
    const { code, stderr } = await runHere(".", "info", "--json", "--nonsense");
    expect(code).toBe(2);
    expect(JSON.parse(stderr).error).toMatchObject({ code: "invalid-option", exitCode: 2 });
  });
});

const main = new URL("../../src/cli/main.ts", import.meta.url).href;
let runs = 0;

/** Runs what the process of the command runs. */
function runMain(...args: readonly string[]): Promise<Run> {
  return outputHere(".", () => {
    process.argv = [process.execPath, command, ...args];
    return import(`${main}?${++runs}`);
  });
}

describe("version and help", () => {
  it("prints the package's version", async () => {
    const { version } = JSON.parse(await readFile("package.json", "utf8"));
    expect(await runCli(".", "--version")).toMatchObject({ code: 0, stdout: `${version}\n`, stderr: "" });
  });

  it.runIf(process.platform === "linux")("fails where its words cannot be written", async () => {
    const full = await open("/dev/full", "w");
    const { status, stderr } = spawnSync(process.execPath, [command, "--version"], {
      stdio: ["ignore", full.fd, "pipe"],
      encoding: "utf8",
    });
    await full.close();
    expect({ status, stderr }).toEqual({ status: 1, stderr: expect.stringContaining("no space left") });
  });

  it.each([[["--help"]], [["-h"]], [["help"]], [["help", "--help"]], [["help", "-h"]]])(
    "%j lists the commands",
    async (args) => {
      const { code, stdout, stderr } = await runMain(...args);
      expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
      for (const name of [...commandNames, "help"]) {
        expect(stdout).toMatch(new RegExp(`^ {2}${name} `, "m"));
      }
    },
  );

  it("explains a command on --help, wherever it stands", async () => {
    const asked = await runHere(".", "copy", "a.zarr", "--help");
    const help = await runHere(".", "help", "copy");
    expect(asked).toEqual(help);
    expect(help.stdout).toContain("zarrflow copy era5.zarr era5.zarr.zip");
  });

  it("takes --help after -- as an operand", async () => {
    expect(await runHere(".", "info", "--", "--help")).toMatchObject({ code: 3, stdout: "" });
  });
});
