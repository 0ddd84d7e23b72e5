import { describe, expect, test } from "vitest";
import { type FlowEvent, openGroup, pyramid, setAttributes } from "../../../src/index.ts";
import { MemoryStore } from "../../../src/stores/memory.ts";
import { itemsOf } from "../../support/consume.ts";
import { type GivenArray, given } from "../../support/given.ts";
import { imageAttributes, imageNodes, makeImage } from "../../support/ome-images.ts";

const shapes = [[8, 8]];
const axes = ["y", "x"];
/** Labels far apart: means of them are no labels. */
const LABELS = Uint16Array.from({ length: 64 }, (_, i) => [0, 900, 17, 4][(i * 7 + (i >> 3)) % 4] ?? 0);

/** An image of one level with these items. */
async function image(
  zarrFormat: "v2" | "v3",
  more: object = {},
  array: object = {},
  values: Uint16Array | boolean[] = LABELS,
) {
  const level = { dataType: "uint16", shape: [8, 8], chunks: [4, 4], fillValue: 0, ...array, values };
  const attributes = imageAttributes({ zarrFormat, axes, shapes }, more);
  return given({ zarrFormat, attributes, arrays: { 0: level } });
}

/** The most frequent item of each block of 2 x 2, of several the least, as plain loops find it. */
function modes(items: ArrayLike<number>): number[] {
  return Array.from({ length: 16 }, (_, at) => {
    const [y, x] = [2 * Math.floor(at / 4), 2 * (at % 4)];
    const block = [0, 1, 8, 9].map((d) => items[8 * y + x + d] ?? 0).sort((a, b) => a - b);
    const times = (one: number) => block.filter((n) => n === one).length;
    return block.toSorted((a, b) => times(b) - times(a))[0] ?? 0;
  });
}

describe.each(["v2", "v3"] as const)("without a method, in %s", (zarrFormat) => {
  const made = async (source: Parameters<typeof pyramid>[0], options: object = {}) => {
    const target = new MemoryStore();
    const report = await pyramid(source, target, { levels: 2, ...options });
    return { report, target, values: await itemsOf(target, "1") };
  };

  test("a label image is made by mode, and says why", async () => {
    const source = await image(zarrFormat, { "image-label": {} });
    const { report, values, target } = await made(source);
    expect(values).toEqual(modes(LABELS));
    expect(values.every((value) => LABELS.includes(Number(value)))).toBe(true);
    const arrays = [{ method: "mode", reason: "labels: image-label" }];
    expect(report).toMatchObject({ method: "mode", arrays });
    expect(report.levels[1]?.translation).toEqual([0.5, 0.5]);
    expect(JSON.stringify((await openGroup(target)).attributes)).toContain('"type":"mode"');
    const level = await made({ store: source, path: "0" });
    expect(level.report.arrays[0]?.reason).toBe("labels: image-label");
    const dry = await pyramid(source, new MemoryStore(), { levels: 2, dryRun: true });
    expect(dry.arrays[0]?.reason).toBe("labels: image-label");
  });

  test("what lies below `labels` is labels, whatever its metadata say", async () => {
    const recipe = { zarrFormat, axes, shapes };
    const attributes = imageAttributes(recipe);
    const plain = { dataType: "uint16", shape: [8, 8], chunks: [4, 4], values: LABELS };
    const arrays = { ...imageNodes(recipe, "labels/cells").arrays, "labels/plain": plain };
    const groups = { "labels/cells": { attributes } };
    const store = await given({ zarrFormat, attributes, groups, arrays });
    for (const path of ["labels/cells", "labels/cells/0", "labels/plain"]) {
      const { report } = await made({ store, path });
      expect(report.arrays[0], path).toMatchObject({ method: "mode", reason: "labels: below `labels`" });
    }
    expect((await made({ store, path: "labels/plain" })).values).toEqual(modes(LABELS));
  });

  test("the background counts, even where it is the fill value of a variable", async () => {
    const items = Uint16Array.from({ length: 64 }, (_, i) => (i % 4 === 0 ? 900 : 0));
    const missing = zarrFormat === "v3" && { attributes: { _FillValue: 0 } };
    const array = { dimensionNames: ["y", "x"], ...missing };
    const { values } = await made(await image(zarrFormat, { "image-label": {} }, array, items));
    expect(values).toEqual(modes(items));
    expect(new Set(values)).toEqual(new Set([0]));
  });

  test("masks of truth values, and arrays with flags of CF, are made by mode", async () => {
    const items = Array.from({ length: 64 }, (_, i) => i % 3 === 0);
    const mask = await made(await image(zarrFormat, {}, { dataType: "bool", fillValue: false }, items));
    expect(mask.report.arrays[0]).toMatchObject({ method: "mode", reason: "a mask: bool" });
    for (const name of ["flag_values", "flag_masks", "flag_meanings"]) {
      const array = { attributes: { [name]: name === "flag_meanings" ? "sea land" : [0, 900] } };
      const { report, values } = await made(await image(zarrFormat, {}, array));
      expect(report.arrays[0]).toMatchObject({ method: "mode", reason: `classes: ${name}` });
      expect(values).toEqual(modes(LABELS));
    }
  });

  test("an image is made by mean; a method that is asked for is taken as asked", async () => {
    const { report } = await made(await image(zarrFormat));
    expect(report.arrays[0]).toMatchObject({ method: "mean", reason: "by default" });
    const labels = await image(zarrFormat, { "image-label": {} });
    for (const method of ["nearest", "mean", "max"] as const) {
      const { report } = await made(labels, { method });
      expect(report.arrays[0]).toMatchObject({ method, reason: "as asked" });
    }
  });
});

test("of a data set each array has the method that fits it, and says why", async () => {
  const arrays: Record<string, GivenArray> = {};
  const add = (name: string, dimensionNames: readonly string[], more: object = {}) => {
    const shape = dimensionNames.map(() => 4);
    arrays[name] = { dataType: "uint8", shape, dimensionNames, values: null, ...more };
  };
  add("t", ["y", "x"], { attributes: { coordinates: "height" } });
  add("height", ["y", "x"]);
  add("mask", ["y", "x"], { dataType: "bool" });
  add("kind", ["y", "x"], { attributes: { flag_meanings: "a b" } });
  add("y", ["y"], { dataType: "float64" });
  const store = await given({ arrays });
  const reasonsBy = async (options: object) => {
    const report = await pyramid(store, new MemoryStore(), { levels: 2, dryRun: true, ...options });
    const reasons = report.arrays.map(({ name, method, reason }) => [name, `${method}: ${reason}`]);
    return { all: report.method, ...Object.fromEntries(reasons) };
  };
  const usual = {
    ...{ all: "mean", t: "mean: by default", height: "mean: named in `coordinates`" },
    ...{ mask: "mode: a mask: bool", kind: "mode: classes: flag_meanings", y: "mean: a coordinate" },
  };
  expect(await reasonsBy({})).toEqual(usual);
  expect(await reasonsBy({ method: "mean" })).toEqual({ ...usual, t: "mean: as asked" });
  const most = { t: "max: as asked", kind: "max: as asked", y: usual.y };
  expect(await reasonsBy({ method: "max" })).toMatchObject(most);
  const nearest = { y: "nearest: as asked", mask: "nearest: as asked" };
  expect(await reasonsBy({ method: "nearest" })).toMatchObject(nearest);
});

test("labels that leave their image say so, but where they go to the labels of another", async () => {
  const store = await makeImage({ zarrFormat: "v3", axes, shapes, labels: ["cells"] });
  const warned = async (target: { store: MemoryStore; path: string } | MemoryStore) => {
    const warnings: string[] = [];
    const onEvent = (event: FlowEvent) => void (event.type === "warning" && warnings.push(event.message));
    await pyramid({ store, path: "labels/cells" }, target, { levels: 2, onEvent });
    return warnings;
  };
  const warning = "the image of these labels, `../../` from here, does not come along";
  expect(await warned(new MemoryStore())).toEqual([warning]);
  const other = await makeImage({ zarrFormat: "v3", axes, shapes });
  await setAttributes(await openGroup(other), { title: "other" });
  expect(await warned({ store: other, path: "labels/cells" })).toEqual([]);
});
