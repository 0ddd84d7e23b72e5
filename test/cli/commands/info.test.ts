// @module-tag slow
import { rm, writeFile } from "node:fs/promises";
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
        fill value  undefined
        attributes  units: "K"
                    big: 1
      "
    `);
  });

  it("describes each array of a group as JSON", async () => {
    const cwd = await testFolder();
    const array = { shape: [4], chunks: [2] };
    await writeV2Group(join(cwd, "g.zarr"), { t: array, "sub/u": { ...array, attributes: { limit: null } } });
    const { code, stdout, stderr } = await runHere(cwd, "info", "g.zarr", "--json");
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(JSON.parse(stdout)).toEqual([
      { kind: "group", path: "", zarrFormat: "v2", attributes: {} },
      { kind: "group", path: "sub", zarrFormat: "v2", attributes: {} },
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
        fillValue: null,
        missingValue: null,
      }),
      {
        ...{ kind: "totals", arrays: 2, groups: 2, broken: 0, unsupported: 0, chunks: 4, chunksPresent: 4 },
        ...{ storedBytes: 32, logicalBytes: 32, ratio: 1 },
      },
    ]);
  });

  it("shows attributes of groups, fill and missing values, what is broken, and totals", async () => {
    const cwd = await testFolder();
    const array = { shape: [4], chunks: [2], dtype: "<i2", items: ramp(4) };
    await writeV2Group(join(cwd, "g.zarr"), {
      a: { ...array, attributes: { _FillValue: -999 } },
      b: { ...array, attributes: { missing_value: [1, 2] } },
      c: array,
    });
    await writeFile(join(cwd, "g.zarr/.zattrs"), '{"title":"A group"}');
    await writeFile(join(cwd, "g.zarr/b/.zarray"), "{");
    await rm(join(cwd, "g.zarr/a/0"));
    const { code, stdout, stderr } = await runHere(cwd, "info", "g.zarr");
    expect({ code, stderr }).toEqual({ code: 1, stderr: "" });
    expect(stdout).toMatchInlineSnapshot(`
      "g.zarr  group
        format      v2
        attributes  title: "A group"

      a  int16 (4)
        format         v2
        chunks         (2), 1 of 2 present
        codecs         bytes(little)
        size           8 B stored, 8 B of items, ratio 1.00
        fill value     undefined
        missing value  -999
        attributes     _FillValue: -999

      b  broken
        ! \`b\` (key b/.zarray) at /: not valid JSON at line 1, column 2 (expected a name in double quotes, found the end of the document)

      c  int16 (4)
        format      v2
        chunks      (2), 2 of 2 present
        codecs      bytes(little)
        size        16 B stored, 8 B of items, ratio 0.50
        fill value  undefined

      total
        nodes   2 arrays, 1 group, 1 broken
        chunks  3 of 4 present
        size    24 B stored, 16 B of items, ratio 0.67
      "
    `);
  });

  it("says on standard error that a group has no arrays, and describes the group alone as JSON", async () => {
    const cwd = await testFolder();
    await writeV2Group(join(cwd, "g.zarr"), {});
    const words = await runHere(cwd, "info", "g.zarr");
    expect(words).toMatchObject({
      ...{ code: 0, stdout: "g.zarr  group\n  format  v2\n", stderr: "no arrays in g.zarr\n" },
    });
    const json = await runHere(cwd, "info", "g.zarr", "--json");
    expect(json).toMatchObject({ code: 0, stderr: "" });
    expect(JSON.parse(json.stdout).map(({ kind }: { kind: string }) => kind)).toEqual(["group", "totals"]);
  });
});
