// @module-tag slow
import { rm, truncate, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { testFolder } from "../../support/cli.ts";
import { runHere } from "../../support/cli-here.ts";
import { writeV2Array } from "../../support/v2-store.ts";

async function array(): Promise<string> {
  const cwd = await testFolder();
  await writeV2Array(join(cwd, "a.zarr"), { shape: [4], chunks: [2] });
  return cwd;
}

describe("zarrflow validate", () => {
  it("ends with 0 where there are no findings, or only notes", async () => {
    const cwd = await array();
    const sound = await runHere(cwd, "validate", "a.zarr", "--deep");
    expect(sound).toMatchObject({ code: 0, stdout: "", stderr: "no findings\n" });
    await writeFile(join(cwd, "a.zarr/notes\u001b"), "");
    expect(await runHere(cwd, "validate", "a.zarr")).toMatchObject({
      code: 0,
      stdout: "info     a.zarr (key notes\\u{1b}): is neither a chunk nor a metadata document\n",
      stderr: "0 errors, 0 warnings, 1 note\n",
    });
    expect(await runHere(cwd, "validate", "a.zarr", "--json")).toMatchObject({ code: 0, stderr: "" });
  });

  it("ends with 1 where something is wrong, a line each", async () => {
    const cwd = await array();
    await truncate(join(cwd, "a.zarr/1"), 3);
    await writeFile(join(cwd, "a.zarr/2"), "");
    await writeFile(join(cwd, "a.zarr/3"), "");
    const { code, stdout, stderr } = await runHere(cwd, "validate", "a.zarr");
    expect({ code, stdout, stderr }).toEqual({
      code: 1,
      stdout: `error    a.zarr (key 1): the chunk has 3 bytes, and not 8
warning  a.zarr (key 2 and 1 more): a chunk outside the grid: data if the array grows
`,
      stderr: "1 error, 1 warning, 0 notes\n",
    });
    const json = await runHere(cwd, "validate", "a.zarr", "--json", "--quiet");
    expect(json).toMatchObject({ code: 1, stderr: "" });
    expect(JSON.parse(json.stdout)).toEqual([
      expect.objectContaining({ level: "error", what: "chunk-size", key: "1" }),
      expect.objectContaining({ level: "warning", what: "outside-grid", count: 2 }),
    ]);
  });

  it("counts missing chunks in a note", async () => {
    const cwd = await array();
    await rm(join(cwd, "a.zarr/1"));
    expect(await runHere(cwd, "validate", "a.zarr", "--deep")).toMatchObject({
      code: 0,
      stdout: "info     a.zarr: 1 of 2 chunks are missing: their items read as the fill value\n",
      stderr: "0 errors, 0 warnings, 1 note\n",
    });
    const { stdout } = await runHere(cwd, "validate", "a.zarr", "--json");
    expect(JSON.parse(stdout)).toEqual([expect.objectContaining({ what: "missing-chunks", count: 1 })]);
  });

  it("fixes what is certain, says so, and why the rest stays", async () => {
    const cwd = await array();
    await writeFile(join(cwd, "a.zarr/2"), "");
    await writeFile(join(cwd, "a.zarr/notes"), "");
    const rest =
      "info     a.zarr (key notes): is neither a chunk nor a metadata document; not fixed: It is not certain that it belongs to an array.\n";
    expect(await runHere(cwd, "validate", "a.zarr", "--fix", "--dry-run")).toMatchObject({
      code: 1,
      stdout: `info     a.zarr (key 2): a chunk outside the grid would be removed
warning  a.zarr (key 2): a chunk outside the grid: data if the array grows
${rest}`,
    });
    expect(await runHere(cwd, "validate", "a.zarr", "--fix")).toMatchObject({
      code: 0,
      stdout: `info     a.zarr (key 2): a chunk outside the grid was removed\n${rest}`,
      stderr: "0 errors, 0 warnings, 2 notes\n",
    });
    const again = await runHere(cwd, "validate", "a.zarr", "--fix", "--json");
    expect(JSON.parse(again.stdout)).toEqual([expect.objectContaining({ notFixed: expect.any(String) })]);
  });
});
