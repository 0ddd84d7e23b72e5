// @module-tag slow
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { buildZip } from "../stores/zip/build-zip.ts";
import { testFolder } from "../support/cli.ts";
import { runHere } from "../support/cli-here.ts";

const document = (shape: number[]) =>
  new TextEncoder().encode(
    JSON.stringify({
      zarr_format: 2,
      shape,
      chunks: [1],
      dtype: "|u1",
      compressor: null,
      fill_value: 0,
      order: "C",
      filters: null,
    }),
  );

describe("warnings", () => {
  it("of a run are reported on standard error, also with --quiet, but not with --no-warnings", async () => {
    const cwd = await testFolder();
    const twice = [1, 2].map((value) => ({ name: "0", value: new Uint8Array([value]) }));
    await writeFile(join(cwd, "x.zip"), buildZip([{ name: ".zarray", value: document([2]) }, ...twice]));
    const warning = "warning: two zip entries have this name: the later one counts (key 0)\n";
    const told = await runHere(cwd, "copy", "x.zip", "a.zarr", "--json");
    expect(told).toMatchObject({ code: 0 });
    expect(told.stderr).toContain(warning);
    expect(JSON.parse(told.stdout)).toMatchObject({ keysWritten: 2 });
    const quiet = ["--quiet"] as const;
    expect(await runHere(cwd, "copy", "x.zip", "b.zarr", ...quiet)).toMatchObject({
      code: 0,
      stderr: warning,
    });
    const silent = await runHere(cwd, "copy", "x.zip", "c.zarr", ...quiet, "--no-warnings");
    expect(silent).toMatchObject({ code: 0, stderr: "" });
  });

  it.each([
    ["diff x.zarr x.zarr --anonymous", "--anonymous has no effect: no store is in S3"],
    ["clean x.zarr --missing-403", "--missing-403 has no effect"],
    ["info x.zarr --attempts 2", "--attempts has no effect: no store is a web server or in S3"],
    ["diff x.zarr x.zarr --timeout 9s", "--timeout has no effect: no store is a web server or in S3"],
    ["info x.zarr --header a:b", "--header has no effect: no store is a web server"],
    ["slice x.zarr --slice 0 --format json --anonymous", "--anonymous has no effect"],
    ["plan copy x.zarr y.zarr --codec zstd --output p.json --anonymous", "--anonymous has no effect"],
    [
      "plan copy x.zarr y.zarr --codec zstd --output p.json --json",
      "--json has no effect without --simulate",
    ],
  ])("name flags without effect: %s", async (line, reason) => {
    const cwd = await testFolder();
    await mkdir(join(cwd, "x.zarr"));
    await writeFile(join(cwd, "x.zarr/.zarray"), document([2]));
    const { code, stderr } = await runHere(cwd, ...line.split(" "));
    expect({ code, stderr }).toEqual({ code: 0, stderr: expect.stringContaining(`warning: ${reason}`) });
    const silent = await runHere(cwd, ...line.replace("p.json", "q.json").split(" "), "--no-warnings");
    expect(silent.stderr).not.toContain("no effect");
  });

  it("of a plan are part of a dry run", async () => {
    const cwd = await testFolder();
    await writeFile(join(cwd, "x.zip"), buildZip([{ name: ".zarray", value: document([200_000]) }]));
    const { stdout } = await runHere(cwd, "copy", "x.zip", "y.zip", "--dry-run");
    expect(stdout).toContain("warning: the zip will have up to 200,000 entries");
    expect(stdout).toContain("--shards");
  });
});
