// @module-tag slow
import { cp, mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { walk } from "../../src/hierarchy/open/walk.ts";
import { openGroup } from "../../src/index.ts";
import { testFolder } from "../support/cli.ts";
import { runHere } from "../support/cli-here.ts";
import { ramp, type V2Array, writeV2Group } from "../support/v2-store.ts";

const array: V2Array = { shape: [4], chunks: [2], dimensions: ["x"] };

/** Two hierarchies that are the same but for a document of the first that is broken; another array differs, perhaps. */
async function hierarchies({ document = "{ not JSON", other = array } = {}): Promise<string> {
  const cwd = await testFolder();
  await writeV2Group(join(cwd, "a.zarr"), { "sub/t": array, "sub/u": array, v: array });
  await cp(join(cwd, "a.zarr"), join(cwd, "b.zarr"), { recursive: true });
  await writeV2Group(join(cwd, "b.zarr"), { v: other });
  await writeFile(join(cwd, "a.zarr/sub/t/.zarray"), document);
  return cwd;
}

const unknownType = JSON.stringify({
  ...{ zarr_format: 2, shape: [4], chunks: [2], dtype: "<q9", compressor: null },
  ...{ fill_value: null, order: "C", filters: null },
});

describe.each([
  ["damaged", "{ not JSON", "invalid-metadata", 1],
  ["of a type that is not known", unknownType, "unsupported-data-type", 0],
])("a document that is %s", (_, document, code, exit) => {
  it("is marked in a tree that shows all others", async () => {
    const cwd = await hierarchies({ document });
    const drawn = await runHere(cwd, "tree", "a.zarr", "--ascii");
    expect(drawn).toMatchObject({ code: exit, stderr: "" });
    expect(drawn.stdout).toMatch(
      /^a\.zarr {2}group, v2\n\|-- sub {2}group, implied\n\| {3}\|-- t {2}(?:broken|not supported)\n\| {3}\| {7}! .+\n\| {3}`-- u {2}float32 .+\n`-- v {2}float32 .+\n$/,
    );
    const json = await runHere(cwd, "tree", "a.zarr", "--json");
    expect(json).toMatchObject({ code: exit, stderr: "" });
    expect(
      JSON.parse(json.stdout).map(({ path, kind }: { path: string; kind: string }) => [path, kind]),
    ).toEqual([
      ["", "group"],
      ["sub", "group"],
      ["sub/t", exit === 1 ? "broken" : "unsupported"],
      ["sub/u", "array"],
      ["v", "array"],
    ]);
    expect(JSON.parse(json.stdout)[2].error).toEqual({ code, message: expect.stringContaining("sub/t") });
  });

  it("is reported by a diff that compares all others", async () => {
    const cwd = await hierarchies({ document, other: { ...array, items: ramp(4).fill(9) } });
    for (const [a, b] of [
      ["a.zarr", "b.zarr"],
      ["b.zarr", "a.zarr"],
    ] as const) {
      const { code, stdout, stderr } = await runHere(cwd, "diff", a, b);
      expect({ code, stderr }).toEqual({ code: 1, stderr: "1 difference; 1 not compared\n" });
      expect(stdout).toMatch(
        /^sub\/t: cannot be read, and was not compared: [AB]: [^>…]+\nv: 4 of 4 items differ.+\n$/,
      );
      const json = await runHere(cwd, "diff", a, b, "--json");
      expect(json).toMatchObject({ code: 1, stderr: "" });
      expect(JSON.parse(json.stdout)).toMatchObject([
        { path: "sub/t", what: "broken", counts: true },
        { path: "v", what: "values" },
      ]);
    }
  });
});

it("ends a diff with 1 where nothing else differs", async () => {
  const cwd = await hierarchies();
  expect(await runHere(cwd, "diff", "a.zarr", "b.zarr", "--quiet")).toMatchObject({ code: 1, stderr: "" });
  expect((await runHere(cwd, "diff", "a.zarr", "a.zarr")).code).toBe(1);
});

it("is marked where consolidated metadata hold it", async () => {
  const cwd = await testFolder();
  const group = { zarr_format: 2 };
  const metadata = { ".zgroup": group, "t/.zarray": { zarr_format: 2, shape: "?" }, "u/.zgroup": group };
  const document = JSON.stringify({ zarr_consolidated_format: 1, metadata });
  await mkdir(join(cwd, "a.zarr"));
  await writeFile(join(cwd, "a.zarr/.zmetadata"), document);
  const { code, stdout } = await runHere(cwd, "tree", "a.zarr", "--ascii");
  expect({ code, stdout }).toEqual({
    code: 1,
    stdout: expect.stringMatching(/t {2}broken\n.*\n`-- u {2}group\n$/),
  });
});

it("stops a walk, which has no way to mark it", async () => {
  const cwd = await hierarchies();
  const group = await openGroup(join(cwd, "a.zarr"));
  const all = async () => {
    for await (const _ of walk(group));
  };
  await expect(all()).rejects.toMatchObject({ code: "invalid-metadata" });
});
