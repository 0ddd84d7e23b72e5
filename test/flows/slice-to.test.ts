import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { open, type SliceOption, slice, sliceTo } from "../../src/index.ts";
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

  it("takes other chunks, codec, dialect and container on the way", async () => {
    const folder = await written();
    await sliceTo(folder, `${folder}.part.zip`, {
      slice: { y: [2, 9] },
      chunks: { t: -1, y: -1, x: 2 },
      codec: "zstd",
      to: "v3",
    });
    const part = await open(`${folder}.part.zip`);
    expect(part).toMatchObject({ shape: [7, 7, 13], chunkShape: [7, 7, 2], dimensionNames: ["t", "y", "x"] });
    expect(part.layout.dialect).toBe("v3");
    const expected = await slice(folder, { y: [2, 9] }).read();
    expect([...(await slice(`${folder}.part.zip`).read()).data]).toEqual([...expected.data]);
  });

  it("is cut out of an array, not of a group, and within it", async () => {
    const folder = join(await testFolder(), "g.zarr");
    await writeV2Group(folder, { t: array });
    const target = `${folder}.part`;
    await expect(sliceTo(folder, target, { slice: { t: 0 } })).rejects.toMatchObject({
      code: "invalid-option",
    });
    const outside = sliceTo(`${folder}/t`, target, { slice: { t: 7 } });
    await expect(outside).rejects.toMatchObject({ code: "invalid-selection" });
  });
});
