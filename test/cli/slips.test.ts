// @module-tag slow
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { testFolder } from "../support/cli.ts";
import { runHere } from "../support/cli-here.ts";
import { writeV2Group } from "../support/v2-store.ts";

/** A group of two arrays and the coordinate of their first dimension. */
async function group(): Promise<string> {
  const cwd = await testFolder();
  const dimensions = ["time", "x"];
  await writeV2Group(join(cwd, "g.zarr"), {
    t: { shape: [6, 10], chunks: [2, 10], dimensions },
    u: { shape: [6, 10], chunks: [2, 5], dimensions },
    time: { shape: [6], chunks: [3], dimensions: ["time"] },
  });
  return cwd;
}

/** Runs a command that must do nothing: exit 2, nothing on standard output, no file made. */
async function refusalOf(...args: readonly string[]): Promise<string> {
  const cwd = await group();
  const { code, stdout, stderr } = await runHere(cwd, ...args);
  expect({ code, stdout, stderr }).toEqual({ code: 2, stdout: "", stderr: expect.any(String) });
  expect(await readdir(cwd)).toEqual(["g.zarr"]);
  return stderr;
}

describe("chunks and shards that select or change nothing", () => {
  it.each(["rechunk", "copy", "slice"])("%s: a coordinate in place of its dimension", async (command) => {
    const said = await refusalOf(command, "g.zarr", "h.zarr", "--chunks", "time:-1");
    expect(said).toContain("Write `time=-1` for the dimension, or `time:time=-1` for that array alone.");
  });

  it.each([
    ["g.zarr", "time:-1,x:4", "Did you mean `time=-1,x=4`?"],
    ["g.zarr", "x:4", "Did you mean `x=4`?"],
    ["g.zarr", "t:time:4", "Did you mean `t:time=4`?"],
    ["g.zarr/t", "time:-1", "Did you mean `time=-1`?"],
    ["g.zarr/t", "t:time=-1", "Give only the sizes"],
    ["g.zarr", "time=2", "Every selected array has them already."],
    ["g.zarr", "t:time=2", "Every selected array has them already."],
    ["g.zarr/t", "2,10", "Every selected array has them already."],
    ["g.zarr", "wind:time=2", "Its arrays are t, time, u."],
    ["g.zarr", "time=2,time=3", "`time` is given twice"],
    ["g.zarr", "time=2.0", "is not a whole number"],
    ["g.zarr", "time=1e1", "is not a whole number"],
    ["g.zarr", "time=0x2", "is not a whole number"],
  ])("%s --chunks %s", async (source, chunks, hint) => {
    expect(await refusalOf("rechunk", source, "h.zarr", "--chunks", chunks)).toContain(hint);
  });

  it("refuses shards that are no others than before", async () => {
    const said = await refusalOf("copy", "g.zarr", "h.zarr", "--shards", "none");
    expect(said).toContain("the shards do not change any array");
  });

  it("rechunks a coordinate alone where that is said", async () => {
    const cwd = await group();
    const { code } = await runHere(cwd, "rechunk", "g.zarr", "h.zarr", "--chunks", "time:time=-1", "--quiet");
    expect(code).toBe(0);
    expect((await runHere(cwd, "tree", "h.zarr")).stdout).toContain("(time 6) in chunks of (6)");
  });
});

describe("ranges of --slice", () => {
  it.each([
    ["t", "time:0:2", "Did you mean `time=0:2`?"],
    ["t", "time=45.0", "Give labels from 0 to 5."],
    ["t", "0x1", "Its labels are numbers."],
    ["t", "time=2020-01-01", "Its labels are numbers."],
    ["t", "time=1.0:2.0", "Write indices as 0:24, and labels as 45.5..50 or 2019-03-01:2019-03-08."],
    ["t", "time=1.25", "Take 1.0 or 2.0, or the nearest one with --nearest (in code nearest: true)."],
    ["t", "time=6", "Use 0 to 5, or -1 to -6 from the end."],
    ["t", "tiem=0", "Did you mean `time`?"],
  ])("g.zarr/%s --slice %s", async (array, slice, hint) => {
    expect(await refusalOf("slice", `g.zarr/${array}`, "--slice", slice, "--output", "f")).toContain(hint);
  });

  it("ends a range with the dimension, as NumPy does", async () => {
    const cwd = await group();
    const { bytes } = await runHere(cwd, "slice", "g.zarr/time", "--slice", "time=4:5000");
    expect(bytes).toEqual(Buffer.from(Float32Array.from([4, 5]).buffer));
  });
});

describe("names of files that say a format", () => {
  it.each([
    ["--output f.nc", "slices cannot be written as .nc files"],
    ["--output f.npy.gz", "slices cannot be written as .gz files"],
    ["--output f.npy --format json", "--format json contradicts the name `f.npy`"],
    ["--output f.csv --format raw", "--format raw contradicts the name `f.csv`"],
    ["--output f.zarr", "Give it as DST"],
    ["--output -", "Omit --output for standard output"],
    ["f.npy", "for a file, or f.npy/ for a Zarr store of that name."],
    ["sub/f.JSON", "sub/f.JSON/ for a Zarr store of that name."],
    ["f.nc", "Write f.nc/ for a Zarr store of that name."],
    ["0:1", "Write --slice 0:1 for a part, or ./0:1 for a Zarr store of that name."],
    ["time=0:1,x=3", "Write --slice time=0:1,x=3 for a part"],
    ["5", "Write --slice 5 for a part"],
    ["45.0:50.0", "Write --slice 45.0:50.0 for a part"],
    ["time=2020-01-01", "Write --slice time=2020-01-01 for a part"],
    ["time:0:1", "Write --slice time:0:1 for a part"],
  ])("zarrflow slice g.zarr/t %s", async (words, hint) => {
    expect(await refusalOf("slice", "g.zarr/t", ...words.split(" "))).toContain(hint);
  });

  it.each(["copy", "rechunk --chunks time=1", "convert --to v3"])(
    "zarrflow %s g.zarr f.npy",
    async (words) => {
      const [command = "", ...flags] = words.split(" ");
      expect(await refusalOf(command, "g.zarr", "f.npy", ...flags)).toContain("named like a .npy file");
    },
  );

  it("decide the format", async () => {
    const cwd = await group();
    for (const [name, start] of Object.entries({
      "f.npy": "\x93NUMPY",
      "f.JSON": "[0,1,",
      "f.bin": "\0\0\0\0",
    })) {
      await runHere(cwd, "slice", "g.zarr/time", "--output", name);
      expect((await readFile(join(cwd, name))).toString("latin1").slice(0, start.length)).toBe(start);
    }
  });

  it("are names of stores where that is said", async () => {
    const cwd = await group();
    for (const target of ["f.npy/", "./0:1", "year=2020.zarr", "2020-01-01"]) {
      expect(await runHere(cwd, "slice", "g.zarr/t", target, "--quiet")).toMatchObject({
        code: 0,
        stderr: "",
      });
      expect((await runHere(cwd, "info", `${target.replace(/\/$/, "")}`, "--json")).stdout).toContain(
        '"shape":[6,10]',
      );
    }
  });
});
