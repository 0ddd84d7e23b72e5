// @module-tag slow
import { readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { testFolder } from "../../support/cli.ts";
import { runHere } from "../../support/cli-here.ts";
import { given } from "../../support/given.ts";
import { folderWithGroup } from "../../support/v2-store.ts";

describe("zarrflow convert", () => {
  it("writes another format and back, and nothing that counts differs", async () => {
    const cwd = await folderWithGroup();
    expect(await runHere(cwd, "convert", "g.zarr", "v3.zarr", "--to", "v3", "--quiet")).toMatchObject({
      code: 0,
    });
    expect(JSON.parse(await readFile(join(cwd, "v3.zarr/t/zarr.json"), "utf8"))).toMatchObject({
      zarr_format: 3,
      dimension_names: ["y", "x"],
    });
    expect(await readFile(join(cwd, "v3.zarr/t/c/1/0"))).toEqual(await readFile(join(cwd, "g.zarr/t/1.0")));
    expect(await runHere(cwd, "convert", "v3.zarr", "v2.zarr", "--to", "v2", "--quiet")).toMatchObject({
      code: 0,
    });
    for (const other of ["v3.zarr", "v2.zarr"]) {
      expect((await runHere(cwd, "diff", "g.zarr", other)).code).toBe(0);
    }
  });

  it("writes the draft of v3, whose nodes are found by the hierarchy above them", async () => {
    const cwd = await folderWithGroup();
    const flags = ["--to", "v3-draft-2019", "--quiet"];
    expect(await runHere(cwd, "convert", "g.zarr", "draft.zarr", ...flags)).toMatchObject({
      code: 4,
      stderr: expect.stringContaining("/dimension_names"),
    });
    const allowed = [...flags, "--allow-loss", "/dimension_names"];
    expect(await runHere(cwd, "convert", "g.zarr", "draft.zarr", ...allowed)).toMatchObject({ code: 0 });
    expect(JSON.parse(await readFile(join(cwd, "draft.zarr/meta/root/t.array"), "utf8"))).toMatchObject({
      chunk_memory_layout: "C",
    });
    const before = await runHere(cwd, "digest", "g.zarr/t");
    const after = await runHere(cwd, "digest", "draft.zarr/t");
    expect(after.stdout.split(" ")[0]).toBe(before.stdout.split(" ")[0]);
    expect((await runHere(cwd, "tree", "draft.zarr")).stdout).toContain("float32");
    expect(await runHere(cwd, "info", "draft.zarr/no")).toMatchObject({
      code: 3,
      stderr: expect.stringContaining("meta/root/no.array"),
    });
  });

  it("writes an array of v1, which every command reads", async () => {
    const cwd = await folderWithGroup();
    await runHere(cwd, "convert", "g.zarr", "v3.zarr", "--to", "v3", "--codec", "zstd", "--quiet");
    expect(await runHere(cwd, "convert", "v3.zarr/t", "t.v1", "--to", "v1")).toMatchObject({
      code: 4,
      stderr: expect.stringContaining("/codecs/1"),
    });
    const flags = ["--to", "v1", "--codec", "blosc", "--quiet"];
    expect(await runHere(cwd, "convert", "v3.zarr/t", "t.v1", ...flags)).toMatchObject({ code: 0 });
    expect(JSON.parse(await readFile(join(cwd, "t.v1/meta"), "utf8"))).toMatchObject({
      zarr_format: 1,
      compression: "blosc",
    });
    expect((await runHere(cwd, "tree", "t.v1")).stdout).toBe(
      "t.v1  float32 (y 4, x 6) in chunks of (2, 3), v1\n",
    );
    expect((await runHere(cwd, "info", "t.v1")).stdout).toContain("4 of 4 present");
    expect(await runHere(cwd, "copy", "t.v1", "t.zip", "--quiet")).toMatchObject({ code: 0 });
    const rechunked = ["--chunks", "y=-1,x=2", "--quiet"];
    expect(await runHere(cwd, "rechunk", "t.zip", "r.v1", ...rechunked)).toMatchObject({ code: 0 });
    for (const other of ["t.v1", "t.zip", "r.v1"]) {
      expect((await runHere(cwd, "diff", "v3.zarr/t", other)).code, other).toBe(0);
      expect((await runHere(cwd, "validate", "--deep", other)).code, other).toBe(0);
      const [digest] = (await runHere(cwd, "digest", other)).stdout.split(" ");
      expect((await runHere(cwd, "digest", "g.zarr/t")).stdout, other).toContain(digest);
      expect((await runHere(cwd, "slice", other, "--slice", "y=3,x=4:6", "--format", "json")).stdout).toBe(
        "[22,23]\n",
      );
    }
  });

  it("refuses what the format cannot hold, unless it is named", async () => {
    const cwd = await folderWithGroup();
    await runHere(cwd, "convert", "g.zarr", "v3.zarr", "--to", "v3", "--quiet");
    const document = join(cwd, "v3.zarr/t/zarr.json");
    const text = await readFile(document, "utf8");
    await writeFile(
      document,
      text.replace(/"dimension_names": \[[^\]]*\]/, '"dimension_names": ["y", null]'),
    );
    const refused = await runHere(cwd, "convert", "v3.zarr", "v2.zarr", "--to", "v2");
    expect(refused).toMatchObject({
      code: 4,
      stdout: "",
      stderr: expect.stringContaining("/dimension_names"),
    });
    const flags = ["--to", "v2", "--allow-loss", "/attributes/none,/dimension_names", "--quiet"];
    expect(await runHere(cwd, "convert", "v3.zarr", "v2.zarr", ...flags)).toMatchObject({
      code: 0,
      stderr: expect.stringMatching(/^warning: .* no node has \/attributes\/none\. .*\n$/),
    });
  });

  it("is a flag of copy and rechunk, too", async () => {
    const cwd = await folderWithGroup();
    expect(await runHere(cwd, "copy", "g.zarr", "c.zarr", "--to", "v3", "--quiet")).toMatchObject({
      code: 0,
    });
    const args = ["g.zarr", "r.zarr", "--chunks", "4,6", "--to", "v3", "--quiet"];
    expect(await runHere(cwd, "rechunk", ...args)).toMatchObject({ code: 2 });
    args[3] = "t:4,6";
    expect(await runHere(cwd, "rechunk", ...args)).toMatchObject({ code: 0 });
    const { stdout } = await runHere(cwd, "diff", "c.zarr", "r.zarr");
    expect(stdout).toBe("t: chunks: [2,3] -> [4,6] (not counted)\n");
  });

  it("plans a conversion", async () => {
    const cwd = await folderWithGroup();
    const { stdout } = await runHere(
      cwd,
      "convert",
      "g.zarr",
      "v3.zarr",
      "--to",
      "v3",
      "--dry-run",
      "--json",
    );
    expect(JSON.parse(stdout)).toMatchObject({ operation: "convert", publication: { zarrFormat: "v3" } });
  });

  it("prints with --dry-run how many missing chunks are written out", async () => {
    const cwd = await testFolder();
    const grid = { shape: [6, 8], chunks: [2, 3], dataType: "int16", dimensionNames: ["y", "x"] };
    const values = (i: number) => (i < 16 ? 0 : 7);
    const t = { ...grid, fillValue: 7, attributes: { _FillValue: -999 }, values };
    await given({ at: join(cwd, "a.zarr"), zarrFormat: "v3", arrays: { t } });
    const { code, stdout } = await runHere(cwd, "convert", "a.zarr", "b.zarr", "--to", "v2", "--dry-run");
    expect(code).toBe(0);
    expect(stdout).toMatch(/missing +6 source chunks, written with the fill value of the source/);
    expect(await runHere(cwd, "convert", "a.zarr", "b.zarr", "--to", "v2")).toMatchObject({ code: 0 });
    expect(await readdir(join(cwd, "b.zarr/t"))).toEqual(expect.arrayContaining(["1.0", "2.2"]));
  });
});
