// @module-tag slow
import { execFile } from "node:child_process";
import { cpSync, mkdirSync, readFileSync, symlinkSync } from "node:fs";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import { requireBuild, root } from "../built-package.ts";
import { testFolder } from "../support/cli.ts";
import { writeV2Group } from "../support/v2-store.ts";

describe("the package without the packages that are optional", () => {
  it.each([
    ["arrow", "Arrow", "apache-arrow", "apache-arrow@21"],
    ["arrows", "Arrow", "apache-arrow", "apache-arrow@21"],
    ["parquet", "Parquet", "hyparquet-writer", "hyparquet-writer@0.17"],
  ])("says how to install what writes .%s", async (format, name, wanted, spec) => {
    requireBuild();
    const cwd = await testFolder();
    await writeV2Group(join(cwd, "g.zarr"), {
      t: { shape: [2], dimensions: ["x"] },
    });
    cpSync(join(root, "dist"), join(cwd, "package/dist"), { recursive: true });
    cpSync(join(root, "package.json"), join(cwd, "package/package.json"));
    const { dependencies } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
    for (const dependency of Object.keys(dependencies)) {
      const place = join(cwd, "package/node_modules", dependency);
      mkdirSync(dirname(place), { recursive: true });
      symlinkSync(join(root, "node_modules", dependency), place);
    }
    const command = ["package/dist/cli/main.js", "slice", "g.zarr/t", "--output", `t.${format}`];
    await expect(promisify(execFile)(process.execPath, command, { cwd })).rejects.toMatchObject({
      code: 4,
      stdout: "",
      stderr:
        `zarrflow: ${name} is written by a package that is not installed (expected ${wanted})\n` +
        `  hint: Install it beside zarrflow: npm install ${spec}.\n`,
    });
  });
});
