import { createHash } from "node:crypto";
import { cpSync } from "node:fs";
import { mkdir, readFile, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { PyramidMethod } from "../../src/flows/pyramid.ts";
import {
  append,
  convert,
  copy,
  createGroup,
  deleteNode,
  digestTree,
  exists,
  isZarrflowError,
  pyramid,
  rechunk,
  renameNode,
  resizeArray,
  slice,
  sliceTo,
  validate,
} from "../../src/index.ts";
import { FileSink } from "../../src/stores/files/file-sink.ts";
import { ZipWriter } from "../../src/stores/zip.ts";
import { temporaryFolder } from "../stores/temporary-folder.ts";
import { ramp, type V2Array, writeV2Group } from "../support/v2-store.ts";
import { hasPython, runPython } from "./python.ts";

const LONG = { timeout: 600_000 };
const folder = temporaryFolder();

/** A new folder. */
async function newFolder(): Promise<string> {
  const path = folder.next("f");
  await mkdir(path, { recursive: true });
  return path;
}

describe.runIf(hasPython)("flows, against xarray and NumPy", LONG, () => {
  test("what is appended is to xarray what its own to_zarr(append_dim=...) makes", async () => {
    const place = await newFolder();
    const names = (await runPython("append_cases.py", "write", place)) as string[];
    expect(names.length).toBe(24);
    for (const name of names) {
      await append(join(place, name, "rest.zarr"), join(place, name, "ours.zarr"), { dim: "time" });
    }
    expect(await runPython("append_cases.py", "compare", place)).toEqual({});
  });

  /** One variable of a dataset, as companion_cases.py describes it. */
  interface CompanionCase {
    readonly store: string;
    readonly variable: string;
    readonly slice: Readonly<Record<string, readonly [number, number, number]>>;
  }

  test("what belongs to a variable comes along: the coordinates of ds[[variable]]", async () => {
    const place = await newFolder();
    const cases = (await runPython("companion_cases.py", place)) as CompanionCase[];
    const made: (CompanionCase & { readonly made: string; readonly isSliced: boolean })[] = [];
    for (const [i, one] of cases.entries()) {
      const { store, variable, slice } = one;
      const target = (name: string, isSliced = false) => {
        const path = join(place, `${i}.${name}.zarr`);
        made.push({ ...one, made: path, isSliced });
        return path;
      };
      const [first = ""] = Object.keys(slice);
      await copy(store, target("copy"), { include: variable });
      await rechunk(store, target("rechunk"), { include: variable, chunks: { [first]: 1 } });
      const to = store.includes(".v2") ? "v3" : "v2";
      await convert(store, target("convert"), { include: variable, to });
      await sliceTo(store, target("group", true), { include: variable, slice });
      await sliceTo(`${store}/${variable}`, target("array", true), { slice });
    }
    expect(cases.length).toBe(12);
    expect(await runPython("companion_cases.py", place, JSON.stringify(made))).toEqual([]);
    for (const { made: target } of made.filter(({ store }) => store.includes("regular"))) {
      const members = {
        time_bnds: true,
        crs: true,
        t2m_error: true,
        cell_area: true,
        depth: false,
        other: false,
      };
      for (const [name, comes] of Object.entries(members))
        expect(await exists(`${target}/${name}`), `${target}/${name}`).toBe(comes);
    }
  });

  /** One selection, as label_cases.py describes it. */
  interface LabelCase {
    readonly array: string;
    readonly slice: string;
    readonly nearest: boolean;
    readonly items: readonly number[];
    readonly dropped: boolean | null;
  }

  /** The items that labels take; none where they are rejected for taking none. */
  async function labeled({ array, slice: text, nearest }: LabelCase) {
    try {
      const { data, shape } = await slice(array, text, { nearest }).read();
      return { items: Array.from(data as Iterable<number | bigint>, Number), rank: shape.length };
    } catch (error) {
      if (!isZarrflowError(error, "invalid-selection")) throw error;
      return { items: [], rank: 1 };
    }
  }

  test("500 random selections by labels take the items of xarray's sel", async () => {
    const cases = (await runPython("label_cases.py", await newFolder(), "500", "19")) as LabelCase[];
    const differing: string[] = [];
    let taken = 0;
    for (const one of cases) {
      const { items, rank } = await labeled(one);
      if (items.length > 0) taken++;
      const isDropped = one.dropped === null || items.length === 0 || rank === (one.dropped ? 0 : 1);
      if (`${items}` !== `${one.items}` || !isDropped)
        differing.push(`${one.array} ${one.slice}: ${one.items}, not ${items} of rank ${rank}`);
    }
    expect(differing).toEqual([]);
    expect(cases.length).toBe(500);
    expect(taken).toBeGreaterThan(250);
  });

  interface PyramidCase {
    readonly name: string;
    readonly methods: readonly PyramidMethod[];
    readonly axes: string;
    readonly factors: Readonly<Record<string, number>>;
  }

  test("levels are what NumPy makes of the one before, by every method, of many types, shapes and missing values", async () => {
    const place = await newFolder();
    const cases = (await runPython("pyramid_cases.py", "write", place)) as PyramidCase[];
    expect(cases.length).toBe(50);
    for (const [i, { name, methods, axes, factors }] of cases.entries()) {
      for (const method of methods) {
        // half of them within so little memory that levels are put together of blocks
        const options = { method, axes, factor: factors, levels: 4, maxMemory: i % 2 ? "256MB" : 400_000 };
        await pyramid(join(place, name, "source.zarr"), join(place, name, `${method}.zarr`), options);
      }
    }
    type Compared = { readonly differing: unknown; readonly compared: number };
    const { differing, compared } = (await runPython("pyramid_cases.py", "compare", place)) as Compared;
    expect(differing).toEqual({});
    expect(compared).toBeGreaterThan(400);
  });
});

describe.runIf(hasPython)("datasets of netCDF-C", LONG, () => {
  test("arrays with its filters are read, and rechunked", async () => {
    const place = await newFolder();
    const arrays = (await runPython("nczarr_filters.py", place)) as Record<string, number[]>;
    expect(Object.keys(arrays)).toContain("zlib-f4.zarr");
    for (const [name, values] of Object.entries(arrays)) {
      const target = join(place, `rechunked-${name}`);
      await rechunk(join(place, name), target, { chunks: { x: 700 } });
      for (const array of [join(place, name, "v"), join(target, "v")])
        expect([...((await slice(array).read()).data as Iterable<number>)], name).toEqual(values);
    }
  });

  test("it opens what it wrote, whatever became of its grids", async () => {
    const place = await newFolder();
    await runPython("nczarr_cases.py", "write", place);
    const at = (name: string) => join(place, name);
    const first = at("first");
    await sliceTo(first, at("slice"), { slice: { time: [0, 8, 2], y: [1, 3] } });
    await sliceTo(`${first}/t`, at("one"), { slice: { y: [1, 3] } });
    await copy(first, at("chosen"), { include: "t" });
    await copy(`${first}/g`, at("below"));
    await rechunk(first, at("rechunked"), { chunks: { y: 2 } });
    await pyramid(first, at("pyramid"), { levels: 2 });
    for (const name of ["appended", "resized", "edited"]) cpSync(first, at(name), { recursive: true });
    await append(at("more"), at("appended"), { dim: "time" });
    await resizeArray(`${at("resized")}/t`, [12, 2, 6]);
    await deleteNode(`${at("edited")}/time`);
    await renameNode(`${at("edited")}/t`, "g/u");
    const sum = (n: number) => (n * (n - 1)) / 2;
    const all = { time: 8, y: 4, x: 6 };
    const [t, time, w, any] = [[[8, 4, 6], sum(192)], [[8], sum(8)], [[3, 4], 12], expect.anything()];
    const expected = {
      edited: { "/": all, "/g/u": t, "/g/w": w },
      slice: { "/": { time: 4, y: 2, x: 6 }, "/t": [[4, 2, 6], any], "/g/w": [[3, 2], 6] },
      one: { "/": { time: 8, y: 2, x: 6 }, "/t": [[8, 2, 6], any] },
      chosen: { "/": all, "/t": t },
      below: { "/w": w },
      rechunked: { "/": all, "/t": t, "/time": time, "/g/w": w },
      pyramid: { "/0": all, "/0/t": t, "/1": { time: 8, y: 2, x: 3 }, "/1/t": [[8, 2, 3], sum(192) / 4] },
      appended: { "/": { ...all, time: 12 }, "/t": [[12, 4, 6], sum(288)], "/time": [[12], sum(12)] },
      resized: { "/": { ...all, time_12: 12, y_2: 2 }, "/t": [[12, 2, 6], any], "/time": time },
    };
    const found = await runPython("nczarr_cases.py", "read", place, ...Object.keys(expected));
    expect(found).toMatchObject(expected);
  });
});

describe.runIf(hasPython)("stores that we made, read by zarr-python, xarray and zipfile", LONG, () => {
  test.each([
    ["v3", "movie.zarr.zip", false],
    ["v3", "movie.zarr", true],
    ["v2", "movie.zarr.zip", true],
    ["v2", "movie.zarr", false],
  ] as const)(
    "frames of unknown number: %s, %s, consolidated: %j",
    async (zarrFormat, name, consolidated) => {
      const [count, height, width] = [1000, 20, 30];
      const target = folder.next(name);
      const hash = createHash("sha256");
      function* frames(): Generator<Float32Array> {
        for (let i = 0; i < count; i++) {
          const frame = Float32Array.from({ length: height * width }, (_, at) => i + at / 1024);
          hash.update(new Uint8Array(frame.buffer));
          yield frame;
        }
      }
      const attributes = { title: "a movie" };
      const group = await createGroup(target, { zarrFormat, attributes }, { consolidated });
      const movie = await group.create("frames", {
        ...{ shape: [0, height, width], chunks: [64, 8, 30], dataType: "float32", fillValue: Number.NaN },
        ...{ dimensionNames: ["time", "y", "x"], attributes: { units: "K" } },
      });
      await movie.append(frames());
      await movie.close();
      const time = await group.create("time", {
        ...{ shape: movie.shape.slice(0, 1), chunks: [-1], dataType: "int64", fillValue: -1 },
        ...{ dimensionNames: ["time"], attributes: { units: "hours since 2019-03-01" } },
      });
      const hours = BigInt64Array.from({ length: count }, (_, i) => BigInt(i));
      await time.write([], hours);
      await time.close();
      // xarray takes what equals the fill value for missing
      const ofLabels = { shape: [3], chunks: [2], dataType: "string", fillValue: null } as const;
      const label = await group.create("label", { ...ofLabels, dimensionNames: ["label"] });
      await label.write([], ["a", "", "höhe"]);
      await label.close();
      await group.close();

      expect(await runPython("open_frames.py", target)).toEqual({
        ...{ variables: ["frames", "label", "time"], attributes, dimensions: ["time", "y", "x"] },
        ...{ shape: [count, height, width], dtype: "float32", units: "K", labels: ["a", "", "höhe"] },
        ...{ times: ["2019-03-01T00", "2019-04-11T15"], at: Math.fround(999 + (19 * 30) / 1024) },
        sha256: hash.digest("hex"),
        arrays: { frames: [[64, 8, 30], 16 * 3], label: [[2], 2], time: [[count], 1] },
      });
    },
  );

  test("a tree of digests has the root of an implementation of its own, in both formats", async () => {
    const [a, b] = [folder.next("a.zarr"), folder.next("b.zarr")];
    const texts = Array.from({ length: 20_000 }, (_, i) => "ä".repeat(i % 7));
    const times = new BigInt64Array([0n, -(2n ** 63n), 5n]);
    const many = {
      shape: [90, 131_100],
      chunks: [90, 9000],
      dtype: "|u1",
      items: new Uint8Array(90 * 131_100),
    };
    const fixed = new Uint32Array([65, 0, 0, 66, 0x1f600, 0]);
    await writeV2Group(a, {
      edge: { shape: [3, 700, 300], chunks: [1, 350, 300] },
      "below/many": many,
      "below/text": { shape: [20_000], dtype: "|O", items: texts },
      "ä/times": { shape: [3], chunks: [2], dtype: "<M8[ns]", items: times },
      "Z/fixed": { shape: [2], dtype: "<U3", items: fixed },
      scalar: { shape: [], dtype: ">i2", items: new Uint8Array([1, 2]) },
      empty: { shape: [0, 4], chunks: [1, 4], dtype: "<f8", items: ramp(0) },
    });
    for (const name of ["below", "ä", "Z"]) await writeV2Group(join(a, name), {});
    await convert(a, b, { to: "v3", chunks: "edge:-1,7,300", shards: "edge:-1,350,300" });
    const tree = await digestTree(a);
    expect(await digestTree(b)).toEqual(tree);
    expect(tree.arrays).toHaveLength(7);
    const arrays = Object.fromEntries((tree.arrays ?? []).map(({ path, sha256 }) => [path, sha256]));
    for (const store of [a, b])
      expect(await runPython("digest_tree.py", store)).toEqual({ sha256: tree.sha256, arrays });
  });

  test("validate --fix writes what it reads: fill values, separators, consolidated metadata", async () => {
    const store = folder.next("g.zarr");
    const items = ramp(24);
    const array: V2Array = { shape: [4, 6], dtype: "<f4", items };
    await writeV2Group(store, { nan: array, unstated: array });
    const document = join(store, "nan/.zarray");
    const text = await readFile(document, "utf8");
    await writeFile(document, text.replace('"fill_value": null', '"fill_value": NaN'));
    await mkdir(join(store, "unstated/0"));
    await rename(join(store, "unstated/0.0"), join(store, "unstated/0/0"));
    const group = JSON.parse(await readFile(join(store, ".zgroup"), "utf8"));
    const consolidated = { metadata: { ".zgroup": group }, zarr_consolidated_format: 1 };
    await writeFile(join(store, ".zmetadata"), JSON.stringify(consolidated));
    const sha256 = createHash("sha256").update(items).digest("hex");
    const [some, other] = [expect.any(String), expect.not.stringContaining(sha256)];
    const before = await runPython("fixed_group.py", store);
    expect(before).toMatchObject({ arrays: { unstated: [some, other] }, consolidated: {} });
    for await (const { level } of validate(store, { fix: true })) expect(level).toBe("info");
    expect(await runPython("fixed_group.py", store)).toMatchObject({
      arrays: { nan: ["nan", sha256], unstated: [some, sha256] },
      consolidated: { nan: "nan", unstated: some },
    });
    expect(await readFile(document, "utf8")).toContain('"fill_value": "NaN"');
  });

  test.each([
    ["stored", {}],
    ["deflated", { deflate: 3 }],
  ])("a zip with values %s", async (name, options) => {
    const path = join(folder.path, `${name}.zip`);
    const writer = new ZipWriter(await FileSink.create(path), "zip test.zip", options);
    await writer.set("t2m/.zarray", Buffer.from("{}"));
    const value = await writer.openWriter("t2m/é");
    await value.write(new Uint8Array(100_000).map((_, i) => (i * i) >> 3));
    await value.commit();
    await writer.finish();
    expect(await runPython("list_zip.py", path)).toEqual({ names: ["t2m/.zarray", "t2m/é"], damaged: null });
  });
});
