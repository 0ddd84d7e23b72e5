import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { runCli } from "../support/cli.ts";
import { folderWithGroup } from "../support/v2-store.ts";

describe("--if-exists skip", () => {
  it("leaves a Zarr that is there, says so, and ends with 0", async () => {
    const cwd = await folderWithGroup();
    await runCli(cwd, "copy", "g.zarr", "c.zarr", "--quiet");
    const again = await runCli(cwd, "copy", "g.zarr/t", "c.zarr", "--if-exists", "skip");
    expect(again).toMatchObject({ code: 0, stdout: "" });
    expect(again.stderr).toMatch(/^\S+c\.zarr: is there already, and is left as it is\n$/);
    expect((await runCli(cwd, "diff", "g.zarr", "c.zarr")).code).toBe(0);
    const json = await runCli(cwd, "copy", "g.zarr", "c.zarr", "--if-exists", "skip", "--json");
    expect(JSON.parse(json.stdout)).toMatchObject({ skipped: true, keysWritten: 0 });
  });

  it("does not take anything else for what was to be there", async () => {
    const cwd = await folderWithGroup();
    await writeFile(join(cwd, "c.zarr"), "mine");
    expect(await runCli(cwd, "copy", "g.zarr", "c.zarr", "--if-exists", "skip")).toMatchObject({ code: 2 });
  });

  it("copies where nothing is", async () => {
    const cwd = await folderWithGroup();
    expect(await runCli(cwd, "copy", "g.zarr", "c.zarr", "--if-exists", "skip")).toMatchObject({ code: 0 });
    expect((await runCli(cwd, "diff", "g.zarr", "c.zarr")).code).toBe(0);
  });

  it("leaves an output file", async () => {
    const cwd = await folderWithGroup();
    await runCli(cwd, "slice", "g.zarr/t", "--output", "out", "--quiet");
    const args = ["g.zarr/t", "--slice", "0", "--output", "out", "--if-exists", "skip"];
    expect(await runCli(cwd, "slice", ...args)).toMatchObject({
      code: 0,
      stdout: "",
      stderr: "out: is there already, and is left as it is\n",
    });
    expect(await readFile(join(cwd, "out"))).toHaveLength(96);
    const { stdout } = await runCli(cwd, "slice", ...args, "--json");
    expect(JSON.parse(stdout)).toEqual({ output: "out", skipped: true });
  });
});
