// @module-tag slow
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { describe, expect, it } from "vitest";
import { makeGroup } from "../../support/made-group.ts";
import { ramp } from "../../support/v2-store.ts";
import { shell } from "../shell.ts";

/** An array whose items are their own index. */
const array = () =>
  shell({ "a.zarr": { shape: [4, 5, 6], chunks: [2, 2, 4], dimensions: ["time", "y", "x"] } });
const index = (t: number, y: number, x: number) => 30 * t + 6 * y + x;

describe("zarrflow slice", () => {
  it("writes raw bytes in C order, or JSON, to standard output, and nothing else", async () => {
    const { run, output } = await array();
    const whole = await run("slice a.zarr");
    expect(whole).toMatchObject({ code: 0, stderr: "", bytes: Buffer.from(ramp(120).buffer) });
    const part = await run("slice a.zarr --slice time=3,x=1:6:3");
    const expected = [0, 1, 2, 3, 4].flatMap((y) => [index(3, y, 1), index(3, y, 4)]);
    expect(part.bytes).toEqual(Buffer.from(Float32Array.from(expected).buffer));
    expect(await output("slice a.zarr --slice 0,0 --format json")).toBe("[0,1,2,3,4,5]\n");
    expect(await output("slice a.zarr --slice 3:5000,0,0 --format json")).toBe("[90]\n");
  });

  it("writes an npy file whole beside its name, without the dimension of an index", async () => {
    const { run, names, at } = await array();
    const { code, stdout, stderr } = await run("slice a.zarr --slice 1,:,-1 --format npy --output out.npy");
    expect({ code, stdout }).toEqual({ code: 0, stdout: "" });
    expect(stderr).toMatch(/^out\.npy: npy of \(5\), 148 B in /);
    const bytes = await readFile(at("out.npy"));
    const header = "{'descr': '<f4', 'fortran_order': False, 'shape': (5,), }";
    expect(bytes.subarray(10, 128).toString().trim()).toBe(header);
    const values = new Float32Array(Uint8Array.from(bytes.subarray(128)).buffer);
    expect([...values]).toEqual([0, 1, 2, 3, 4].map((y) => index(1, y, 5)));
    expect(await names()).toEqual(["a.zarr", "out.npy"]);
  });

  it("takes the format from the name of a file, and a name for that of a store where that is said", async () => {
    const { output, json, at } = await array();
    for (const [name, start] of [
      ["f.npy", "\x93NUMPY"],
      ["f.JSON", "[[[0,1,"],
      ["f.bin", "\0\0\0\0"],
    ] as const) {
      await output(`slice a.zarr --output ${name}`);
      expect((await readFile(at(name))).toString("latin1").slice(0, start.length)).toBe(start);
    }
    for (const target of ["g.npy/", "./0:1", "year=2020.zarr", "2020-01-01"]) {
      await output(`slice a.zarr ${target} --alone`);
      expect(await json(`info ${target.replace(/\/$/, "")}`)).toMatchObject([{ shape: [4, 5, 6] }]);
    }
  });

  it("says of every array what was written, and what was taken of each dimension", async () => {
    const { run, json, text, at } = await shell();
    const members = { t: { shape: [3, 2], dims: ["x", "y"] }, h: { shape: [3], dims: ["x"] } };
    await makeGroup(at("g.zarr"), members, { zarrFormat: "v3" });
    const line = "slice g.zarr --include [th] --slice x=1:3,y=0 --output";
    const said = /^out\.csv: csv of h \(2\), t \(2\), .*\nx {2}indices 1:3 \(2\)\ny {2}index 0 \(1\)\n$/;
    expect(await run(`${line} out.csv`)).toMatchObject({ code: 0, stderr: expect.stringMatching(said) });
    const arrays = ["h", "t"].map((name) => ({ name, shape: [2] }));
    const x = { dimension: "x", indices: [1, 3], count: 2 };
    const taken = [x, { dimension: "y", indices: 0, count: 1 }];
    expect(await json(`${line} out.npz`)).toMatchObject({ arrays, taken });
    const target = await run("slice g.zarr part.zarr --slice x=1:3 --report r.html");
    expect(target.stderr).toMatch(/\nx {2}indices 1:3 \(2\)\n$/);
    expect(await text("r.html")).toContain("<b>x</b> indices 1:3 (2)");
  });

  it("names flags beside arrays that have none, and rejects --flags where no array has any", async () => {
    const { run, output, refusal, at } = await shell();
    const flags = { flag_masks: [1, 2, 4], flag_meanings: "odd two four" };
    const plain = { shape: [3], dims: ["x"] };
    const members = { q: { ...plain, attributes: { ...flags, coordinates: "h" } }, h: plain, k: plain };
    await makeGroup(at("g.zarr"), members, { zarrFormat: "v3" });
    expect(await output("slice g.zarr/q --flags --format csv")).toMatch(/^x,h,q\n0,\d+,\D*\n/);
    const both = await run("slice g.zarr --include [qk] --flags --format csv");
    expect(both).toMatchObject({ code: 0, stderr: "" });
    expect(await refusal(2, "slice g.zarr/k --flags --format csv")).toContain("no named flags");
  });

  it("gives text as JSON only", async () => {
    const { output, refusal, names } = await shell({
      "s.zarr": { shape: [2], dtype: "|O", items: ["é", '"'] },
    });
    expect(await output("slice s.zarr --format json")).toBe('["é","\\""]\n');
    for (const format of ["raw", "npy"]) {
      const said = await refusal(4, `slice s.zarr --format ${format} --output f`);
      expect(said).toMatch(/^zarrflow: .*strings (and|or) objects/);
    }
    expect(await names()).toEqual(["s.zarr"]);
  });

  it("keeps a file that is there, unless it is to be replaced, and reports the new one as JSON", async () => {
    const { json, refusal, text, at } = await array();
    await writeFile(at("out"), "mine");
    expect(await refusal(2, "slice a.zarr --output out")).toContain("`out` exists");
    expect(await text("out")).toBe("mine");
    const report = await json("slice a.zarr --output out --if-exists replace");
    expect(report).toMatchObject({ output: "out", format: "raw", shape: [4, 5, 6], bytes: 480 });
    expect(await text("out")).toHaveLength(480);
  });

  it("replaces no folder, makes none, and leaves no file when a chunk is broken", async () => {
    const { run, refusal, names, at } = await array();
    await mkdir(at("folder"));
    const folder = await refusal(2, "slice a.zarr --output folder --if-exists replace");
    expect(folder).toContain("is not a regular file");
    expect(await refusal(3, "slice a.zarr --output no/out")).toContain("the folder `no` does not exist");
    await writeFile(at("a.zarr/1.2.1"), "short");
    expect(await run("slice a.zarr --output out")).toMatchObject({ code: 1 });
    expect(await names()).toEqual(["a.zarr", "folder"]);
  });

  it("reports the plan with --dry-run", async () => {
    const { run, json } = await array();
    const line = "slice a.zarr --slice time=0:3,x=0:2 --dry-run";
    const words = await run(line);
    expect(words).toMatchObject({ code: 0, stderr: "" });
    expect(words.stdout).toMatchInlineSnapshot(`
      "a.zarr  float32 (3, 5, 2)
        time           indices 0:3 (3)
        x              indices 0:2 (2)
        slabs          1 slab of (3, 5, 2), in C order
        reads          6 chunks; 6 chunks hold items of it
        amplification  each chunk is read 1.00 times
        memory         82 kB predicted, 256 MB allowed
      "
    `);
    const counts = { chunksTouched: 6, chunksRead: 6, readAmplification: 1 };
    expect(await json(line)).toMatchObject({ shape: [3, 5, 2], ...counts });
  });
});

describe("zarrflow slice with a DST", () => {
  /** A group with an array, its coordinates, another array, and a group in which the dimension is longer. */
  async function group() {
    const made = await shell();
    const members = {
      t: { shape: [4, 3], dims: ["time", "lat"] },
      u: { shape: [4], dims: ["time"] },
      time: { shape: [4], dims: ["time"] },
      lat: { shape: [3], dims: ["lat"] },
      "fine/time": { shape: [9], dims: ["time"] },
    };
    await makeGroup(made.at("g.zarr"), members, { zarrFormat: "v3" });
    const membersOf = async (name: string) => (await made.names(name)).filter((one) => !one.includes("."));
    return { ...made, membersOf };
  }

  it("makes a group of an array and its coordinates, and an array with --alone", async () => {
    const { output, refusal, membersOf } = await group();
    const line = "slice g.zarr/t --slice time=0:2";
    const dry = await output(`${line} d.zarr --dry-run`);
    expect(dry).toContain("lat, time included as companions (--alone omits them)");
    await output(`${line} d.zarr`);
    expect(await membersOf("d.zarr")).toEqual(["lat", "t", "time"]);
    await output(`${line} a.zarr --alone`);
    expect(await membersOf("a.zarr")).toEqual(["c"]);
    expect(await refusal(2, `${line} e.zarr --include u`)).toContain("only to a slice of a group");
  });

  it("takes the arrays of a group that are included, and not excluded", async () => {
    const { output, membersOf } = await group();
    await output("slice g.zarr d.zarr --slice time=0:2 --include t --exclude lat --strict");
    expect(await membersOf("d.zarr")).toEqual(["t", "time"]);
  });

  it("says what it takes whole, and rejects that with --strict", async () => {
    const { run, refusal, names, membersOf } = await group();
    const line = "slice g.zarr d.zarr --slice time=0:2";
    const strict = await refusal(2, `${line} --strict`);
    expect(strict).toContain("dimension time has 4 items in t, and 9 in fine/time");
    expect(await names()).toEqual(["g.zarr"]);
    const warned = /^warning: this is copied whole, not sliced: dimension time .* \(fine\)\. /m;
    expect(await run(line)).toMatchObject({ code: 0, stderr: expect.stringMatching(warned) });
    expect(await membersOf("d.zarr")).toEqual(["fine", "lat", "t", "time", "u"]);
  });
});

describe("labels on the command line", () => {
  /** Two days of hours at five latitudes. */
  const labeled = () => {
    const t = { shape: [48, 5], chunks: [24, 5], dimensions: ["time", "lat"] };
    const hours = { dtype: "<i4", items: Int32Array.from({ length: 48 }, (_, i) => i), dimensions: ["time"] };
    const time = { shape: [48], ...hours, attributes: { units: "hours since 2024-02-29" } };
    const lat = { shape: [5], items: Float32Array.of(50, 40, 30, 20, 10), dimensions: ["lat"] };
    return shell({ "g.zarr": { t, time, lat } });
  };

  it("give the bytes of the indices that they mean, or a smaller Zarr", async () => {
    const { run, output, document } = await labeled();
    const byIndex = await run("slice g.zarr/t --slice time=24:27,lat=1");
    expect(byIndex).toMatchObject({ code: 0, stderr: "" });
    expect(await run("slice g.zarr/t --slice time=2024-03-01:2024-03-01T02,lat=40.0")).toEqual(byIndex);
    await output("slice g.zarr part.zarr --slice time=2024-02-29,lat=20..40 --quiet");
    expect(await output("slice part.zarr/lat --format json")).toBe("[40,30,20]\n");
    expect(await document("part.zarr/t/.zarray")).toMatchObject({ shape: [24, 3] });
  });

  it("are printed as indices by a dry run", async () => {
    const { output, json, names } = await labeled();
    const words = "--slice time=2024-03-01,lat=22.0 --nearest --dry-run";
    const rows = (text: string) => text.split("\n").map((row) => row.trim().replace(/ {2,}/g, " "));
    const taken = ["time 2024-03-01T00 .. 2024-03-01T23 (24), indices 24:48", "lat 20 (1), index 3"];
    for (const places of ["g.zarr/t", "g.zarr part.zarr"])
      expect(rows(await output(`slice ${places} ${words}`))).toEqual(expect.arrayContaining(taken));
    expect(await json(`slice g.zarr part.zarr ${words}`)).toMatchObject({
      taken: [
        { dimension: "time", labels: "2024-03-01", indices: [24, 48], count: 24 },
        { indices: 3, first: "20", last: "20" },
      ],
    });
    expect(await names()).toEqual(["g.zarr"]);
  });
});
