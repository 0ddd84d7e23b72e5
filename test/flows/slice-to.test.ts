// @module-tag slow
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import {
  type FlowEvent,
  open,
  openArray,
  openGroup,
  type SliceOption,
  slice,
  sliceTo,
  walk,
} from "../../src/index.ts";
import { consolidate } from "../../src/meta/consolidated.ts";
import { DirectoryStore } from "../../src/stores/directory.ts";
import { expectTrueConsolidation } from "../hierarchy/fresh-consolidation.ts";
import { testFolder } from "../support/cli.ts";
import { valuesIn } from "../support/consume.ts";
import { ramp, type V2Array, writeV2Array, writeV2Group } from "../support/v2-store.ts";

const array: V2Array = {
  shape: [7, 11, 13],
  chunks: [3, 4, 5],
  dimensions: ["t", "y", "x"],
  attributes: { units: "K" },
  fillValue: 0,
};

const dataOf = async (...of: Parameters<typeof slice>) => [...(await slice(...of).read()).data];

describe("a slice of an array", () => {
  async function written(): Promise<string> {
    const folder = join(await testFolder(), "a.zarr");
    await writeV2Array(folder, array);
    return folder;
  }

  it.each<[SliceOption | string, number[], number[]]>([
    [{ t: [1, 6, 2], x: [5, 13] }, [3, 11, 8], [3, 4, 5]],
    [{ t: 2, y: -1 }, [1, 1, 13], [1, 1, 5]],
    [{}, [7, 11, 13], [3, 4, 5]],
    [{ x: [4, 4] }, [7, 11, 0], [3, 4, 1]],
    ["0:2,:,1:12:3", [2, 11, 4], [2, 4, 4]],
  ])("holds the items of %j", async (option, shape, chunkShape) => {
    const folder = await written();
    await sliceTo(folder, `${folder}.part`, { slice: option, verify: true });
    const part = { kind: "array", shape, chunkShape, attributes: { units: "K" } };
    expect(await open(`${folder}.part`)).toMatchObject(part);
    expect(await dataOf(`${folder}.part`)).toEqual(await dataOf(folder, option));
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
    dtype: "<f4",
    items: ramp(length),
    dimensions: [name],
    attributes: { long_name: name },
  });
  const arrays: Record<string, V2Array> = {
    a: array,
    t: coordinate("t", 7),
    t_bnds: { shape: [7, 2], dimensions: ["t", "nv"] },
    y: coordinate("y", 11),
    plain: { shape: [7], chunks: [3] },
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

  it("cuts every array that has the dimension, and copies the others", async () => {
    const folder = await group();
    const taken = { t: [1, 6, 2], x: 3 } as const;
    await sliceTo(folder, `${folder}.part`, { slice: taken, verify: true });
    expect((await openGroup(`${folder}.part`)).attributes).toEqual({ title: "a group" });
    const expected = { a: [3, 11, 1], crs: [], plain: [7], t: [3], t_bnds: [3, 2], y: [11] };
    expect(await shapes(`${folder}.part`)).toEqual(expected);
    const { x: _, ...ofT } = taken;
    for (const [name, option] of [
      ["a", taken],
      ["t", ofT],
      ["t_bnds", ofT],
      ["plain", {}],
      ["y", {}],
      ["crs", {}],
    ] as const)
      expect(await dataOf(`${folder}.part/${name}`), name).toEqual(await dataOf(`${folder}/${name}`, option));
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
    const values = [...(await valuesIn(store))];
    const documents = new Map(values.filter(([key]) => /\.z[a-z]+$/.test(key)));
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

  it("refuses a dimension that arrays of one group have in different lengths, naming two of them", async () => {
    const folder = await group({ x: coordinate("x", 13), short: coordinate("x", 6) });
    const error = await sliceTo(folder, `${folder}.part`, { slice: { x: [0, 2] } }).catch((e) => e);
    expect(error).toMatchObject({ code: "invalid-selection", details: { path: "short" } });
    expect(error.message).toContain("13 items in a, and 6 in short");
    await sliceTo(folder, `${folder}.part`, { slice: { t: [0, 2] } });
    expect(await shapes(`${folder}.part`)).toMatchObject({ x: [13], short: [6], t: [2] });
  });

  it("takes groups below whole in which the dimension has another length, and says so", async () => {
    const t = coordinate("t", 7);
    const x = { "fine/x": coordinate("x", 26), "same/x": coordinate("x", 13) };
    const folder = await group({ ...x, "fine/t": t, "fine/deeper/t": t });
    const warnings: FlowEvent[] = [];
    const onEvent = (event: FlowEvent) => event.type === "warning" && warnings.push(event);
    await sliceTo(folder, `${folder}.part`, { slice: { x: [0, 2], t: [0, 3] }, onEvent });
    const whole = { "fine/x": [26], "fine/t": [7], "fine/deeper/t": [7] };
    expect(await shapes(`${folder}.part`)).toMatchObject({ a: [3, 11, 2], t: [3], ...whole, "same/x": [2] });
    const message = "this is copied whole, not sliced: dimension x has 13 items in a, and 26 in fine/x";
    expect(warnings).toMatchObject([{ path: "fine", message }]);
    const strict = sliceTo(folder, `${folder}.strict`, { slice: { x: [0, 2] }, strict: true });
    await expect(strict).rejects.toMatchObject({ code: "invalid-selection", details: { path: "fine" } });
    await sliceTo(folder, `${folder}.strict`, { slice: { x: [0, 2] }, strict: true, exclude: "fine" });
    expect(await shapes(`${folder}.strict`)).toMatchObject({ a: [7, 11, 2] });
  });

  it("takes what lies side by side in fewer items whole, and refuses where nothing is left to slice", async () => {
    const z = { "g/v": coordinate("z", 4), "h/v": coordinate("z", 5) };
    const folder = await group({ ...z, "g/x": coordinate("x", 2) });
    await sliceTo(folder, `${folder}.part`, { slice: { z: 0 } });
    expect(await shapes(`${folder}.part`)).toMatchObject({ "g/v": [4], "h/v": [1] });
    const strict = sliceTo(folder, `${folder}.strict`, { slice: { z: 0 }, strict: true });
    await expect(strict).rejects.toThrow("dimension z has 5 items in h/v, and 4 in g/v");
    const alone = sliceTo(folder, `${folder}.alone`, { slice: { x: 0, z: 0 }, exclude: "h" });
    await expect(alone).rejects.toThrow("no array with the dimension z can be sliced along all dimensions");
  });
});
