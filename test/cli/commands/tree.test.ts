// @module-tag slow
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { testFolder } from "../../support/cli.ts";
import { runHere } from "../../support/cli-here.ts";
import { writeV2Array, writeV2Group } from "../../support/v2-store.ts";

const array = { shape: [4, 6], chunks: [2, 3], dimensions: ["y", "x"] };

async function hierarchy(): Promise<string> {
  const cwd = await testFolder();
  const odd = { ...array, dimensions: ["y"] };
  await writeV2Group(join(cwd, "g.zarr"), { t: array, "sub/deep/u": odd, "sub/v": array });
  return cwd;
}

describe("zarrflow tree", () => {
  it("draws nodes below their groups, implied ones and what is odd", async () => {
    const { code, stdout, stderr } = await runHere(await hierarchy(), "tree", "g.zarr", "--ascii");
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(stdout).toMatchInlineSnapshot(`
      "g.zarr  group, v2
      |-- sub  group, implied
      |   |-- deep  group, implied
      |   |   \`-- u  float32 (4, 6) in chunks of (2, 3)
      |   |           ! /_ARRAY_DIMENSIONS: must name each of 2 dimensions
      |   \`-- v  float32 (y 4, x 6) in chunks of (2, 3)
      \`-- t  float32 (y 4, x 6) in chunks of (2, 3)
      "
    `);
  });

  it("draws one array as a line", async () => {
    const cwd = await testFolder();
    await writeV2Array(join(cwd, "a.zarr"), array);
    const { stdout } = await runHere(cwd, "tree", "a.zarr");
    expect(stdout).toBe("a.zarr  float32 (y 4, x 6) in chunks of (2, 3), v2\n");
  });

  it("lists nodes as JSON", async () => {
    const { code, stdout, stderr } = await runHere(await hierarchy(), "tree", "g.zarr", "--json");
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    const nodes: { path: string }[] = JSON.parse(stdout);
    expect(nodes.map(({ path }) => path)).toEqual(["", "sub", "sub/deep", "sub/deep/u", "sub/v", "t"]);
    expect(nodes[1]).toMatchObject({ kind: "group", implied: true });
    expect(nodes[5]).toEqual({
      kind: "array",
      path: "t",
      zarrFormat: "v2",
      findings: [],
      dataType: "float32",
      shape: [4, 6],
      chunkShape: [2, 3],
      dimensionNames: ["y", "x"],
    });
  });

  it("finds nothing where nothing is", async () => {
    expect(await runHere(await testFolder(), "tree", "no.zarr")).toMatchObject({ code: 3, stdout: "" });
  });
});
