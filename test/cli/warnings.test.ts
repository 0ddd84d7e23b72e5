// @module-tag slow
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { buildZip } from "../stores/zip/build-zip.ts";
import { runCli, testFolder } from "../support/cli.ts";

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
    const told = await runCli(cwd, "copy", "x.zip", "a.zarr", "--json");
    expect(told).toMatchObject({ code: 0 });
    expect(told.stderr).toContain(warning);
    expect(JSON.parse(told.stdout)).toMatchObject({ keysWritten: 2 });
    const quiet = ["--quiet"] as const;
    expect(await runCli(cwd, "copy", "x.zip", "b.zarr", ...quiet)).toMatchObject({
      code: 0,
      stderr: warning,
    });
    const silent = await runCli(cwd, "copy", "x.zip", "c.zarr", ...quiet, "--no-warnings");
    expect(silent).toMatchObject({ code: 0, stderr: "" });
  });

  it("of a plan are part of a dry run", async () => {
    const cwd = await testFolder();
    await writeFile(join(cwd, "x.zip"), buildZip([{ name: ".zarray", value: document([200_000]) }]));
    const { stdout } = await runCli(cwd, "copy", "x.zip", "y.zip", "--dry-run");
    expect(stdout).toContain("warning: the zip will have up to 200,000 entries");
    expect(stdout).toContain("--shards");
  });
});
