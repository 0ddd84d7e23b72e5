// @module-tag slow
import { createHash } from "node:crypto";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { testFolder } from "../../support/cli.ts";
import { runHere } from "../../support/cli-here.ts";
import { ramp, writeV2Array, writeV2Group } from "../../support/v2-store.ts";

const items = ramp(35);
const sha256 = createHash("sha256").update(items).digest("hex");
const array = { shape: [5, 7], chunks: [2, 3], dtype: "<f4", items };

describe("zarrflow digest", () => {
  it("prints digest and path, of an array the path that was asked for", async () => {
    const cwd = await testFolder();
    await writeV2Group(join(cwd, "g.zarr"), { a: array, b: { ...array, chunks: [5, 1] } });
    const whole = await runHere(cwd, "digest", "g.zarr");
    expect(whole).toMatchObject({ code: 0, stdout: `${sha256}  a\n${sha256}  b\n`, stderr: "" });
    expect((await runHere(cwd, "digest", "g.zarr/b")).stdout).toBe(`${sha256}  g.zarr/b\n`);
  });

  it("gives a list with type and shape as JSON", async () => {
    const cwd = await testFolder();
    await writeV2Array(join(cwd, "a.zarr"), array);
    const { stdout } = await runHere(cwd, "digest", "a.zarr", "--json");
    expect(JSON.parse(stdout)).toEqual([{ path: "", dataType: "float32", shape: [5, 7], sha256 }]);
  });

  it("prints the missing value below the digest, so that arrays of equal bytes differ", async () => {
    const cwd = await testFolder();
    const variable = { ...array, dimensions: ["y", "x"] };
    await writeV2Group(join(cwd, "a.zarr"), { t: { ...variable, fillValue: -999 } });
    await writeV2Group(join(cwd, "b.zarr"), { t: { ...variable, fillValue: "NaN" } });
    await writeV2Group(join(cwd, "c.zarr"), { t: variable });
    const lines: string[] = [];
    for (const url of ["a.zarr", "b.zarr", "c.zarr"]) lines.push((await runHere(cwd, "digest", url)).stdout);
    expect(lines).toEqual([
      `${sha256}  t\nmissing value -999\n`,
      `${sha256}  t\nmissing value "NaN"\n`,
      `${sha256}  t\n`,
    ]);
    const { code, stdout } = await runHere(cwd, "diff", "a.zarr", "b.zarr");
    expect({ code, stdout }).toEqual({
      code: 6,
      stdout: expect.stringContaining("t: fill value: -999 -> "),
    });
  });

  it("prints a tree, its cells, and parts that are merged", async () => {
    const cwd = await testFolder();
    const long = { shape: [2, 300_000], chunks: [1, 1000] };
    await writeV2Group(join(cwd, "g.zarr"), { a: array, long });
    await writeV2Group(join(cwd, "other.zarr"), { a: { ...array, chunks: [5, 1] }, long });
    const tree = await runHere(cwd, "digest", "g.zarr", "--tree");
    const lines = (text: string) => text.trimEnd().split("\n");
    expect(lines(tree.stdout).map((line) => line.slice(66))).toEqual(["a", "long", "g.zarr"]);
    expect((await runHere(cwd, "digest", "other.zarr", "--tree")).stdout.replace("other", "g")).toBe(
      tree.stdout,
    );
    const one = await runHere(cwd, "digest", "g.zarr/long", "--tree", "--cells");
    expect(lines(one.stdout).map((line) => line.slice(66))).toEqual([
      "g.zarr/long",
      "g.zarr/long[0:1,0:262144]",
      "g.zarr/long[0:1,262144:300000]",
      "g.zarr/long[1:2,0:262144]",
      "g.zarr/long[1:2,262144:300000]",
    ]);
    for (const part of ["1/3", "2/3", "3/3"]) {
      const { stdout } = await runHere(cwd, "digest", "g.zarr", "--tree", "--part", part, "--json");
      await writeFile(join(cwd, `${part[0]}.json`), stdout);
    }
    const merged = await runHere(cwd, "digest", "--tree", "--merge", "1.json", "3.json", "2.json");
    expect(merged).toMatchObject({ code: 0, stdout: tree.stdout.replace("g.zarr", "."), stderr: "" });
    const lacking = await runHere(cwd, "digest", "--tree", "--merge", "1.json", "3.json");
    expect(lines(lacking.stdout).at(-1)).toBe(`-${" ".repeat(63)}  .`);
    expect(lacking.stdout).toContain(" of 4 cells)\n");
  });

  it.each([
    ["g.zarr", "--cells"],
    ["g.zarr", "--tree", "--part", "3/2"],
    ["g.zarr", "h.zarr"],
    ["--tree", "--merge", "no.json"],
    ["g.zarr", "--tree", "--merge", "--part", "1/2"],
  ])("rejects %s %s %s", async (...args) => {
    expect(await runHere(await testFolder(), "digest", ...args)).toMatchObject({ code: 2, stdout: "" });
  });

  it("names an array that cannot be read, digests the others, and ends with 1", async () => {
    const cwd = await testFolder();
    await writeV2Group(join(cwd, "g.zarr"), { a: array, b: array, c: array });
    await writeFile(join(cwd, "g.zarr/b/0.0"), "short");
    const text = await runHere(cwd, "digest", "g.zarr");
    expect(text).toMatchObject({ code: 1, stdout: `${sha256}  a\n${sha256}  c\n` });
    expect(text.stderr).toMatch(/^b: cannot be read, and has no digest: /);
    const json = await runHere(cwd, "digest", "g.zarr", "--json");
    expect(json.code).toBe(1);
    expect(JSON.parse(json.stdout)).toEqual([
      expect.objectContaining({ path: "a", sha256 }),
      { path: "b", error: expect.stringContaining("b/0.0") },
      expect.objectContaining({ path: "c", sha256 }),
    ]);
  });

  it("names an array of an unknown codec and ends with 1, and with --tree fails at it", async () => {
    const cwd = await testFolder();
    await writeV2Group(join(cwd, "g.zarr"), { a: array, b: array });
    const document = join(cwd, "g.zarr/b/.zarray");
    const metadata = JSON.parse(await readFile(document, "utf8"));
    await writeFile(document, JSON.stringify({ ...metadata, compressor: { id: "unheard-of" } }));
    const text = await runHere(cwd, "digest", "g.zarr");
    expect(text).toMatchObject({ code: 1, stdout: `${sha256}  a\n` });
    expect(text.stderr).toMatch(/^b: cannot be read, and has no digest: .*unheard-of/);
    const tree = await runHere(cwd, "digest", "g.zarr", "--tree");
    expect(tree).toMatchObject({ stdout: "", stderr: expect.stringContaining("unheard-of") });
    expect(tree.code).not.toBe(0);
  });
});
