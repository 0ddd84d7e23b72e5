// @module-tag slow
import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { testFolder } from "../../support/cli.ts";
import { runHere } from "../../support/cli-here.ts";
import { makeGroup } from "../../support/made-group.ts";
import { ramp, writeV2Array } from "../../support/v2-store.ts";

async function array(): Promise<string> {
  const cwd = await testFolder();
  const dimensions = ["time", "y", "x"];
  const shape = [4, 5, 6];
  await writeV2Array(join(cwd, "a.zarr"), {
    shape,
    chunks: [2, 2, 4],
    dtype: "<f4",
    items: ramp(120),
    dimensions,
  });
  return cwd;
}

/** Of an array whose items are their own index. */
const index = (t: number, y: number, x: number) => 30 * t + 6 * y + x;

describe("zarrflow slice", () => {
  it("writes raw bytes in C order to standard output, and nothing else", async () => {
    const cwd = await array();
    const whole = await runHere(cwd, "slice", "a.zarr");
    expect(whole).toMatchObject({ code: 0, stderr: "" });
    expect(whole.bytes).toEqual(Buffer.from(ramp(120).buffer));
    const part = await runHere(cwd, "slice", "a.zarr", "--slice", "time=3,x=1:6:3");
    const expected = [0, 1, 2, 3, 4].flatMap((y) => [index(3, y, 1), index(3, y, 4)]);
    expect(part.bytes).toEqual(Buffer.from(Float32Array.from(expected).buffer));
  });

  it("writes an npy file whole beside its name, without the dimension of an index", async () => {
    const cwd = await array();
    const args = ["a.zarr", "--slice", "1,:,-1", "--format", "npy", "--output", "out.npy"];
    const { code, stdout, stderr } = await runHere(cwd, "slice", ...args);
    expect({ code, stdout }).toEqual({ code: 0, stdout: "" });
    expect(stderr).toMatch(/^out\.npy: npy of \(5\), 148 B in /);
    const bytes = await readFile(join(cwd, "out.npy"));
    expect(bytes.subarray(10, 128).toString().trim()).toBe(
      "{'descr': '<f4', 'fortran_order': False, 'shape': (5,), }",
    );
    const values = new Float32Array(Uint8Array.from(bytes.subarray(128)).buffer);
    expect([...values]).toEqual([0, 1, 2, 3, 4].map((y) => index(1, y, 5)));
    expect((await readdir(cwd)).sort()).toEqual(["a.zarr", "out.npy"]);
  });

  it("says of every array what was written, and what was taken of each dimension", async () => {
    const cwd = await testFolder();
    const members = { t: { shape: [3, 2], dims: ["x", "y"] }, h: { shape: [3], dims: ["x"] } };
    await makeGroup(join(cwd, "g.zarr"), members, { zarrFormat: "v3" });
    const args = ["g.zarr", "--include", "[th]", "--slice", "x=1:3,y=0"];
    const { code, stderr } = await runHere(cwd, "slice", ...args, "--output", "out.csv");
    expect({ code, stderr }).toEqual({
      code: 0,
      stderr: expect.stringMatching(
        /^out\.csv: csv of h \(2\), t \(2\), .*\nx {2}indices 1:3 \(2\)\ny {2}index 0 \(1\)\n$/,
      ),
    });
    const json = await runHere(cwd, "slice", ...args, "--output", "out.npz", "--json");
    expect(JSON.parse(json.stdout)).toMatchObject({
      arrays: [
        { name: "h", shape: [2] },
        { name: "t", shape: [2] },
      ],
      taken: [
        { dimension: "x", indices: [1, 3], count: 2 },
        { dimension: "y", indices: 0, count: 1 },
      ],
    });
    const target = await runHere(
      cwd,
      "slice",
      "g.zarr",
      "part.zarr",
      "--slice",
      "x=1:3",
      "--report",
      "r.html",
    );
    expect(target.stderr).toMatch(/\nx {2}indices 1:3 \(2\)\n$/);
    expect(await readFile(join(cwd, "r.html"), "utf8")).toContain("<b>x</b> indices 1:3 (2)");
  });

  it("names flags beside arrays that have none, and rejects --flags where no array has any", async () => {
    const cwd = await testFolder();
    const flags = { flag_masks: [1, 2, 4], flag_meanings: "odd two four" };
    const members = {
      q: { shape: [3], dims: ["x"], attributes: { ...flags, coordinates: "h" } },
      h: { shape: [3], dims: ["x"] },
      k: { shape: [3], dims: ["x"] },
    };
    await makeGroup(join(cwd, "g.zarr"), members, { zarrFormat: "v3" });
    const alone = await runHere(cwd, "slice", "g.zarr/q", "--flags", "--format", "csv");
    expect(alone).toMatchObject({ code: 0, stdout: expect.stringMatching(/^x,h,q\n0,\d+,\D*\n/) });
    const both = await runHere(cwd, "slice", "g.zarr", "--include", "[qk]", "--flags", "--format", "csv");
    expect(both).toMatchObject({ code: 0, stderr: "" });
    const none = await runHere(cwd, "slice", "g.zarr/k", "--flags", "--format", "csv");
    expect(none).toMatchObject({ code: 2, stderr: expect.stringContaining("no flags to name") });
  });

  it("writes JSON that parses", async () => {
    const cwd = await array();
    const { code, stdout } = await runHere(cwd, "slice", "a.zarr", "--slice", "0,0", "--format", "json");
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toEqual([0, 1, 2, 3, 4, 5]);
  });

  it("gives text as JSON only", async () => {
    const cwd = await testFolder();
    await writeV2Array(join(cwd, "s.zarr"), { shape: [2], chunks: [2], dtype: "|O", items: ["é", '"'] });
    expect((await runHere(cwd, "slice", "s.zarr", "--format", "json")).stdout).toBe('["é","\\""]\n');
    for (const format of ["raw", "npy"]) {
      const refused = await runHere(cwd, "slice", "s.zarr", "--format", format, "--output", "f");
      expect(refused).toMatchObject({ code: 4, stdout: "" });
      expect(refused.stderr).toMatch(/^zarrflow: .*strings and objects/);
    }
    expect(await readdir(cwd)).toEqual(["s.zarr"]);
  });

  it("reports a file as JSON", async () => {
    const cwd = await array();
    const { stdout, stderr } = await runHere(cwd, "slice", "a.zarr", "--output", "a.raw", "--json");
    expect(stderr).toBe("");
    expect(JSON.parse(stdout)).toMatchObject({
      output: "a.raw",
      format: "raw",
      shape: [4, 5, 6],
      bytes: 480,
    });
  });

  it("keeps a file that is there, unless it is to be replaced", async () => {
    const cwd = await array();
    await writeFile(join(cwd, "out"), "mine");
    const refused = await runHere(cwd, "slice", "a.zarr", "--output", "out");
    expect(refused).toMatchObject({ code: 2, stdout: "", stderr: expect.stringContaining("`out` exists") });
    expect(await readFile(join(cwd, "out"), "utf8")).toBe("mine");
    await runHere(cwd, "slice", "a.zarr", "--output", "out", "--if-exists", "replace");
    expect(await readFile(join(cwd, "out"))).toHaveLength(480);
  });

  it("replaces no folder, and makes none", async () => {
    const cwd = await array();
    await mkdir(join(cwd, "folder"));
    const folder = await runHere(cwd, "slice", "a.zarr", "--output", "folder", "--if-exists", "replace");
    expect(folder).toMatchObject({ code: 2, stderr: expect.stringContaining("is not a regular file") });
    const nowhere = await runHere(cwd, "slice", "a.zarr", "--output", "no/out");
    expect(nowhere).toMatchObject({
      code: 3,
      stderr: expect.stringContaining("the folder `no` does not exist"),
    });
  });

  it("leaves no file when a chunk is broken", async () => {
    const cwd = await array();
    await writeFile(join(cwd, "a.zarr/1.2.1"), "short");
    const { code } = await runHere(cwd, "slice", "a.zarr", "--output", "out");
    expect(code).toBe(1);
    expect(await readdir(cwd)).toEqual(["a.zarr"]);
  });

  it("reports the plan with --dry-run", async () => {
    const cwd = await array();
    const args = ["a.zarr", "--slice", "time=0:3,x=0:2", "--dry-run"];
    const words = await runHere(cwd, "slice", ...args);
    expect(words).toMatchObject({ code: 0, stderr: "" });
    expect(words.stdout).toMatchSnapshot();
    const plan = JSON.parse((await runHere(cwd, "slice", ...args, "--json")).stdout);
    expect(plan).toMatchObject({ shape: [3, 5, 2], chunksTouched: 6, chunksRead: 6, readAmplification: 1 });
  });
});

describe("zarrflow slice with a DST", () => {
  /** A group with an array, its coordinates, another array, and a group in which the dimension is longer. */
  async function group(): Promise<string> {
    const cwd = await testFolder();
    const members = {
      t: { shape: [4, 3], dims: ["time", "lat"] },
      u: { shape: [4], dims: ["time"] },
      time: { shape: [4], dims: ["time"] },
      lat: { shape: [3], dims: ["lat"] },
      "fine/time": { shape: [9], dims: ["time"] },
    };
    await makeGroup(join(cwd, "g.zarr"), members, { zarrFormat: "v3" });
    return cwd;
  }

  const membersOf = async (cwd: string, name: string) =>
    (await readdir(join(cwd, name))).filter((member) => !member.includes(".")).sort();

  it("makes a group of an array and its coordinates, and an array with --alone", async () => {
    const cwd = await group();
    const args = ["g.zarr/t", "--slice", "time=0:2"];
    const dry = await runHere(cwd, "slice", "g.zarr/t", "d.zarr", "--slice", "time=0:2", "--dry-run");
    expect(dry.stdout).toContain("lat, time come along (--alone omits what belongs to arrays)");
    expect(await runHere(cwd, "slice", ...args, "d.zarr")).toMatchObject({ code: 0 });
    expect(await membersOf(cwd, "d.zarr")).toEqual(["lat", "t", "time"]);
    expect(await runHere(cwd, "slice", ...args, "a.zarr", "--alone")).toMatchObject({ code: 0 });
    expect(await membersOf(cwd, "a.zarr")).toEqual(["c"]);
    const other = await runHere(cwd, "slice", ...args, "e.zarr", "--include", "u");
    expect(other).toMatchObject({ code: 2, stderr: expect.stringContaining("only to a slice of a group") });
  });

  it("takes the arrays of a group that are included, and not excluded", async () => {
    const cwd = await group();
    const args = [
      "g.zarr",
      "d.zarr",
      "--slice",
      "time=0:2",
      "--include",
      "t",
      "--exclude",
      "lat",
      "--strict",
    ];
    expect(await runHere(cwd, "slice", ...args)).toMatchObject({ code: 0 });
    expect(await membersOf(cwd, "d.zarr")).toEqual(["t", "time"]);
  });

  it("says what it takes whole, and rejects that with --strict", async () => {
    const cwd = await group();
    const args = ["g.zarr", "d.zarr", "--slice", "time=0:2"];
    const strict = await runHere(cwd, "slice", ...args, "--strict");
    expect(strict.code).toBe(2);
    expect(strict.stderr).toContain("dimension time has 4 items in t, and 9 in fine/time");
    expect(await readdir(cwd)).toEqual(["g.zarr"]);
    const { code, stderr } = await runHere(cwd, "slice", ...args);
    expect(code).toBe(0);
    expect(stderr).toMatch(/^warning: this is not sliced, but taken whole: dimension time .* \(fine\)\. /m);
    expect(await membersOf(cwd, "d.zarr")).toEqual(["fine", "lat", "t", "time", "u"]);
  });
});
