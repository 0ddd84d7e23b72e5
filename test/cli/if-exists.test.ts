// @module-tag slow
import { realpathSync } from "node:fs";
import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { runHere } from "../support/cli-here.ts";
import { folderWithGroup } from "../support/v2-store.ts";

describe("--if-exists skip", () => {
  it("leaves a Zarr that is there, says so, and ends with 0", async () => {
    const cwd = await folderWithGroup();
    await runHere(cwd, "copy", "g.zarr", "c.zarr", "--quiet");
    const again = await runHere(cwd, "copy", "g.zarr/t", "c.zarr", "--if-exists", "skip");
    expect(again).toMatchObject({ code: 0, stdout: "" });
    expect(again.stderr).toBe(`${join(realpathSync(cwd), "c.zarr")}: exists and is kept\n`);
    expect((await runHere(cwd, "diff", "g.zarr", "c.zarr")).code).toBe(0);
    const json = await runHere(cwd, "copy", "g.zarr", "c.zarr", "--if-exists", "skip", "--json");
    expect(JSON.parse(json.stdout)).toMatchObject({ skipped: true, keysWritten: 0 });
  });

  it("does not take anything else for what was to be there", async () => {
    const cwd = await folderWithGroup();
    await writeFile(join(cwd, "c.zarr"), "mine");
    expect(await runHere(cwd, "copy", "g.zarr", "c.zarr", "--if-exists", "skip")).toMatchObject({ code: 2 });
  });

  it("into another format names the format of the target", async () => {
    const cwd = await folderWithGroup();
    await runHere(cwd, "convert", "g.zarr", "c.zarr", "--to", "v3", "--quiet");
    const { code, stderr } = await runHere(
      cwd,
      "convert",
      "g.zarr",
      "c.zarr",
      "--to",
      "v2",
      "--if-exists",
      "skip",
    );
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining("--to v3") });
    expect(stderr).not.toContain("--if-exists skip");
  });

  it("copies where nothing is", async () => {
    const cwd = await folderWithGroup();
    expect(await runHere(cwd, "copy", "g.zarr", "c.zarr", "--if-exists", "skip")).toMatchObject({ code: 0 });
    expect((await runHere(cwd, "diff", "g.zarr", "c.zarr")).code).toBe(0);
  });

  it("leaves an output file", async () => {
    const cwd = await folderWithGroup();
    await runHere(cwd, "slice", "g.zarr/t", "--output", "out", "--quiet");
    const args = ["g.zarr/t", "--slice", "0", "--output", "out", "--if-exists", "skip"];
    expect(await runHere(cwd, "slice", ...args)).toMatchObject({
      code: 0,
      stdout: "",
      stderr: "out: exists and is kept\n",
    });
    expect(await readFile(join(cwd, "out"))).toHaveLength(96);
    const { stdout } = await runHere(cwd, "slice", ...args, "--json");
    expect(JSON.parse(stdout)).toEqual({ output: "out", skipped: true });
  });
});

describe("--dry-run of a target that is there", () => {
  it.each([["copy"], ["rechunk", "--chunks", "-1,-1"], ["convert", "--to", "v3"], ["slice", "--slice", "0"]])(
    "is refused as %s itself would be",
    async (name, ...flags) => {
      const cwd = await folderWithGroup();
      await runHere(cwd, "copy", "g.zarr", "c.zarr", "--quiet");
      const args = [name, "g.zarr/t", "c.zarr", ...flags];
      const dry = await runHere(cwd, ...args, "--dry-run");
      expect(dry).toMatchObject({ code: 2, stdout: "" });
      expect(dry.stderr).toMatch(/c\.zarr exists/);
      expect(dry).toEqual(await runHere(cwd, ...args));
      const replacing = await runHere(cwd, ...args, "--if-exists", "replace", "--dry-run");
      expect(replacing).toMatchObject({ code: 0, stderr: "" });
      expect((await readdir(cwd)).sort()).toEqual(["c.zarr", "g.zarr"]);
      expect((await runHere(cwd, "diff", "g.zarr", "c.zarr")).code).toBe(0);
    },
  );

  it("is refused where what is there is no Zarr, whatever is asked for", async () => {
    const cwd = await folderWithGroup();
    await writeFile(join(cwd, "c.zarr"), "mine");
    for (const ifExists of ["error", "skip", "replace"]) {
      const args = ["copy", "g.zarr", "c.zarr", "--if-exists", ifExists, "--json"];
      const dry = await runHere(cwd, ...args, "--dry-run");
      expect(dry).toMatchObject({ code: 2, stdout: "" });
      expect(dry).toEqual(await runHere(cwd, ...args));
    }
  });
});
