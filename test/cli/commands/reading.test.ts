// @module-tag slow
import { createHash } from "node:crypto";
import { cp, mkdir, rm, truncate, writeFile } from "node:fs/promises";
import { describe, expect, it } from "vitest";
import { walk } from "../../../src/hierarchy/open/walk.ts";
import { openGroup } from "../../../src/index.ts";
import { all } from "../../support/consume.ts";
import { given } from "../../support/given.ts";
import { ramp, type V2Array, writeV2Group } from "../../support/v2-store.ts";
import { type Shell, shell } from "../shell.ts";

const array: V2Array = { shape: [4, 6], chunks: [2, 3], dimensions: ["y", "x"] };
const short: V2Array = { shape: [4], chunks: [2] };

describe("zarrflow info", () => {
  it("describes an array in a block", async () => {
    const made = {
      shape: [100, 120],
      chunks: [50, 60],
      dimensions: ["y", "x"],
      attributes: { units: "K", big: 1 },
    };
    const { output, at } = await shell({ "a.zarr": made });
    await rm(at("a.zarr/1.1"));
    expect(await output("info a.zarr")).toMatchInlineSnapshot(`
      "a.zarr  float32 (y 100, x 120)
        format      v2
        chunks      (50, 60), 3 of 4 stored
        codecs      bytes(little)
        size        36 kB stored, 48 kB of items, ratio 1.33
        fill value  undefined
        attributes  units: "K"
                    big: 1
      "
    `);
  });

  it("describes each array of a group as JSON", async () => {
    const t = {
      zarrFormat: "v2",
      shape: [4],
      chunkShape: [2],
      dataType: "float32",
      chunksPresent: 2,
      ratio: 1,
    };
    const none = { dimensionNames: null, fillValue: null, missingValue: null };
    const group = { kind: "group", zarrFormat: "v2", attributes: {} };
    const { json } = await shell({
      "g.zarr": { t: short, "sub/u": { ...short, attributes: { limit: null } } },
    });
    expect(await json("info g.zarr")).toEqual([
      { ...group, path: "" },
      { ...group, path: "sub" },
      expect.objectContaining({ path: "sub/u", chunks: 2, attributes: { limit: null } }),
      expect.objectContaining({ path: "t", ...t, storedBytes: 16, logicalBytes: 16, ...none }),
      {
        ...{ kind: "totals", arrays: 2, groups: 2, broken: 0, unsupported: 0, chunks: 4, chunksPresent: 4 },
        ...{ storedBytes: 32, logicalBytes: 32, ratio: 1 },
      },
    ]);
  });

  it("shows attributes of groups, fill and missing values, what is broken, and totals", async () => {
    const made = { ...short, dtype: "<i2", items: ramp(4) };
    const a = { ...made, attributes: { _FillValue: -999 } };
    const { run, at } = await shell({ "g.zarr": { a, b: made, c: made } }, { title: "A group" });
    await writeFile(at("g.zarr/b/.zarray"), "{");
    await rm(at("g.zarr/a/0"));
    const { code, stdout, stderr } = await run("info g.zarr");
    expect({ code, stderr }).toEqual({ code: 1, stderr: "" });
    expect(stdout).toMatchInlineSnapshot(`
      "g.zarr  group
        format      v2
        attributes  title: "A group"

      a  int16 (4)
        format         v2
        chunks         (2), 1 of 2 stored
        codecs         bytes(little)
        size           8 B stored, 8 B of items, ratio 1.00
        fill value     undefined
        missing value  -999
        attributes     _FillValue: -999

      b  broken
        ! \`b\` (key b/.zarray) at /: not valid JSON at line 1, column 2 (expected a name in double quotes, found the end of the document)

      c  int16 (4)
        format      v2
        chunks      (2), 2 of 2 stored
        codecs      bytes(little)
        size        16 B stored, 8 B of items, ratio 0.50
        fill value  undefined

      total
        nodes   2 arrays, 1 group, 1 broken
        chunks  3 of 4 stored
        size    24 B stored, 16 B of items, ratio 0.67
      "
    `);
  });

  it("says on standard error that a group has no arrays, and describes the group alone as JSON", async () => {
    const { run, json } = await shell({ "g.zarr": {} });
    const said = { code: 0, stdout: "g.zarr  group\n  format  v2\n", stderr: "no arrays in g.zarr\n" };
    expect(await run("info g.zarr")).toMatchObject(said);
    expect(await json("info g.zarr")).toMatchObject([{ kind: "group" }, { kind: "totals" }]);
  });
});

describe("zarrflow tree", () => {
  it("draws nodes below their groups, implied ones and what is odd, and lists them as JSON", async () => {
    const odd = { ...array, dimensions: ["y"] };
    const { output, json } = await shell({ "g.zarr": { t: array, "sub/deep/u": odd, "sub/v": array } });
    expect(await output("tree g.zarr --ascii")).toMatchInlineSnapshot(`
      "g.zarr  group, v2
      |-- sub  group, implied
      |   |-- deep  group, implied
      |   |   \`-- u  float32 (4, 6) in chunks of (2, 3)
      |   |           ! /_ARRAY_DIMENSIONS: must name each of 2 dimensions
      |   \`-- v  float32 (y 4, x 6) in chunks of (2, 3)
      \`-- t  float32 (y 4, x 6) in chunks of (2, 3)
      "
    `);
    const nodes = await json<{ path: string }[]>("tree g.zarr");
    expect(nodes.map(({ path }) => path)).toEqual(["", "sub", "sub/deep", "sub/deep/u", "sub/v", "t"]);
    expect(nodes[1]).toMatchObject({ kind: "group", implied: true });
    const { shape, chunks, dimensions } = array;
    expect(nodes[5]).toEqual({
      ...{ kind: "array", path: "t", zarrFormat: "v2", findings: [], dataType: "float32" },
      ...{ shape, chunkShape: chunks, dimensionNames: dimensions },
    });
  });

  it("draws one array as a line", async () => {
    const { output } = await shell({ "a.zarr": array });
    expect(await output("tree a.zarr")).toBe("a.zarr  float32 (y 4, x 6) in chunks of (2, 3), v2\n");
  });
});

describe("zarrflow validate", () => {
  it("ends with 0 where there are no findings, or only notes", async () => {
    const { run, json, at } = await shell({ "a.zarr": short });
    const sound = { code: 0, stdout: "", stderr: "no findings\n" };
    expect(await run("validate a.zarr --deep")).toMatchObject(sound);
    await writeFile(at("a.zarr/notes\u001b"), "");
    await rm(at("a.zarr/1"));
    expect(await run("validate a.zarr")).toMatchObject({
      code: 0,
      stdout: `info     a.zarr (key notes\\u{1b}): is neither a chunk nor a metadata document
info     a.zarr: 1 of 2 chunks are missing: their items read as the fill value\n`,
      stderr: "0 errors, 0 warnings, 2 notes\n",
    });
    expect(await json("validate a.zarr")).toMatchObject([{}, { what: "missing-chunks", count: 1 }]);
  });

  it("ends with 1 where something is wrong, a line each", async () => {
    const { run, at } = await shell({ "a.zarr": short });
    await truncate(at("a.zarr/1"), 3);
    for (const key of [2, 3]) await writeFile(at(`a.zarr/${key}`), "");
    expect(await run("validate a.zarr")).toMatchObject({
      code: 1,
      stdout: `error    a.zarr (key 1): the chunk has 3 bytes, not 8
warning  a.zarr (key 2 and 1 more): a chunk outside the grid: becomes visible if the array grows\n`,
      stderr: "1 error, 1 warning, 0 notes\n",
    });
    const json = await run("validate a.zarr --json --quiet");
    expect(json).toMatchObject({ code: 1, stderr: "" });
    expect(JSON.parse(json.stdout)).toMatchObject([
      { level: "error", what: "chunk-size", key: "1" },
      { level: "warning", what: "outside-grid", count: 2 },
    ]);
  });

  it("fixes what is certain, says so, and why the rest stays", async () => {
    const { run, json, at } = await shell({ "a.zarr": short });
    for (const key of ["2", "notes"]) await writeFile(at("a.zarr", key), "");
    const rest =
      "info     a.zarr (key notes): is neither a chunk nor a metadata document; not fixed: It may not belong to an array.\n";
    expect(await run("validate a.zarr --fix --dry-run")).toMatchObject({
      code: 1,
      stdout: `info     a.zarr (key 2): a chunk outside the grid would be removed
warning  a.zarr (key 2): a chunk outside the grid: becomes visible if the array grows\n${rest}`,
    });
    expect(await run("validate a.zarr --fix")).toMatchObject({
      code: 0,
      stdout: `info     a.zarr (key 2): a chunk outside the grid was removed\n${rest}`,
      stderr: "0 errors, 0 warnings, 2 notes\n",
    });
    expect(await json("validate a.zarr --fix")).toEqual([
      expect.objectContaining({ notFixed: expect.any(String) }),
    ]);
  });
});

describe("zarrflow diff", () => {
  it("ends with 0 where only the storage differs, which it prints", async () => {
    const { run } = await shell({ "a.zarr": array, "b.zarr": { ...array, chunks: [4, 4] } });
    expect(await run("diff a.zarr b.zarr")).toMatchObject({
      code: 0,
      stdout: "a.zarr: chunks: [2,3] -> [4,4] (not counted)\n",
      stderr: "no differences; 1 in storage only\n",
    });
    const counted = { code: 6, stdout: "a.zarr: chunks: [2,3] -> [4,4]\n", stderr: "" };
    expect(await run("diff a.zarr b.zarr --strict --quiet")).toMatchObject(counted);
    expect(await run("diff a.zarr a.zarr --json")).toMatchObject({ code: 0, stdout: "[]\n", stderr: "" });
  });

  it("ends with 6 where values differ, and prints the first one and how many", async () => {
    const items = ramp(24);
    items.set([Number.NaN], 10);
    items.set([-1], 23);
    const { run } = await shell({ "a.zarr": array, "b.zarr": { ...array, items } });
    expect(await run("diff a.zarr b.zarr")).toMatchObject({
      code: 6,
      stdout:
        'a.zarr: 2 of 24 items differ, the first at (1, 4): 10 -> "NaN", in the chunk of (2, 3) at (0, 3)\n',
      stderr: "1 difference\n",
    });
    const json = await run("diff a.zarr b.zarr --json");
    expect(json).toMatchObject({ code: 6, stderr: "" });
    const values = { count: 2, items: 24, first: [1, 4], region: { start: [0, 3], shape: [2, 3] } };
    expect(JSON.parse(json.stdout)).toEqual([
      { path: "", what: "values", counts: true, a: "10", b: '"NaN"', values },
    ]);
  });

  it("shows the missing value of floats as a number, not as Base64", async () => {
    const { run, at } = await shell();
    for (const [name, _FillValue] of Object.entries({ a: "AAAAAAAA+H8=", b: "AAAAAAA8j8A=" })) {
      const grid = { shape: [2], dimensionNames: ["x"], dataType: "float64", values: null };
      await given({ at: at(name), zarrFormat: "v3", arrays: { t: { ...grid, attributes: { _FillValue } } } });
    }
    const shown = "NaN (as xarray encodes it) -> -999.5 (as xarray encodes it)";
    const stdout = `t: attribute /attributes/_FillValue: ${shown}\n`;
    expect(await run("diff a b")).toMatchObject({ code: 6, stdout });
  });

  it("names keys that are no Zarr, and goes on past what cannot be read", async () => {
    const { run, output, at } = await shell({ a: { t: array, u: array }, b: { t: array, u: array } });
    await writeFile(at("a/OME.xml"), "<OME/>");
    await writeFile(at("b/OME.xml"), "<ome/>");
    await writeFile(at("b/other"), "");
    const stdout = "OME.xml: contents differ: 6 bytes -> 6 bytes\nother: only in B: 0 bytes\n";
    expect(await run("diff a b")).toMatchObject({ code: 6, stdout, stderr: "2 differences\n" });
    expect(await output("diff a b --values")).toBe("");
    await writeFile(at("b/t/0.0"), "short");
    const broken = await run("diff a b --json");
    expect(broken.code).toBe(1);
    expect(JSON.parse(broken.stdout)).toMatchObject([{ path: "t" }, { path: "OME.xml" }, { path: "other" }]);
  });
});

describe("zarrflow digest", () => {
  const items = ramp(35);
  const sha256 = createHash("sha256").update(items).digest("hex");
  const field = { shape: [5, 7], chunks: [2, 3], dtype: "<f4", items };

  it("prints digest and path, of an array the path that was asked for", async () => {
    const { run, output, json } = await shell({ "g.zarr": { a: field, b: { ...field, chunks: [5, 1] } } });
    const stdout = `${sha256}  a\n${sha256}  b\n`;
    expect(await run("digest g.zarr")).toMatchObject({ code: 0, stdout, stderr: "" });
    expect(await output("digest g.zarr/b")).toBe(`${sha256}  g.zarr/b\n`);
    expect(await json("digest g.zarr/a")).toEqual([{ path: "", dataType: "float32", shape: [5, 7], sha256 }]);
  });

  it("prints the missing value below the digest, so that arrays of equal bytes differ", async () => {
    const variable = { ...field, dimensions: ["y", "x"] };
    const fills = { a: { fillValue: -999 }, b: { fillValue: "NaN" }, c: {} };
    const stores = Object.entries(fills).map(([name, fill]) => [name, { t: { ...variable, ...fill } }]);
    const { run, output } = await shell(Object.fromEntries(stores));
    expect(await output("digest a")).toBe(`${sha256}  t\nmissing value -999\n`);
    expect(await output("digest b")).toBe(`${sha256}  t\nmissing value "NaN"\n`);
    expect(await output("digest c")).toBe(`${sha256}  t\n`);
    const stdout = expect.stringContaining("t: fill value: -999 -> ");
    expect(await run("diff a b")).toMatchObject({ code: 6, stdout });
  });

  it("prints a tree, its cells, and parts that are merged", async () => {
    const long = { shape: [2, 300_000], chunks: [1, 1000] };
    const { output, at } = await shell({
      g: { a: field, long },
      o: { a: { ...field, chunks: [5, 1] }, long },
    });
    const tree = await output("digest g --tree");
    const names = (text: string) =>
      text
        .trimEnd()
        .split("\n")
        .map((line) => line.slice(66));
    expect(names(tree)).toEqual(["a", "long", "g"]);
    expect((await output("digest o --tree")).replace("  o", "  g")).toBe(tree);
    const cells = ["[0:1,0:262144]", "[0:1,262144:300000]", "[1:2,0:262144]", "[1:2,262144:300000]"];
    const all = ["", ...cells].map((cell) => `g/long${cell}`);
    expect(names(await output("digest g/long --tree --cells"))).toEqual(all);
    for (const n of [1, 2, 3])
      await writeFile(at(`${n}`), await output(`digest g --tree --json --part ${n}/3`));
    expect(await output("digest --tree --merge 1 3 2")).toBe(tree.replace("  g", "  ."));
    const lacking = await output("digest --tree --merge 1 3");
    expect(lacking).toMatch(/ of 4 cells\)\n[\s\S]*-{1} {63} {2}\.\n$/);
  });

  it.each([
    ["whose chunk is short", "0.0", "short", "b/0.0"],
    ["of an unknown codec", ".zarray", "unheard-of", "unheard-of"],
  ])(
    "names an array %s, digests the others, and ends with 1; with --tree it fails at it",
    async (_, key, text, named) => {
      const { run, document, at } = await shell({ "g.zarr": { a: field, b: field, c: field } });
      const metadata = await document<object>("g.zarr/b/.zarray");
      const strange = JSON.stringify({ ...metadata, compressor: { id: text } });
      await writeFile(at("g.zarr/b", key), key === "0.0" ? text : strange);
      const said = await run("digest g.zarr");
      expect(said).toMatchObject({ code: 1, stdout: `${sha256}  a\n${sha256}  c\n` });
      expect(said.stderr).toMatch(new RegExp(`^b: no digest, because it cannot be read: .*${named}`));
      const json = await run("digest g.zarr --json");
      expect(json.code).toBe(1);
      const b = { path: "b", error: expect.stringContaining(named) };
      expect(JSON.parse(json.stdout)).toMatchObject([{ path: "a", sha256 }, b, { path: "c", sha256 }]);
      const tree = await run("digest g.zarr --tree");
      expect(tree).toMatchObject({ stdout: "", stderr: expect.stringContaining(named) });
      expect(tree.code).not.toBe(0);
    },
  );
});

describe("a document that cannot be read", () => {
  const line = { shape: [4], chunks: [2], dimensions: ["x"] };

  /** Two hierarchies that are the same but for a document of the first; another array differs, perhaps. */
  async function hierarchies(document = "{ not JSON", other: V2Array = line): Promise<Shell> {
    const made = await shell({ a: { "sub/t": line, "sub/u": line, v: line } });
    await cp(made.at("a"), made.at("b"), { recursive: true });
    await writeV2Group(made.at("b"), { v: other });
    await writeFile(made.at("a/sub/t/.zarray"), document);
    return made;
  }

  const unknownType = JSON.stringify({
    ...{ zarr_format: 2, shape: [4], chunks: [2], dtype: "<q9", compressor: null },
    ...{ fill_value: null, order: "C", filters: null },
  });

  it.each([
    ["damaged", "{ not JSON", "invalid-metadata", 1],
    ["of a type that is not known", unknownType, "unsupported-data-type", 0],
  ])(
    "since it is %s is marked in a tree, and reported by a diff, of all others",
    async (_, text, error, code) => {
      const { run } = await hierarchies(text, { ...line, items: ramp(4).fill(9) });
      const drawn = await run("tree a --ascii");
      expect(drawn).toMatchObject({ code, stderr: "" });
      expect(drawn.stdout).toMatch(
        /^a {2}group, v2\n\|-- sub {2}group, implied\n\| {3}\|-- t {2}(?:broken|not supported)\n\| {3}\| {7}! .+\n\| {3}`-- u {2}float32 .+\n`-- v {2}float32 .+\n$/,
      );
      const json = await run("tree a --json");
      expect(json).toMatchObject({ code, stderr: "" });
      const kind = code === 1 ? "broken" : "unsupported";
      expect(JSON.parse(json.stdout)).toMatchObject([
        { path: "", kind: "group" },
        { path: "sub", kind: "group" },
        { path: "sub/t", kind, error: { code: error, message: expect.stringContaining("sub/t") } },
        { path: "sub/u", kind: "array" },
        { path: "v", kind: "array" },
      ]);
      for (const both of ["a b", "b a"]) {
        const said = await run(`diff ${both}`);
        expect(said).toMatchObject({ code: 1, stderr: "1 difference; 1 not compared\n" });
        expect(said.stdout).toMatch(
          /^sub\/t: not compared, because it cannot be read: [AB]: [^>…]+\nv: 4 of 4 items differ.+\n$/,
        );
        const { stdout, ...ended } = await run(`diff ${both} --json`);
        expect(ended).toMatchObject({ code: 1, stderr: "" });
        const broken = { path: "sub/t", what: "broken", counts: true };
        expect(JSON.parse(stdout)).toMatchObject([broken, { path: "v", what: "values" }]);
      }
    },
  );

  it("ends a diff with 1 where nothing else differs, and stops a walk, which has no way to mark it", async () => {
    const { run, at } = await hierarchies();
    expect(await run("diff a b --quiet")).toMatchObject({ code: 1, stderr: "" });
    expect(await run("diff a a")).toMatchObject({ code: 1 });
    const walked = all(walk(await openGroup(at("a"))));
    await expect(walked).rejects.toMatchObject({ code: "invalid-metadata" });
  });

  it("is marked where consolidated metadata hold it", async () => {
    const { run, at } = await shell();
    const group = { zarr_format: 2 };
    const metadata = { ".zgroup": group, "t/.zarray": { zarr_format: 2, shape: "?" }, "u/.zgroup": group };
    await mkdir(at("a.zarr"));
    await writeFile(at("a.zarr/.zmetadata"), JSON.stringify({ zarr_consolidated_format: 1, metadata }));
    const stdout = expect.stringMatching(/t {2}broken\n.*\n`-- u {2}group\n$/);
    expect(await run("tree a.zarr --ascii")).toMatchObject({ code: 1, stdout });
  });
});
