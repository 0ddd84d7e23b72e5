import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { runCli, testFolder } from "../../support/cli.ts";
import { ramp, writeV2Group } from "../../support/v2-store.ts";

async function group(): Promise<string> {
  const cwd = await testFolder();
  const t = {
    shape: [4, 6],
    chunks: [2, 3],
    dtype: "<f4",
    items: ramp(24),
    dimensions: ["y", "x"],
    fillValue: 0,
  };
  await writeV2Group(join(cwd, "g.zarr"), { t }, { title: "é" });
  return cwd;
}

describe("zarrflow convert", () => {
  it("writes another dialect and back, and nothing that counts differs", async () => {
    const cwd = await group();
    expect(await runCli(cwd, "convert", "g.zarr", "v3.zarr", "--to", "v3", "--quiet")).toMatchObject({
      code: 0,
    });
    expect(JSON.parse(await readFile(join(cwd, "v3.zarr/t/zarr.json"), "utf8"))).toMatchObject({
      zarr_format: 3,
      dimension_names: ["y", "x"],
    });
    expect(await readFile(join(cwd, "v3.zarr/t/c/1/0"))).toEqual(await readFile(join(cwd, "g.zarr/t/1.0")));
    expect(await runCli(cwd, "convert", "v3.zarr", "v2.zarr", "--to", "v2", "--quiet")).toMatchObject({
      code: 0,
    });
    for (const other of ["v3.zarr", "v2.zarr"]) {
      expect((await runCli(cwd, "diff", "g.zarr", other)).code).toBe(0);
    }
  });

  it("refuses what the dialect cannot hold, unless it is named", async () => {
    const cwd = await group();
    await runCli(cwd, "convert", "g.zarr", "v3.zarr", "--to", "v3", "--quiet");
    const document = join(cwd, "v3.zarr/t/zarr.json");
    const text = await readFile(document, "utf8");
    await writeFile(
      document,
      text.replace(/"dimension_names": \[[^\]]*\]/, '"dimension_names": ["y", null]'),
    );
    const refused = await runCli(cwd, "convert", "v3.zarr", "v2.zarr", "--to", "v2");
    expect(refused).toMatchObject({
      code: 4,
      stdout: "",
      stderr: expect.stringContaining("/dimension_names"),
    });
    const flags = ["--to", "v2", "--allow-loss", "/attributes/none,/dimension_names", "--quiet"];
    expect(await runCli(cwd, "convert", "v3.zarr", "v2.zarr", ...flags)).toMatchObject({
      code: 0,
      stderr: "",
    });
  });

  it("is a flag of copy and rechunk, too", async () => {
    const cwd = await group();
    expect(await runCli(cwd, "copy", "g.zarr", "c.zarr", "--to", "v3", "--quiet")).toMatchObject({ code: 0 });
    const args = ["g.zarr", "r.zarr", "--chunks", "4,6", "--to", "v3", "--quiet"];
    expect(await runCli(cwd, "rechunk", ...args)).toMatchObject({ code: 2 });
    args[3] = "t:4,6";
    expect(await runCli(cwd, "rechunk", ...args)).toMatchObject({ code: 0 });
    const { stdout } = await runCli(cwd, "diff", "c.zarr", "r.zarr");
    expect(stdout).toBe("t: chunks: [2,3] -> [4,6] (does not count)\n");
  });

  it("plans a conversion", async () => {
    const cwd = await group();
    const { stdout } = await runCli(cwd, "convert", "g.zarr", "v3.zarr", "--to", "v3", "--dry-run", "--json");
    expect(JSON.parse(stdout)).toMatchObject({ operation: "convert", publication: { dialect: "v3" } });
  });
});
