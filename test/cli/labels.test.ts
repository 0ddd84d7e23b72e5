import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { requireBuild } from "../built-package.ts";
import { testFolder } from "../support/cli.ts";
import { runHere } from "../support/cli-here.ts";
import { writeV2Group } from "../support/v2-store.ts";

/** A folder with `g.zarr`: two days of hours at five latitudes. */
async function group(): Promise<string> {
  const cwd = await testFolder();
  const time = Int32Array.from({ length: 48 }, (_, i) => i);
  const lat = Float32Array.of(50, 40, 30, 20, 10);
  await writeV2Group(join(cwd, "g.zarr"), {
    t: { shape: [48, 5], chunks: [24, 5], dimensions: ["time", "lat"] },
    time: {
      shape: [48],
      chunks: [48],
      dtype: "<i4",
      items: time,
      dimensions: ["time"],
      attributes: { units: "hours since 2024-02-29" },
    },
    lat: { shape: [5], dtype: "<f4", items: lat, dimensions: ["lat"] },
  });
  return cwd;
}

describe("labels on the command line", () => {
  beforeAll(requireBuild);

  it("give the bytes of the indices that they mean", async () => {
    const cwd = await group();
    const byLabel = await runHere(
      cwd,
      "slice",
      "g.zarr/t",
      "--slice",
      "time=2024-03-01:2024-03-01T02,lat=40.0",
    );
    const byIndex = await runHere(cwd, "slice", "g.zarr/t", "--slice", "time=24:27,lat=1");
    expect(byLabel).toEqual(byIndex);
    expect(byIndex).toMatchObject({ code: 0, stderr: "" });
  });

  it("are printed as indices by a dry run", async () => {
    const cwd = await group();
    const words = ["--slice", "time=2024-03-01,lat=22.0", "--nearest", "--dry-run"];
    const expected = [
      "  time           2024-03-01T00 .. 2024-03-01T23 (24), indices 24:48",
      "  lat            20 (1), index 3",
    ];
    const slice = await runHere(cwd, "slice", "g.zarr/t", ...words);
    expect(slice.stdout.split("\n").slice(1, 3)).toEqual(expected);
    const target = await runHere(cwd, "slice", "g.zarr", "part.zarr", ...words);
    const rows = target.stdout.split("\n").map((row) => row.replace(/ {2,}/g, " "));
    expect(rows.slice(2, 4)).toEqual(expected.map((row) => row.replace(/ {2,}/g, " ")));
    const json = JSON.parse((await runHere(cwd, "slice", "g.zarr", "part.zarr", ...words, "--json")).stdout);
    expect(json.taken).toMatchObject([
      { dimension: "time", labels: "2024-03-01", indices: [24, 48], count: 24 },
      { indices: 3, first: "20", last: "20" },
    ]);
    expect(await readdir(cwd)).toEqual(["g.zarr"]);
  });

  it("write a smaller Zarr", async () => {
    const cwd = await group();
    const run = await runHere(
      cwd,
      "slice",
      "g.zarr",
      "part.zarr",
      "--slice",
      "time=2024-02-29,lat=20..40",
      "--quiet",
    );
    expect(run).toMatchObject({ code: 0, stderr: "" });
    expect((await runHere(cwd, "slice", "part.zarr/lat", "--format", "json")).stdout).toBe("[40,30,20]\n");
    const { shape } = JSON.parse(await readFile(join(cwd, "part.zarr/t/.zarray"), "utf8"));
    expect(shape).toEqual([24, 3]);
  });
});
