// @module-tag slow
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { openKernelHeap } from "../../src/codecs/kernels/kernels.ts";
import { type ArrayDigest, convert, copy, diff, digest, rechunk } from "../../src/index.ts";
import { testFolder } from "../support/cli.ts";
import { all } from "../support/consume.ts";
import { given } from "../support/given.ts";
import { ramp, type V2Array, writeV2Array, writeV2Group } from "../support/v2-store.ts";

const array: V2Array = {
  ...{ shape: [300, 400], chunks: [70, 90], dimensions: ["y", "x"], fillValue: 0 },
  attributes: { units: "K", limits: [0, 1] },
};
const small = { ...array, shape: [4, 6], chunks: [2, 3] };

const differences = (...of: Parameters<typeof diff>) => all(diff(...of));

/** Two places in a folder, and groups or arrays that are written there. */
async function places(...nodes: readonly (V2Array | Readonly<Record<string, V2Array>>)[]) {
  const folder = await testFolder();
  const [a, b] = [join(folder, "a"), join(folder, "b")];
  for (const [i, node] of nodes.entries()) {
    const at = i === 0 ? a : b;
    await ("shape" in node
      ? writeV2Array(at, node as V2Array)
      : writeV2Group(at, node as Record<string, V2Array>));
  }
  return { a, b, folder };
}

describe("metadata", () => {
  it.each<[string, Partial<V2Array>, unknown, unknown]>([
    ["fill value", { fillValue: 1 }, "0", "1"],
    ["fill value", { fillValue: null }, "0", null],
    ["dimension names", { dimensions: ["y", "z"] }, ["y", "x"], ["y", "z"]],
    ["attribute", { attributes: { units: "K" } }, [0, 1], undefined],
    ["attribute", { attributes: { units: "K", limits: [0, 2] } }, [0, 1], [0, 2]],
    ["data type", { dtype: "<i4" }, "float32", "int32"],
    ["shape", { shape: [400, 300] }, [300, 400], [400, 300]],
  ])("reports: %s of %j", async (what, change, one, other) => {
    const { a, b } = await places(array, { ...array, ...change });
    const found = { path: "", what, counts: true, a: one, b: other };
    expect(await differences(a, b)).toEqual([expect.objectContaining(found)]);
  });

  it("takes numbers of attributes by their value, and names in any order", async () => {
    const { a, b } = await places(small, small);
    await writeFile(join(a, ".zattrs"), '{"x": 1.0, "y": {"p": 1, "q": [2]}}');
    await writeFile(join(b, ".zattrs"), '{"y": {"q": [2e0], "p": 1}, "x": 1}');
    expect(await differences(a, b)).toEqual([]);
  });

  it("reports nodes that only one has, and an array where a group is", async () => {
    const { a, b } = await places({ one: small, two: small }, { two: small, "one/inner": small });
    expect(await differences(a, b)).toMatchObject([
      { path: "one", what: "node", a: "array", b: "group" },
      { path: "one/inner", what: "node", a: undefined, b: "array" },
    ]);
  });
});

describe("values", () => {
  it("are the same whatever chunks, codecs and format, within a small budget", async () => {
    const { a, b, folder } = await places({ t: array });
    const c = join(folder, "c");
    await rechunk(a, b, { chunks: { y: 300, x: 20 }, codec: "zstd" });
    await convert(b, c, { to: "v3" });
    const events: number[] = [];
    const found = await differences(a, c, {
      maxMemory: 300_000,
      onEvent: (event) => event.type === "read" && events.push(event.bytes),
    });
    const said = found.map(({ what, counts }) => `${what} ${counts}`);
    expect(said).toEqual(["zarrFormat false", "chunks false", "codecs false"]);
    expect(events.at(-1)).toBe(480_000);
    expect(events.length).toBeGreaterThan(1);
    for (const { counts } of await differences(a, c, { strict: true })) expect(counts).toBe(true);
  });

  it("that differ are counted over all slabs, the first one named", async () => {
    const items = ramp(120_000);
    for (const at of [30_117, 30_118, 119_999]) items[at] = -at;
    const { a, b } = await places(array, { ...array, items, chunks: [300, 30] });
    const region = { start: [70, 90], shape: [70, 90] };
    const values = { count: 3, items: 120_000, first: [75, 117], region };
    for (const maxMemory of [250_000, 256e6]) {
      const found = await differences(a, b, { maxMemory });
      const expected = { a: "30117", b: "-30117", values };
      expect(found.filter(({ what }) => what === "values")).toEqual([expect.objectContaining(expected)]);
    }
  });

  it("of text are compared by length and bytes, and those of scalars and of empty arrays, too", async () => {
    const text = { shape: [3], dtype: "|O" };
    const [scalar, empty] = [{ shape: [] }, { shape: [0, 3], chunks: [1, 3] }];
    const { a, b } = await places(
      { e: empty, s: scalar, t: { ...text, items: ["ab", "c", ""] } },
      { e: empty, s: { ...scalar, items: Float32Array.of(5) }, t: { ...text, items: ["a", "bc", ""] } },
    );
    expect(await differences(a, b)).toMatchObject([
      { path: "s", a: "0", b: "5" },
      { path: "t", a: '"ab"', b: '"a"', values: { count: 2 } },
    ]);
  });

  it("of one are not read on where those of the other cannot be read", async () => {
    const { a, b } = await places();
    for (const at of [a, b])
      await given({ at, shape: [40, 512, 1024], dataType: "uint8", chunks: [1, 512, 1024], values: null });
    await mkdir(join(b, "c/0/0"), { recursive: true });
    await writeFile(join(b, "c/0/0/0"), "broken");
    const before = openKernelHeap();
    const found = {
      path: "",
      what: "broken",
      counts: true,
      a: "array",
      b: expect.stringContaining("c/0/0/0"),
    };
    expect(await differences(a, b, { maxMemory: 8e6 })).toEqual([found]);
    before?.close();
    const after = openKernelHeap();
    // Whoever still read would hold the heap open.
    expect(after?.heap).not.toBe(before?.heap);
    after?.close();
  });

  it("need the budget that the error names", async () => {
    const { a, b } = await places(array, { ...array, chunks: [300, 400] });
    const failure = await differences(a, b, { maxMemory: 100 }).catch((error) => error);
    expect(failure).toMatchObject({ code: "budget-too-small" });
    const maxMemory = Number(/at least (\d+) bytes/.exec(failure.message)?.[1]);
    expect(await differences(a, b, { maxMemory })).toHaveLength(1);
  });
});

describe("missing values", () => {
  const said = async (a: string, b: string) => {
    const counting = (await differences(a, b)).filter(({ counts }) => counts);
    return counting.map(({ what, a: one, b: two }) => `${what}: ${one} ${two}`);
  };
  const digestOf = async (url: string) => (await all(digest(url)))[0] as ArrayDigest;

  it("of a conversion are the same; those that a v3 array lost or changed are reported, also by its digest", async () => {
    const { a: v2, b: v3 } = await places({ ...small, fillValue: -999 });
    await convert(v2, v3, { to: "v3" });
    expect([await said(v2, v3), await said(v3, v2)]).toEqual([[], []]);
    const document = join(v3, "zarr.json");
    const json = JSON.parse(await readFile(document, "utf8"));
    expect(await digestOf(v3)).toMatchObject({ missingValue: "-999" });
    delete json.attributes._FillValue;
    await writeFile(document, JSON.stringify(json));
    expect(await said(v2, v3)).toEqual(["missing value: -999 undefined"]);
    expect(await digestOf(v3)).not.toHaveProperty("missingValue");
    expect((await digestOf(v3)).sha256).toBe((await digestOf(v2)).sha256);
    json.attributes._FillValue = "AAAAAAAAAEA=";
    await writeFile(document, JSON.stringify(json));
    expect(await said(v2, v3)).toEqual(["missing value: -999 2"]);
  });

  it("are none of times, which have a NaT that every reader knows", async () => {
    const times = { shape: [2], dtype: "<M8[s]", items: BigInt64Array.of(0n, 1n), fillValue: "NaT" };
    const { a: v2, b: v3 } = await places({ ...times, dimensions: ["x"] });
    await convert(v2, v3, { to: "v3" });
    expect(await said(v2, v3)).toEqual([]);
    expect(await digestOf(v2)).not.toHaveProperty("missingValue");
  });
});

it("what cannot be read is a difference, and all other arrays are compared", async () => {
  const other = { ...small, items: ramp(24).map((value) => value + 1) };
  const { a, b } = await places({ s: small, t: small, u: small }, { s: small, t: small, u: other });
  await writeFile(join(b, "t/1.0"), "short");
  expect(await differences(a, b)).toEqual([
    { path: "t", what: "broken", counts: true, a: "array", b: expect.stringContaining("t/1.0") },
    expect.objectContaining({ path: "u", what: "values" }),
  ]);
  const broken: string[] = [];
  const digests = await all(digest(b, { onBroken: ({ path }) => broken.push(path) }));
  expect({ broken, paths: digests.map(({ path }) => path) }).toEqual({ broken: ["t"], paths: ["s", "u"] });
});

describe("keys that are no Zarr", () => {
  const key = (path: string, a: number | undefined, b: number | undefined) => ({
    ...{ path, what: "key", counts: true, a, b },
  });
  const XML = "OME/METADATA.ome.xml";

  it("are compared byte for byte, in folders and zips, unless values alone are asked for", async () => {
    const { a, b, folder } = await places({ t: small }, { t: small });
    for (const place of [a, b]) await mkdir(join(place, "OME"));
    for (const place of [a, b]) await writeFile(join(place, XML), `<OME>${"x".repeat(99)}</OME>`);
    await writeFile(join(a, "README"), "one");
    await writeFile(join(b, "t/notes"), "other");
    expect(await differences(a, a)).toEqual([]);
    const onlyOne = [key("README", 3, undefined), key("t/notes", undefined, 5)];
    expect(await differences(a, b)).toEqual(onlyOne);
    await writeFile(join(b, XML), `<OME>${"y".repeat(99)}</OME>`);
    const zip = join(folder, "b.zip");
    await copy(b, zip);
    for (const place of [b, zip])
      expect(await differences(a, place)).toEqual([key(XML, 110, 110), ...onlyOne]);
    expect(await differences(a, zip, { values: true })).toEqual([]);
    const both = differences(a, zip, { values: true, strict: true });
    await expect(both).rejects.toMatchObject({ code: "invalid-option" });
  });

  it("of another format are compared, and its documents are not", async () => {
    const { a, b } = await places({ t: small });
    await writeFile(join(a, "README"), "one");
    await convert(a, b, { to: "v3" });
    const keys = async () => (await differences(a, b)).filter(({ what }) => what === "key");
    expect(await keys()).toEqual([]);
    await writeFile(join(b, "README"), "two");
    expect(await keys()).toEqual([key("README", 3, 3)]);
  });
});
