// @module-tag slow
import { mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { assertReplaceable } from "../../src/hierarchy/replaceable.ts";
import { copy, create, createGroup } from "../../src/index.ts";
import { testFolder } from "../support/cli.ts";

const zarrAt = async (url: string) => (await createGroup(url, { zarrFormat: "v3" })).close();

describe.each(["directory", "zip"] as const)("what a new %s replaces", (kind) => {
  const check = (path: string) => assertReplaceable({ store: { kind, path }, path: "" });

  it("is nothing, an empty folder, a Zarr in a folder, or one in a zip", async () => {
    const cwd = await testFolder();
    await mkdir(join(cwd, "empty"));
    await zarrAt(join(cwd, "x.zarr"));
    await zarrAt(join(cwd, "x.zip"));
    for (const name of ["none", "empty", "x.zarr", "x.zip"]) await check(join(cwd, name));
  });

  it("is no file, no folder and no zip of anything else", async () => {
    const cwd = await testFolder();
    await writeFile(join(cwd, "file"), "mine");
    await writeFile(join(cwd, "nothing"), "");
    await mkdir(join(cwd, "folder"));
    await writeFile(join(cwd, "folder/file"), "mine");
    await copy(join(cwd, "folder"), join(cwd, "other.zip"));
    for (const name of ["file", "nothing", "folder", "other.zip"]) {
      await expect(check(join(cwd, name)), name).rejects.toMatchObject({ code: "target-not-empty" });
    }
  });
});

describe("a project folder with a file of a document's name", () => {
  it.each(["meta", ".zarray", ".zgroup", "zarr.json", ".zattrs", "attrs", ".zmetadata"])(
    "%s is left",
    async (name) => {
      const cwd = await testFolder();
      await zarrAt(join(cwd, "g.zarr"));
      for (const contents of ["notes of mine", "{}", '["zarr_format"]', '{"title": "mine"}']) {
        await mkdir(join(cwd, "project/src"), { recursive: true });
        await writeFile(join(cwd, "project", name), contents);
        await writeFile(join(cwd, "project/src/main.c"), "mine");
        const replaced = copy(join(cwd, "g.zarr"), join(cwd, "project"), { ifExists: "replace" });
        await expect(replaced, contents).rejects.toMatchObject({
          code: "target-not-empty",
          details: { found: expect.stringContaining("src/") },
        });
        expect(await readFile(join(cwd, "project/src/main.c"), "utf8")).toBe("mine");
      }
    },
  );

  it("is replaced where it is a Zarr whose metadata are not understood", async () => {
    const cwd = await testFolder();
    await mkdir(join(cwd, "x.zarr"));
    await writeFile(join(cwd, "x.zarr/zarr.json"), '{"zarr_format": 4, "node_type": "table"}');
    await assertReplaceable({ store: { kind: "directory", path: join(cwd, "x.zarr") }, path: "" });
  });
});

it("a file of the user's outlives a copy and an array of its name, and a folder a zip", async () => {
  const cwd = await testFolder();
  const at = (name: string) => join(cwd, name);
  await zarrAt(at("g.zarr"));
  await writeFile(at("file"), "mine");
  await mkdir(at("folder.zip"));
  await writeFile(at("folder.zip/file"), "mine");
  const refused = { code: "target-not-empty" };
  const ifExists = "replace";
  await expect(copy(at("g.zarr"), at("file"), { ifExists })).rejects.toMatchObject(refused);
  await expect(copy(at("g.zarr"), at("folder.zip"), { ifExists })).rejects.toMatchObject(refused);
  const array = { shape: [2], chunks: [2], dataType: "int8" } as const;
  await expect(create(at("file"), array, { ifExists })).rejects.toMatchObject(refused);
  expect(await readFile(at("file"), "utf8")).toBe("mine");
  expect(await readdir(at("folder.zip"))).toEqual(["file"]);
});
