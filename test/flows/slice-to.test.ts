// @module-tag slow
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { open, openArray, openGroup, type SliceOption, slice, sliceTo, walk } from "../../src/index.ts";
import { consolidate } from "../../src/meta/consolidated.ts";
import { DirectoryStore } from "../../src/stores/directory.ts";
import { expectTrueConsolidation } from "../hierarchy/fresh-consolidation.ts";
import { testFolder } from "../support/cli.ts";
import { ramp, type V2Array, writeV2Array, writeV2Group } from "../support/v2-store.ts";

const array: V2Array = {
  shape: [7, 11, 13],
  chunks: [3, 4, 5],
  dtype: "<f4",
  items: ramp(1001),
  dimensions: ["t", "y", "x"],
  attributes: { units: "K" },
  fillValue: 0,
};

async function written(): Promise<string> {
  const folder = join(await testFolder(), "a.zarr");
  await writeV2Array(folder, array);
  return folder;
}

describe("a slice as Zarr", () => {
  it.each<{ option: SliceOption | string; shape: number[]; chunks: number[] }>([
    { option: { t: [1, 6, 2], x: [5, 13] }, shape: [3, 11, 8], chunks: [3, 4, 5] },
    { option: { t: 2, y: -1 }, shape: [1, 1, 13], chunks: [1, 1, 5] },
    { option: {}, shape: [7, 11, 13], chunks: [3, 4, 5] },
    { option: { x: [4, 4] }, shape: [7, 11, 0], chunks: [3, 4, 1] },
    { option: "0:2,:,1:12:3", shape: [2, 11, 4], chunks: [2, 4, 4] },
  ])("holds the items of $option", async ({ option, shape, chunks }) => {
    const folder = await written();
    await sliceTo(folder, `${folder}.part`, { slice: option, verify: true });
    const part = await open(`${folder}.part`);
    expect(part).toMatchObject({ kind: "array", shape, chunkShape: chunks, attributes: { units: "K" } });
    const expected = await slice(folder, option).read();
    const found = await slice(`${folder}.part`).read();
    expect([...found.data]).toEqual([...expected.data]);
  });

  it("takes other chunks, codec, format and container on the way", async () => {
    const folder = await written();
    await sliceTo(folder, `${folder}.part.zip`, {
      slice: { y: [2, 9] },
      chunks: { t: -1, y: -1, x: 2 },
      codec: "zstd",
      to: "v3",
    });
    const part = await open(`${folder}.part.zip`);
    expect(part).toMatchObject({ shape: [7, 7, 13], chunkShape: [7, 7, 2], dimensionNames: ["t", "y", "x"] });
    expect(part.layout.zarrFormat).toBe("v3");
    const expected = await slice(folder, { y: [2, 9] }).read();
    expect([...(await slice(`${folder}.part.zip`).read()).data]).toEqual([...expected.data]);
  });

  it("is cut within the array", async () => {
    const folder = await written();
    const outside = sliceTo(folder, `${folder}.part`, { slice: { t: 7 } });
    await expect(outside).rejects.toMatchObject({ code: "invalid-selection" });
  });
});

describe("a slice of a group", () => {
  const coordinate = (name: string, length: number): V2Array => ({
    shape: [length],
    chunks: [length],
    dtype: "<f4",
    items: ramp(length),
    dimensions: [name],
    attributes: { long_name: name },
  });
  const arrays: Record<string, V2Array> = {
    a: array,
    t: coordinate("t", 7),
    t_bnds: { shape: [7, 2], chunks: [7, 2], dtype: "<f4", items: ramp(14), dimensions: ["t", "nv"] },
    y: coordinate("y", 11),
    plain: { shape: [7], chunks: [3], dtype: "<f4", items: ramp(7) },
    crs: { shape: [], chunks: [], dtype: "<i4", items: Int32Array.of(1), dimensions: [] },
  };

  async function group(more: Record<string, V2Array> = {}): Promise<string> {
    const folder = join(await testFolder(), "g.zarr");
    await writeV2Group(folder, { ...arrays, ...more }, { title: "a group" });
    return folder;
  }

  async function shapes(url: string): Promise<Record<string, readonly number[]>> {
    const found: Record<string, readonly number[]> = {};
    for await (const node of walk(await openGroup(url)))
      if (node.kind === "array") found[node.path] = node.shape;
    return found;
  }

  const dataOf = async (url: string, option: SliceOption = {}) => [...(await slice(url, option).read()).data];

  it("cuts every array that has the dimension, and copies the others", async () => {
    const folder = await group();
    await sliceTo(folder, `${folder}.part`, { slice: { t: [1, 6, 2], x: 3 }, verify: true });
    const part = await openGroup(`${folder}.part`);
    expect(part.attributes).toEqual({ title: "a group" });
    expect(await shapes(`${folder}.part`)).toEqual({
      a: [3, 11, 1],
      crs: [],
      plain: [7],
      t: [3],
      t_bnds: [3, 2],
      y: [11],
    });
    for (const name of ["t", "t_bnds"]) {
      const expected = await dataOf(`${folder}/${name}`, { t: [1, 6, 2] });
      expect(await dataOf(`${folder}.part/${name}`), name).toEqual(expected);
    }
    expect(await dataOf(`${folder}.part/a`)).toEqual(await dataOf(`${folder}/a`, { t: [1, 6, 2], x: 3 }));
    for (const name of ["plain", "y", "crs"]) {
      expect(await dataOf(`${folder}.part/${name}`), name).toEqual(await dataOf(`${folder}/${name}`));
    }
  });

  it("takes other chunks, codec, format and container on the way", async () => {
    const folder = await group();
    await sliceTo(folder, `${folder}.zip`, { slice: "t=2:5", chunks: "t=-1,y=4", codec: "zstd", to: "v3" });
    const a = await openArray(`${folder}.zip/a`);
    expect(a).toMatchObject({ shape: [3, 11, 13], chunkShape: [3, 4, 5], dimensionNames: ["t", "y", "x"] });
    expect(await dataOf(`${folder}.zip/a`)).toEqual(await dataOf(`${folder}/a`, { t: [2, 5] }));
    expect((await openArray(`${folder}.zip/t`)).layout.zarrFormat).toBe("v3");
  });

  it("with nothing of a dimension left has empty arrays, and no chunks of theirs", async () => {
    const folder = await group();
    await sliceTo(folder, `${folder}.part`, { slice: { t: [3, 3] } });
    expect(await shapes(`${folder}.part`)).toMatchObject({ a: [0, 11, 13], t: [0], y: [11] });
    expect((await readdir(`${folder}.part/t`)).filter((name) => /^\d/.test(name))).toEqual([]);
  });

  it("keeps consolidated metadata true", async () => {
    const folder = await group();
    const store = new DirectoryStore(folder);
    const documents = new Map<string, Uint8Array>();
    for await (const { key } of store.list("")) {
      if (/\.z[a-z]+$/.test(key)) documents.set(key, (await store.get(key)) ?? new Uint8Array());
    }
    await store.set(".zmetadata", consolidate("v2", "", documents).get(".zmetadata") ?? new Uint8Array());
    await sliceTo(folder, `${folder}.part`, { slice: { t: [0, 2] } });
    await expectTrueConsolidation(new DirectoryStore(`${folder}.part`));
  });

  it.each<[string, SliceOption | string, string, string]>([
    ["ranges in order", "0:2", "invalid-option", "time=0:24"],
    ["an unknown dimension", { tt: 0 }, "invalid-selection", "Did you mean `t`?"],
    ["a range beyond it", { t: 8 }, "invalid-selection", ""],
  ])("refuses %s", async (_, option, code, hint) => {
    const folder = await group();
    const error = await sliceTo(folder, `${folder}.part`, { slice: option }).catch((e) => e);
    expect(error).toMatchObject({ code, details: { hint: expect.stringContaining(hint) } });
  });

  it("refuses a dimension that arrays have in different lengths, naming two of them", async () => {
    const level = (size: number) => ({ ...coordinate("x", size) });
    const folder = await group({ "levels/0": level(13), "levels/1": level(6) });
    const error = await sliceTo(folder, `${folder}.part`, { slice: { x: [0, 2] } }).catch((e) => e);
    expect(error).toMatchObject({ code: "invalid-selection", details: { path: "levels/1" } });
    expect(error.message).toContain("13 items in a, and 6 in levels/1");
    await sliceTo(folder, `${folder}.part`, { slice: { t: [0, 2] } });
    expect(await shapes(`${folder}.part`)).toMatchObject({ "levels/0": [13], "levels/1": [6], t: [2] });
  });
});
