// @module-tag slow
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { openKernelHeap } from "../../src/codecs/kernels/kernels.ts";
import { create } from "../../src/hierarchy/create/create.ts";
import { type ArrayDigest, convert, copy, type Difference, diff, digest, rechunk } from "../../src/index.ts";
import { testFolder } from "../support/cli.ts";
import { all } from "../support/consume.ts";
import { ramp, type V2Array, writeV2Array, writeV2Group } from "../support/v2-store.ts";

const array: V2Array = {
  shape: [300, 400],
  chunks: [70, 90],
  dimensions: ["y", "x"],
  attributes: { units: "K", limits: [0, 1] },
  fillValue: 0,
};

const differences = (...of: Parameters<typeof diff>): Promise<Difference[]> => all(diff(...of));

describe("metadata", () => {
  it.each<{ change: Partial<V2Array>; what: string; a: unknown; b: unknown }>([
    { change: { fillValue: 1 }, what: "fill value", a: "0", b: "1" },
    { change: { fillValue: null }, what: "fill value", a: "0", b: null },
    { change: { dimensions: ["y", "z"] }, what: "dimension names", a: ["y", "x"], b: ["y", "z"] },
    { change: { attributes: { units: "K" } }, what: "attribute", a: [0, 1], b: undefined },
    { change: { attributes: { units: "K", limits: [0, 2] } }, what: "attribute", a: [0, 1], b: [0, 2] },
    { change: { dtype: "<i4" }, what: "data type", a: "float32", b: "int32" },
    { change: { shape: [400, 300] }, what: "shape", a: [300, 400], b: [400, 300] },
  ])("reports $what from $a to $b", async ({ change, what, a, b }) => {
    const cwd = await testFolder();
    await writeV2Array(join(cwd, "a"), array);
    await writeV2Array(join(cwd, "b"), { ...array, ...change });
    const found = await differences(join(cwd, "a"), join(cwd, "b"));
    expect(found).toEqual([expect.objectContaining({ path: "", what, counts: true, a, b })]);
  });

  it("takes numbers of attributes by their value, and names in any order", async () => {
    const cwd = await testFolder();
    await writeV2Array(join(cwd, "a"), { ...array, attributes: {} });
    await writeV2Array(join(cwd, "b"), { ...array, attributes: {} });
    await writeFile(join(cwd, "a/.zattrs"), '{"x": 1.0, "y": {"p": 1, "q": [2]}}');
    await writeFile(join(cwd, "b/.zattrs"), '{"y": {"q": [2e0], "p": 1}, "x": 1}');
    expect(await differences(join(cwd, "a"), join(cwd, "b"))).toEqual([]);
  });

  it("reports nodes that only one has, and an array where a group is", async () => {
    const cwd = await testFolder();
    await writeV2Group(join(cwd, "a"), { one: array, two: array });
    await writeV2Group(join(cwd, "b"), { two: array, "one/inner": array });
    const found = await differences(join(cwd, "a"), join(cwd, "b"));
    expect(found.map(({ path, what, a, b }) => ({ path, what, a, b }))).toEqual([
      { path: "one", what: "node", a: "array", b: "group" },
      { path: "one/inner", what: "node", a: undefined, b: "array" },
    ]);
  });
});

describe("values", () => {
  it("are the same whatever chunks, codecs and format, within a small budget", async () => {
    const cwd = await testFolder();
    await writeV2Group(join(cwd, "a"), { t: array });
    await rechunk(join(cwd, "a"), join(cwd, "b"), { chunks: { y: 300, x: 20 }, codec: "zstd" });
    await convert(join(cwd, "b"), join(cwd, "c"), { to: "v3" });
    const events: number[] = [];
    const found = await differences(join(cwd, "a"), join(cwd, "c"), {
      maxMemory: 300_000,
      onEvent: (event) => event.type === "read" && events.push(event.bytes),
    });
    expect(found.map(({ what, counts }) => ({ what, counts }))).toEqual([
      { what: "zarrFormat", counts: false },
      { what: "chunks", counts: false },
      { what: "codecs", counts: false },
    ]);
    expect(events.at(-1)).toBe(480_000);
    expect(events.length).toBeGreaterThan(1);
    const strict = await differences(join(cwd, "a"), join(cwd, "c"), { strict: true });
    expect(strict.every(({ counts }) => counts)).toBe(true);
  });

  it("that differ are counted over all slabs, the first one named", async () => {
    const cwd = await testFolder();
    const items = ramp(120_000);
    for (const at of [30_117, 30_118, 119_999]) items[at] = -at;
    await writeV2Array(join(cwd, "a"), array);
    await writeV2Array(join(cwd, "b"), { ...array, items, chunks: [300, 30] });
    for (const maxMemory of [250_000, 256e6]) {
      const found = await differences(join(cwd, "a"), join(cwd, "b"), { maxMemory });
      expect(found.filter(({ what }) => what === "values")).toEqual([
        expect.objectContaining({
          a: "30117",
          b: "-30117",
          values: {
            count: 3,
            items: 120_000,
            first: [75, 117],
            region: { start: [70, 90], shape: [70, 90] },
          },
        }),
      ]);
    }
  });

  it("of text are compared by length and bytes", async () => {
    const cwd = await testFolder();
    const text = { shape: [3], chunks: [3], dtype: "|O" };
    await writeV2Array(join(cwd, "a"), { ...text, items: ["ab", "c", ""] });
    await writeV2Array(join(cwd, "b"), { ...text, items: ["a", "bc", ""] });
    expect(await differences(join(cwd, "a"), join(cwd, "b"))).toEqual([
      expect.objectContaining({ a: '"ab"', b: '"a"', values: expect.objectContaining({ count: 2 }) }),
    ]);
  });

  it("of a scalar and of an empty array are compared, too", async () => {
    const cwd = await testFolder();
    const scalar = { shape: [], chunks: [], dtype: "<f4" };
    const empty = { shape: [0, 3], chunks: [1, 3] };
    await writeV2Group(join(cwd, "a"), { s: { ...scalar, items: ramp(1) }, e: empty });
    await writeV2Group(join(cwd, "b"), { s: { ...scalar, items: Float32Array.of(5) }, e: empty });
    expect(await differences(join(cwd, "a"), join(cwd, "b"))).toEqual([
      expect.objectContaining({ path: "s", a: "0", b: "5" }),
    ]);
  });

  it("of one are not read on where those of the other cannot be read", async () => {
    const cwd = await testFolder();
    for (const name of ["a", "b"]) {
      const settings = { shape: [40, 512, 1024], dataType: "uint8", chunks: [1, 512, 1024] } as const;
      await (await create(join(cwd, name), settings)).close();
    }
    await mkdir(join(cwd, "b/c/0/0"), { recursive: true });
    await writeFile(join(cwd, "b/c/0/0/0"), "broken");
    const before = openKernelHeap();
    const found = await differences(join(cwd, "a"), join(cwd, "b"), { maxMemory: 8e6 });
    expect(found).toEqual([
      { path: "", what: "broken", counts: true, a: "array", b: expect.stringContaining("c/0/0/0") },
    ]);
    before?.close();
    const after = openKernelHeap();
    // Whoever still read would hold the heap open.
    expect(after?.heap).not.toBe(before?.heap);
    after?.close();
  });

  it("need the budget that the error names", async () => {
    const cwd = await testFolder();
    await writeV2Array(join(cwd, "a"), array);
    await writeV2Array(join(cwd, "b"), { ...array, chunks: [300, 400] });
    const failure = await differences(join(cwd, "a"), join(cwd, "b"), { maxMemory: 100 }).catch((e) => e);
    expect(failure).toMatchObject({ code: "budget-too-small" });
    const needed = Number(/at least (\d+) bytes/.exec(failure.message)?.[1]);
    expect(await differences(join(cwd, "a"), join(cwd, "b"), { maxMemory: needed })).toHaveLength(1);
  });
});

describe("missing values", () => {
  const said = { ...array, fillValue: -999, attributes: { units: "K" } };
  const text = async (a: string, b: string) =>
    (await differences(a, b))
      .filter(({ counts }) => counts)
      .map(({ what, a: one, b: two }) => ({ what, one, two }));

  it("of a conversion are the same, whatever the format says them by", async () => {
    const cwd = await testFolder();
    const [v2, v3] = [join(cwd, "v2"), join(cwd, "v3")];
    await writeV2Array(v2, said);
    await convert(v2, v3, { to: "v3" });
    expect(await text(v2, v3)).toEqual([]);
    expect(await text(v3, v2)).toEqual([]);
  });

  it("are none of times, which have a NaT that every reader knows", async () => {
    const cwd = await testFolder();
    const [v2, v3] = [join(cwd, "v2"), join(cwd, "v3")];
    const items = BigInt64Array.of(0n, 1n);
    await writeV2Array(v2, {
      shape: [2],
      chunks: [2],
      dtype: "<M8[s]",
      items,
      dimensions: ["x"],
      fillValue: "NaT",
    });
    await convert(v2, v3, { to: "v3" });
    expect(await text(v2, v3)).toEqual([]);
    expect(await digestOf(v2)).not.toHaveProperty("missingValue");
  });

  it("that a v3 array lost or changed are reported, also by its digest", async () => {
    const cwd = await testFolder();
    const [v2, v3] = [join(cwd, "v2"), join(cwd, "v3")];
    await writeV2Array(v2, said);
    await convert(v2, v3, { to: "v3" });
    const document = join(v3, "zarr.json");
    const json = JSON.parse(await readFile(document, "utf8"));
    expect(await digestOf(v3)).toMatchObject({ missingValue: "-999" });
    delete json.attributes._FillValue;
    await writeFile(document, JSON.stringify(json));
    expect(await text(v2, v3)).toEqual([{ what: "missing value", one: "-999", two: undefined }]);
    expect(await digestOf(v3)).not.toHaveProperty("missingValue");
    expect((await digestOf(v3)).sha256).toBe((await digestOf(v2)).sha256);
    json.attributes._FillValue = "AAAAAAAAAEA=";
    await writeFile(document, JSON.stringify(json));
    expect(await text(v2, v3)).toEqual([{ what: "missing value", one: "-999", two: "2" }]);
  });
});

async function digestOf(url: string): Promise<ArrayDigest> {
  for await (const one of digest(url)) return one;
  throw new Error("no array");
}

describe("what cannot be read", () => {
  it("is a difference, and all other arrays are compared", async () => {
    const cwd = await testFolder();
    const small = { ...array, shape: [4, 6], chunks: [2, 3], items: ramp(24) };
    for (const name of ["a", "b"]) await writeV2Group(join(cwd, name), { s: small, t: small, u: small });
    await writeFile(join(cwd, "b/t/1.0"), "short");
    await writeV2Array(join(cwd, "b/u"), { ...small, items: ramp(24).map((value) => value + 1) });
    expect(await differences(join(cwd, "a"), join(cwd, "b"))).toEqual([
      { path: "t", what: "broken", counts: true, a: "array", b: expect.stringContaining("t/1.0") },
      expect.objectContaining({ path: "u", what: "values" }),
    ]);
    const broken: string[] = [];
    const paths: string[] = [];
    const onBroken = ({ path }: { readonly path: string }) => broken.push(path);
    for await (const { path } of digest(join(cwd, "b"), { onBroken })) paths.push(path);
    expect({ broken, paths }).toEqual({ broken: ["t"], paths: ["s", "u"] });
  });
});

describe("keys that are no Zarr", () => {
  it("are compared byte for byte, in folders and zips, unless values alone are asked for", async () => {
    const cwd = await testFolder();
    const small = { ...array, shape: [4, 6], chunks: [2, 3], items: ramp(24) };
    const [a, b, zip] = [join(cwd, "a"), join(cwd, "b"), join(cwd, "b.zip")];
    for (const place of [a, b]) {
      await writeV2Group(place, { t: small });
      await mkdir(join(place, "OME"));
      await writeFile(join(place, "OME/METADATA.ome.xml"), `<OME>${"x".repeat(99)}</OME>`);
    }
    await writeFile(join(a, "README"), "one");
    await writeFile(join(b, "t/notes"), "other");
    expect(await differences(a, a)).toEqual([]);
    const onlyOne = [
      { path: "README", what: "key", counts: true, a: 3, b: undefined },
      { path: "t/notes", what: "key", counts: true, a: undefined, b: 5 },
    ];
    expect(await differences(a, b)).toEqual(onlyOne);
    await writeFile(join(b, "OME/METADATA.ome.xml"), `<OME>${"y".repeat(99)}</OME>`);
    const other = { path: "OME/METADATA.ome.xml", what: "key", counts: true, a: 110, b: 110 };
    await copy(b, zip);
    for (const place of [b, zip]) expect(await differences(a, place)).toEqual([other, ...onlyOne]);
    expect(await differences(a, zip, { values: true })).toEqual([]);
    await expect(differences(a, zip, { values: true, strict: true })).rejects.toMatchObject({
      code: "invalid-option",
    });
  });

  it("of another format are compared, and its documents are not", async () => {
    const cwd = await testFolder();
    const [a, b] = [join(cwd, "a"), join(cwd, "b")];
    await writeV2Group(a, { t: { ...array, shape: [4, 6], chunks: [2, 3], items: ramp(24) } });
    await writeFile(join(a, "README"), "one");
    await convert(a, b, { to: "v3" });
    expect((await differences(a, b)).filter(({ what }) => what === "key")).toEqual([]);
    await writeFile(join(b, "README"), "two");
    expect(await differences(a, b)).toContainEqual({ path: "README", what: "key", counts: true, a: 3, b: 3 });
  });
});
