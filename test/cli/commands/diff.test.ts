// @module-tag slow
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { testFolder } from "../../support/cli.ts";
import { runHere } from "../../support/cli-here.ts";
import { given } from "../../support/given.ts";
import { ramp, writeV2Array, writeV2Group } from "../../support/v2-store.ts";

const array = { shape: [4, 6], chunks: [2, 3], dimensions: ["y", "x"] };

describe("zarrflow diff", () => {
  it("ends with 0 where only the storage differs, which it prints", async () => {
    const cwd = await testFolder();
    await writeV2Array(join(cwd, "a.zarr"), array);
    await writeV2Array(join(cwd, "b.zarr"), { ...array, chunks: [4, 4] });
    const { code, stdout, stderr } = await runHere(cwd, "diff", "a.zarr", "b.zarr");
    expect({ code, stdout, stderr }).toEqual({
      code: 0,
      stdout: "a.zarr: chunks: [2,3] -> [4,4] (not counted)\n",
      stderr: "no difference; 1 in storage only\n",
    });
    expect(await runHere(cwd, "diff", "a.zarr", "b.zarr", "--strict", "--quiet")).toMatchObject({
      code: 6,
      stdout: "a.zarr: chunks: [2,3] -> [4,4]\n",
      stderr: "",
    });
  });

  it("ends with 6 where values differ, and prints the first one and how many", async () => {
    const cwd = await testFolder();
    const items = ramp(24);
    items[10] = Number.NaN;
    items[23] = -1;
    await writeV2Array(join(cwd, "a.zarr"), array);
    await writeV2Array(join(cwd, "b.zarr"), { ...array, items });
    const { code, stdout, stderr } = await runHere(cwd, "diff", "a.zarr", "b.zarr");
    expect({ code, stdout, stderr }).toEqual({
      code: 6,
      stdout:
        'a.zarr: 2 of 24 items differ, the first at (1, 4): 10 -> "NaN", in the chunk of (2, 3) at (0, 3)\n',
      stderr: "1 difference\n",
    });
    const json = await runHere(cwd, "diff", "a.zarr", "b.zarr", "--json");
    expect(json).toMatchObject({ code: 6, stderr: "" });
    expect(JSON.parse(json.stdout)).toEqual([
      {
        path: "",
        what: "values",
        counts: true,
        a: "10",
        b: '"NaN"',
        values: { count: 2, items: 24, first: [1, 4], region: { start: [0, 3], shape: [2, 3] } },
      },
    ]);
  });

  it("gives an empty list as JSON where nothing differs", async () => {
    const cwd = await testFolder();
    await writeV2Array(join(cwd, "a.zarr"), array);
    const same = await runHere(cwd, "diff", "a.zarr", "a.zarr", "--json");
    expect(same).toMatchObject({ code: 0, stdout: "[]\n", stderr: "" });
  });

  it("shows the missing value of floats as a number, not as Base64", async () => {
    const cwd = await testFolder();
    const missing = { "a.zarr": "AAAAAAAA+H8=", "b.zarr": "AAAAAAA8j8A=" };
    for (const [name, _FillValue] of Object.entries(missing)) {
      const grid = { shape: [2], dimensionNames: ["x"] };
      const t = { ...grid, dataType: "float64", attributes: { _FillValue }, values: null };
      await given({ at: join(cwd, name), zarrFormat: "v3", arrays: { t } });
    }
    const { code, stdout } = await runHere(cwd, "diff", "a.zarr", "b.zarr");
    expect(stdout).toBe(
      "t: attribute /attributes/_FillValue: NaN (as xarray encodes it) -> -999.5 (as xarray encodes it)\n",
    );
    expect(code).toBe(6);
  });

  it("names keys that are no Zarr, and goes on past what cannot be read", async () => {
    const cwd = await testFolder();
    for (const name of ["a.zarr", "b.zarr"]) await writeV2Group(join(cwd, name), { t: array, u: array });
    await writeFile(join(cwd, "a.zarr/OME.xml"), "<OME/>");
    await writeFile(join(cwd, "b.zarr/OME.xml"), "<ome/>");
    await writeFile(join(cwd, "b.zarr/other"), "");
    const differing = await runHere(cwd, "diff", "a.zarr", "b.zarr");
    expect(differing).toMatchObject({
      code: 6,
      stdout: "OME.xml: contents differ: 6 bytes -> 6 bytes\nother: only in B: 0 bytes\n",
      stderr: "2 differences\n",
    });
    expect(await runHere(cwd, "diff", "a.zarr", "b.zarr", "--values")).toMatchObject({ code: 0, stdout: "" });
    await writeFile(join(cwd, "b.zarr/t/0.0"), "short");
    const broken = await runHere(cwd, "diff", "a.zarr", "b.zarr", "--json");
    expect(broken.code).toBe(1);
    const paths = JSON.parse(broken.stdout).map(({ path }: { path: string }) => path);
    expect(paths).toEqual(["t", "OME.xml", "other"]);
  });
});
