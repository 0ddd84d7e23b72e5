// @module-tag slow
import { mkdir, readdir, readFile, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { testFolder } from "../../support/cli.ts";
import { runHere } from "../../support/cli-here.ts";
import { writeV2Group } from "../../support/v2-store.ts";

const arrays = {
  t: { shape: [4, 6], chunks: [2, 3], dimensions: ["y", "x"] },
  x: { shape: [6], dimensions: ["x"] },
};

async function group(): Promise<string> {
  const cwd = await testFolder();
  await writeV2Group(join(cwd, "g.zarr"), arrays, { title: "é" });
  return cwd;
}

describe("zarrflow copy", () => {
  it("copies every key byte for byte, says so on standard error, and nothing on standard output", async () => {
    const cwd = await group();
    const { code, stdout, stderr } = await runHere(cwd, "copy", "g.zarr", "h.zarr", "--verify");
    expect({ code, stdout }).toEqual({ code: 0, stdout: "" });
    expect(stderr).toMatch(/h\.zarr: \d+ keys, .* keys read back and verified\nmemory: /);
    const names = (await readdir(join(cwd, "g.zarr"), { recursive: true })).sort();
    expect((await readdir(join(cwd, "h.zarr"), { recursive: true })).sort()).toEqual(names);
    for (const name of ["t/0.0", "t/.zarray", ".zattrs"]) {
      expect(await readFile(join(cwd, "h.zarr", name))).toEqual(await readFile(join(cwd, "g.zarr", name)));
    }
    expect((await readdir(cwd)).sort()).toEqual(["g.zarr", "h.zarr"]);
  });

  it("reports as JSON on standard output", async () => {
    const cwd = await group();
    const { code, stdout, stderr } = await runHere(cwd, "copy", "g.zarr/t", "t.zarr.zip", "--json");
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(JSON.parse(stdout)).toMatchObject({
      keysWritten: 6,
      chunksWritten: 4,
      peakMemory: expect.any(Number),
      peakBuffers: expect.any(Number),
    });
  });

  it("is silent with --quiet", async () => {
    const cwd = await group();
    expect(await runHere(cwd, "copy", "g.zarr", "h.zarr", "--quiet")).toMatchObject({
      code: 0,
      stdout: "",
      stderr: "",
    });
  });

  it("keeps a target that is there, unless it is to be replaced", async () => {
    const cwd = await group();
    await runHere(cwd, "copy", "g.zarr/x", "h.zarr");
    const refused = await runHere(cwd, "copy", "g.zarr", "h.zarr");
    expect(refused).toMatchObject({ code: 2, stdout: "" });
    expect(refused.stderr).toMatch(/^zarrflow: .*h\.zarr exists\n/);
    expect(await readdir(join(cwd, "h.zarr"))).toContain("0");
    expect(await runHere(cwd, "copy", "g.zarr", "h.zarr", "--if-exists", "replace")).toMatchObject({
      code: 0,
    });
    expect((await readdir(join(cwd, "h.zarr"))).sort()).toEqual([".zattrs", ".zgroup", "t", "x"]);
  });

  it("re-codes with --codec, coordinates aside, and keeps the values", async () => {
    const cwd = await group();
    expect(await runHere(cwd, "copy", "g.zarr", "h.zarr", "--codec", "gzip:9")).toMatchObject({ code: 0 });
    const [t, x] = await Promise.all(
      ["t", "x"].map(async (name) =>
        JSON.parse(await readFile(join(cwd, "h.zarr", name, ".zarray"), "utf8")),
      ),
    );
    expect(t).toMatchObject({ chunks: [2, 3], compressor: { id: "gzip", level: 9 } });
    expect(x).toMatchObject({ compressor: null });
    expect((await runHere(cwd, "digest", "h.zarr")).stdout).toBe(
      (await runHere(cwd, "digest", "g.zarr")).stdout,
    );
  });

  it("prints a plan and does nothing with --dry-run", async () => {
    const cwd = await group();
    const { code, stdout, stderr } = await runHere(cwd, "copy", "g.zarr", "h.zarr", "--dry-run");
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(stdout).toMatch(/^copy .*g\.zarr -> .*h\.zarr$/m);
    expect(stdout).toMatch(/^t {2}float32 \(4, 6\) {2}verbatim {2}at most 4 chunks of 24 B$/m);
    expect(stdout).toContain("all other keys are copied as they are");
    expect(stdout).toMatch(/^copied that way: 11 keys, \d+ B, documents included$/m);
    expect(await readdir(cwd)).toEqual(["g.zarr"]);
  });

  it("counts with --dry-run what the copy then writes", async () => {
    const cwd = await group();
    const args = ["copy", "g.zarr", "h.zarr", "--include", "t", "--alone", "--json"];
    const dry = JSON.parse((await runHere(cwd, ...args, "--dry-run")).stdout);
    expect(dry).toMatchObject({ publication: { filter: { include: ["t"] }, leftOut: ["x"] } });
    const report = JSON.parse((await runHere(cwd, ...args)).stdout);
    expect(dry.copied).toEqual({ keys: report.keysWritten, bytes: report.bytesWritten });
    expect((await readdir(join(cwd, "h.zarr"))).sort()).toEqual([".zattrs", ".zgroup", "t"]);
  });

  it("counts coordinates that come along too", async () => {
    const cwd = await group();
    const args = ["copy", "g.zarr", "h.zarr", "--include", "t"];
    const { stdout } = await runHere(cwd, ...args, "--dry-run");
    expect(stdout).toContain("x come along (--alone omits what belongs to arrays)");
    const dry = JSON.parse((await runHere(cwd, ...args, "--dry-run", "--json")).stdout);
    expect(dry).toMatchObject({ publication: { filter: { include: ["t"], companions: ["x"] } } });
    const report = JSON.parse((await runHere(cwd, ...args, "--json")).stdout);
    expect(dry.copied).toEqual({ keys: report.keysWritten, bytes: report.bytesWritten });
    expect((await readdir(join(cwd, "h.zarr"))).sort()).toEqual([".zattrs", ".zgroup", "t", "x"]);
  });

  it("takes what is included and not excluded", async () => {
    const cwd = await group();
    await writeFile(join(cwd, "g.zarr/notes.txt"), "hello");
    const globs = ["--include", "t", "--include", "x", "--exclude", "*.txt"];
    expect(await runHere(cwd, "copy", "g.zarr", "h.zarr", ...globs)).toMatchObject({ code: 0 });
    expect((await readdir(join(cwd, "h.zarr"))).sort()).toEqual([".zattrs", ".zgroup", "t", "x"]);
    const refused = await runHere(cwd, "copy", "g.zarr", "i.zarr", "--include", "{t");
    expect(refused).toMatchObject({ code: 2, stdout: "" });
    expect(refused.stderr).toMatch(/is not closed/);
  });

  it("updates what differs, says what it did, and nothing where nothing differs", async () => {
    const cwd = await group();
    await runHere(cwd, "copy", "g.zarr", "h.zarr");
    await writeFile(join(cwd, "g.zarr/t/0.0"), new Uint8Array(24));
    await writeFile(join(cwd, "h.zarr/t/7.7"), "stale");
    const dry = await runHere(cwd, "copy", "g.zarr", "h.zarr", "--update", "--dry-run");
    expect(dry.stdout).toMatch(/copied that way: 2 keys, \d+ B, .*\nup to date: 9 keys; deleted: 1 key$/m);
    expect(dry.stdout).toMatch(/keys that the source lacks are deleted$/m);
    const first = await runHere(cwd, "copy", "g.zarr", "h.zarr", "--update", "--verify");
    expect(first).toMatchObject({ code: 0, stdout: "" });
    expect(first.stderr).toMatch(
      /h\.zarr: 2 keys, .*, 9 keys up to date, 1 key deleted, 2 keys read back and verified/,
    );
    expect((await runHere(cwd, "diff", "g.zarr", "h.zarr")).code).toBe(0);
    expect(await readdir(join(cwd, "h.zarr/t"))).not.toContain("7.7");
    const again = await runHere(cwd, "copy", "g.zarr", "h.zarr", "--update", "--json");
    expect(JSON.parse(again.stdout)).toMatchObject({
      keysWritten: 0,
      keysKept: 11,
      keysDeleted: 0,
      bytesWritten: 0,
    });
  });

  it("refuses --update with what contradicts it", async () => {
    const cwd = await group();
    for (const flags of [
      ["--if-exists", "replace"],
      ["--codec", "zlib:1"],
    ]) {
      expect(await runHere(cwd, "copy", "g.zarr", "h.zarr", "--update", ...flags)).toMatchObject({ code: 2 });
    }
    await runHere(cwd, "copy", "g.zarr", "h.zarr.zip");
    const zip = await runHere(cwd, "copy", "g.zarr", "h.zarr.zip", "--update");
    expect(zip.code).toBe(4);
    expect(zip.stderr).toMatch(/Replace it, or choose another target/);
  });

  it("adds with --if-exists skip what is not there", async () => {
    const cwd = await group();
    await runHere(cwd, "copy", "g.zarr", "h.zarr", "--exclude", "x");
    await writeFile(join(cwd, "h.zarr/t/0.0"), new Uint8Array(24));
    expect(await runHere(cwd, "copy", "g.zarr", "h.zarr", "--if-exists", "skip")).toMatchObject({ code: 0 });
    expect(await readdir(join(cwd, "h.zarr"))).toContain("x");
    expect(await readFile(join(cwd, "h.zarr/t/0.0"))).toEqual(Buffer.alloc(24));
  });

  it("copies a folder that is no Zarr, and says that it is none", async () => {
    const cwd = await group();
    await mkdir(join(cwd, "all"));
    await rename(join(cwd, "g.zarr"), join(cwd, "all/g.zarr"));
    const { code, stderr } = await runHere(cwd, "copy", "all", "copy.zip");
    expect(code).toBe(0);
    expect(stderr).toMatch(/not a Zarr hierarchy/);
    expect((await runHere(cwd, "diff", "all/g.zarr", "copy.zip/g.zarr")).code).toBe(0);
  });

  it("neither writes to memory nor reads from there, since both would be of the command alone", async () => {
    const cwd = await group();
    for (const line of [
      "copy g.zarr memory:foo",
      "rechunk g.zarr memory:foo --chunks 1",
      "slice g.zarr memory:foo --slice y=0",
      "pyramid g.zarr memory://foo",
      "plan copy g.zarr memory:foo --output p.json",
    ]) {
      const { code, stderr } = await runHere(cwd, ...line.split(" "));
      expect({ line, code, stderr }).toEqual({
        line,
        code: 2,
        stderr: expect.stringMatching(/`memory:[^`]*` would end with the command/),
      });
    }
    for (const line of ["copy memory:foo h.zarr", "append g.zarr memory:foo --dim y", "info memory:foo"]) {
      const { code, stderr } = await runHere(cwd, ...line.split(" "));
      expect({ line, code, stderr }).toEqual({
        line,
        code: 3,
        stderr: expect.stringMatching(/memory:foo is not in this process[\s\S]*ends with the process/),
      });
    }
  });

  it("takes the usual settings of a codec in JSON, and refuses those that it does not have", async () => {
    const cwd = await group();
    const asked = (codec: string, target: string) =>
      runHere(cwd, "copy", "g.zarr/t", target, "--codec", codec);
    expect(await asked('{"name":"gzip"}', "gzip.zarr")).toMatchObject({ code: 0 });
    expect(JSON.parse(await readFile(join(cwd, "gzip.zarr/.zarray"), "utf8")).compressor).toEqual({
      id: "gzip",
      level: 5,
    });
    const { code, stderr } = await asked('{"name":"zstd","configuration":{"levle":19}}', "zstd.zarr");
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining("Did you mean `level`?") });
  });
});
