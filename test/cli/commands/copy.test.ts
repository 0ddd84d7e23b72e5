import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { runCli, testFolder } from "../../support/cli.ts";
import { ramp, writeV2Group } from "../../support/v2-store.ts";

const arrays = {
  t: { shape: [4, 6], chunks: [2, 3], dtype: "<f4", items: ramp(24), dimensions: ["y", "x"] },
  x: { shape: [6], chunks: [6], dtype: "<f4", items: ramp(6), dimensions: ["x"] },
};

async function group(): Promise<string> {
  const cwd = await testFolder();
  await writeV2Group(join(cwd, "g.zarr"), arrays, { title: "é" });
  return cwd;
}

describe("zarrflow copy", () => {
  it("copies every key byte for byte, says so on standard error, and nothing on standard output", async () => {
    const cwd = await group();
    const { code, stdout, stderr } = await runCli(cwd, "copy", "g.zarr", "h.zarr", "--verify");
    expect({ code, stdout }).toEqual({ code: 0, stdout: "" });
    expect(stderr).toMatch(/h\.zarr: \d+ keys, .* keys read back and right\nmemory: /);
    const names = (await readdir(join(cwd, "g.zarr"), { recursive: true })).sort();
    expect((await readdir(join(cwd, "h.zarr"), { recursive: true })).sort()).toEqual(names);
    for (const name of ["t/0.0", "t/.zarray", ".zattrs"]) {
      expect(await readFile(join(cwd, "h.zarr", name))).toEqual(await readFile(join(cwd, "g.zarr", name)));
    }
    expect((await readdir(cwd)).sort()).toEqual(["g.zarr", "h.zarr"]);
  });

  it("reports as JSON on standard output", async () => {
    const cwd = await group();
    const { code, stdout, stderr } = await runCli(cwd, "copy", "g.zarr/t", "t.zarr.zip", "--json");
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
    expect(await runCli(cwd, "copy", "g.zarr", "h.zarr", "--quiet")).toMatchObject({
      code: 0,
      stdout: "",
      stderr: "",
    });
  });

  it("keeps a target that is there, unless it is to be replaced", async () => {
    const cwd = await group();
    await runCli(cwd, "copy", "g.zarr/x", "h.zarr");
    const refused = await runCli(cwd, "copy", "g.zarr", "h.zarr");
    expect(refused).toMatchObject({ code: 2, stdout: "" });
    expect(refused.stderr).toMatch(/^zarrflow: .*h\.zarr exists\n/);
    expect(await readdir(join(cwd, "h.zarr"))).toContain("0");
    expect(await runCli(cwd, "copy", "g.zarr", "h.zarr", "--if-exists", "replace")).toMatchObject({
      code: 0,
    });
    expect((await readdir(join(cwd, "h.zarr"))).sort()).toEqual([".zattrs", ".zgroup", "t", "x"]);
  });

  it("re-codes with --codec, coordinates aside, and keeps the values", async () => {
    const cwd = await group();
    expect(await runCli(cwd, "copy", "g.zarr", "h.zarr", "--codec", "gzip:9")).toMatchObject({ code: 0 });
    const [t, x] = await Promise.all(
      ["t", "x"].map(async (name) =>
        JSON.parse(await readFile(join(cwd, "h.zarr", name, ".zarray"), "utf8")),
      ),
    );
    expect(t).toMatchObject({ chunks: [2, 3], compressor: { id: "gzip", level: 9 } });
    expect(x).toMatchObject({ compressor: null });
    expect((await runCli(cwd, "digest", "h.zarr")).stdout).toBe(
      (await runCli(cwd, "digest", "g.zarr")).stdout,
    );
  });

  it("prints a plan and does nothing with --dry-run", async () => {
    const cwd = await group();
    const { code, stdout, stderr } = await runCli(cwd, "copy", "g.zarr", "h.zarr", "--dry-run");
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(stdout).toMatch(/^copy .*g\.zarr -> .*h\.zarr$/m);
    expect(stdout).toMatch(/^t {2}float32 \(4, 6\) {2}verbatim {2}at most 4 chunks of 24 B$/m);
    expect(stdout).toContain("all other keys are copied as they are");
    expect(await readdir(cwd)).toEqual(["g.zarr"]);
  });
});
