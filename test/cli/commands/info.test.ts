// @module-tag slow
// @module-tag alone
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { testFolder } from "../../support/cli.ts";
import { runHere } from "../../support/cli-here.ts";
import { ramp, writeV2Array, writeV2Group } from "../../support/v2-store.ts";

describe("zarrflow info", () => {
  it("describes an array in a block", async () => {
    const cwd = await testFolder();
    await writeV2Array(join(cwd, "a.zarr"), {
      shape: [100, 120],
      chunks: [50, 60],
      dtype: "<f4",
      items: ramp(12000),
      dimensions: ["y", "x"],
      attributes: { units: "K", big: 1 },
    });
    await rm(join(cwd, "a.zarr/1.1"));
    const { code, stdout, stderr } = await runHere(cwd, "info", "a.zarr");
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(stdout).toMatchInlineSnapshot(`
      "a.zarr  float32 (y 100, x 120)
        format      v2
        chunks      (50, 60), 3 of 4 present
        codecs      bytes(little)
        size        36 kB stored, 48 kB of items, ratio 1.33
        attributes  units: "K"
                    big: 1
      "
    `);
  });

  it("describes each array of a group as JSON", async () => {
    const cwd = await testFolder();
    const array = { shape: [4], chunks: [2], dtype: "<f4", items: ramp(4) };
    await writeV2Group(join(cwd, "g.zarr"), { t: array, "sub/u": { ...array, attributes: { limit: null } } });
    const { code, stdout, stderr } = await runHere(cwd, "info", "g.zarr", "--json");
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(JSON.parse(stdout)).toEqual([
      expect.objectContaining({ path: "sub/u", chunks: 2, attributes: { limit: null } }),
      expect.objectContaining({
        path: "t",
        zarrFormat: "v2",
        shape: [4],
        chunkShape: [2],
        dataType: "float32",
        chunksPresent: 2,
        storedBytes: 16,
        logicalBytes: 16,
        ratio: 1,
        dimensionNames: null,
      }),
    ]);
  });

  it("says on standard error that a group has no arrays, and gives an empty list as JSON", async () => {
    const cwd = await testFolder();
    await writeV2Group(join(cwd, "g.zarr"), {});
    const words = await runHere(cwd, "info", "g.zarr");
    expect(words).toMatchObject({ code: 0, stdout: "", stderr: "no arrays in g.zarr\n" });
    const json = await runHere(cwd, "info", "g.zarr", "--json");
    expect(json).toMatchObject({ code: 0, stdout: "[]\n", stderr: "" });
  });
});
