import { describe, expect, test } from "vitest";
import {
  type FlowEvent,
  isZarrflowError,
  openArray,
  openGroup,
  pyramid,
  setAttributes,
} from "../../../src/index.ts";
import { MemoryStore } from "../../../src/stores/memory.ts";
import { itemsOf } from "../../support/consume.ts";
import { type GivenArray, given } from "../../support/given.ts";
import { type ImageRecipe, imageAttributes, imageNodes, makeImage } from "../../support/ome-images.ts";

const level = (y: number, x: number) => [2, y, x];
const recipe: Omit<ImageRecipe, "zarrFormat"> = {
  ...{ axes: ["c", "y", "x"], shapes: [level(12, 16), level(6, 8)], itemSize: [1, 0.5, 0.25] },
  translations: [0, 0.5].map((half) => [0, 10 + half / 2, 20 + half / 4]),
  omero: { channels: [{ label: "a" }, { label: "b" }] },
};
/** Where the levels of it lie, and one more. */
const PLACED = [
  { scale: [1, 0.5, 0.25], translation: [0, 10, 20] },
  { scale: [1, 1, 0.5], translation: [0, 10.25, 20.125] },
  { scale: [1, 2, 1], translation: [0, 10.75, 20.375] },
];
const VERSIONS = [
  ["0.4", { zarrFormat: "v2" }],
  ["0.5", { zarrFormat: "v3" }],
  ["0.6", { zarrFormat: "v3", version: "0.6" }],
] as const;
type Attributes = Record<string, unknown>;

/** What an image says of itself, in the words of 0.5. */
async function stated(store: MemoryStore, path = "") {
  const { attributes } = await openGroup({ store, path });
  const ome = (attributes.ome ?? attributes) as Attributes;
  const [multiscale = {}] = ome.multiscales as Attributes[];
  const [system] = (multiscale.coordinateSystems ?? []) as Attributes[];
  const datasets = multiscale.datasets as { path: string; coordinateTransformations: Attributes[] }[];
  const placed = datasets.map((one) => {
    const parts = one.coordinateTransformations.flatMap(
      (part) => (part.transformations ?? part) as Attributes[],
    );
    const found = parts.map(({ scale, translation }) => (scale ? { scale } : { translation }));
    return Object.assign({}, ...found) as { scale: number[]; translation: number[] };
  });
  const version = ome.version ?? multiscale.version;
  return { version, axes: multiscale.axes ?? system?.axes, placed, multiscale, ome, datasets };
}

const failure = async (source: Parameters<typeof pyramid>[0], options: object = {}) =>
  pyramid(source, new MemoryStore(), { levels: 2, ...options }).then(
    () => "it was made",
    (error: unknown) => (isZarrflowError(error) ? `${error.message} ${error.details.hint}` : error),
  );

describe.each(VERSIONS)("a pyramid of an image of %s", (version, form) => {
  test("is of that version, with its axes, channels and place", async () => {
    const source = await makeImage({ ...recipe, ...form });
    const target = new MemoryStore();
    const { convention } = await pyramid(source, target, { levels: 3 });
    expect(convention).toBe(`OME-Zarr ${version}`);
    const [before, after] = [await stated(source), await stated(target)];
    expect(after).toMatchObject({ version, axes: before.axes });
    expect(after.placed).toEqual(PLACED);
    expect(after.ome.omero).toEqual(before.ome.omero);
    expect("axes" in after.multiscale).toBe(version !== "0.6");
    const [first, second] = after.datasets.map((one) => one.coordinateTransformations);
    if (version === "0.6") {
      expect(first).toMatchObject([{ type: "sequence", input: { path: "0" }, output: { name: "physical" } }]);
      expect(second).toMatchObject([{ type: "sequence", input: { path: "1" } }]);
      expect(after.multiscale.coordinateSystems).toEqual(before.multiscale.coordinateSystems);
    } else expect(first).toMatchObject([{ type: "scale" }, { type: "translation" }]);
  });

  test("from one level on has what the image says of that level", async () => {
    const source = await makeImage({ ...recipe, ...form });
    const target = new MemoryStore();
    await pyramid({ store: source, path: "1" }, target, { levels: 2 });
    const [before, after] = [await stated(source), await stated(target)];
    expect(after).toMatchObject({ version, axes: before.axes });
    expect(after.placed).toEqual(PLACED.slice(1));
    expect(after.ome.omero).toEqual(before.ome.omero);
    expect((await openArray({ store: target, path: "1" })).shape).toEqual([2, 3, 4]);
  });

  test("takes no other axes than it states", async () => {
    const source = await makeImage({ ...recipe, ...form });
    expect(await failure(source, { axes: "zyx" })).toMatch(/the image states different axes.*cyx.*zyx/);
    const ofLevel = await failure({ store: source, path: "0" }, { axes: "zyx" });
    expect(ofLevel).toMatch(/the image states different axes/);
    expect(await failure(source, { axes: "cyx" })).toBe("it was made");
  });

  test("is refused where it states more or fewer axes than its array has", async () => {
    const { translations: _, ...rest } = { ...recipe, ...form, itemSize: [1, 1, 1, 1] };
    const shapes = recipe.shapes.map((shape) => [1, ...shape]);
    const attributes = imageAttributes({ ...rest, axes: ["t", "c", "y", "x"], shapes });
    const nodes = imageNodes({ ...recipe, ...form });
    const store = await given({ zarrFormat: form.zarrFormat, attributes, ...nodes });
    expect(await failure(store)).toMatch(/the axes of the image do not match those of its array.*t, c, y, x/);
  });
});

describe("a pyramid", () => {
  test("of an image of 0.6 is not written to v2, and of a version that is not known is refused", async () => {
    const draft = await makeImage({ ...recipe, zarrFormat: "v3", version: "0.6" });
    expect(await failure(draft, { to: "v2" })).toMatch(/OME-Zarr 0.6 has no counterpart in Zarr v2/);
    const source = await makeImage({ ...recipe, zarrFormat: "v3" });
    const { attributes } = await openGroup(source);
    await setAttributes(await openGroup(source), { ome: { ...(attributes.ome as object), version: "0.7" } });
    expect(await failure(source)).toMatch(/OME-Zarr 0.7 is not known/);
  });

  test("of an image whose transformations lead to arrays that it would not have is refused", async () => {
    const source = await makeImage({ ...recipe, zarrFormat: "v3", version: "0.6" });
    const { multiscale } = await stated(source);
    const ends = { input: { name: "physical" }, output: { name: "atlas" } };
    const transformations = [{ type: "displacements", path: "warp", ...ends }];
    const coordinateTransformations = [{ type: "sequence", transformations }];
    const multiscales = [{ ...multiscale, coordinateTransformations }];
    await setAttributes(await openGroup(source), { ome: { version: "0.6", multiscales } });
    expect(await failure(source)).toMatch(/lead to `warp`/);
  });

  test("of an array takes other names for its axes only where its own are none", async () => {
    const turned = await makeImage({ ...recipe, zarrFormat: "v3", dimensionNames: ["c", "x", "y"] });
    const other = /the axes of the image do not match those of its array.*c, x, y.*c, y, x/;
    expect(await failure(turned)).toMatch(other);
    for (const [dimensionNames, axes, expected] of [
      [["z", "y", "x"], "cyx", /the dimensions of the array have different names.*z, y, x.*cyx/],
      [["z", "y", "x"], "zyx", /^it was made$/],
      [["depth", "lat", "lon"], "zyx", /^it was made$/],
      [["time", "lat", "lon"], "tyx", /^it was made$/],
      [["time", "lat", "lon"], "cyx", /have different names/],
      // channels that lie last are no image
      [["y", "x", "c"], undefined, /the axes of the image are unknown/],
      [[null, null, null], "yxc", /in this order/],
    ] as const) {
      const array = await given({ dataType: "uint8", shape: [2, 4, 4], dimensionNames, values: null });
      expect(await failure(array, axes ? { axes } : {})).toMatch(expected);
    }
  });

  test("of a dataset takes no axes, and of items that are no numbers is refused", async () => {
    const a = { dataType: "complex64", shape: [4, 4], dimensionNames: ["y", "x"], values: null };
    const store = await given({ arrays: { a } });
    expect(await failure(store, { axes: "yx" })).toMatch(/axes apply to arrays.*omit --axes/);
    expect(await failure(store)).toMatch(/pyramids can be built only from numbers, not from complex64/);
    expect(await failure({ store, path: "a" })).toMatch(
      /pyramids can be built only from numbers, not from complex64/,
    );
  });

  test("by factors that leave every axis as it is says which are missing", async () => {
    const source = await makeImage({ ...recipe, axes: ["z", "y", "x"], zarrFormat: "v3" });
    expect(await failure(source, { factor: "z=1" })).toMatch(
      /axes without a factor keep their length.*Add y=2,x=2 to --factor/,
    );
    expect(await failure(source, { factor: { z: 1, y: 1 } })).toMatch(/Add x=2 to/);
    expect(await failure(source, { factor: 1 })).toMatch(/with a factor of 1 nothing shrinks/);
    expect(await failure(source, { factor: "z=1", levels: 1 })).toBe("it was made");
  });

  test("of several images in one group says that it has the first", async () => {
    const source = await makeImage({ ...recipe, zarrFormat: "v3" });
    const { multiscale } = await stated(source);
    const ome = { version: "0.5", multiscales: [multiscale, multiscale] };
    await setAttributes(await openGroup(source), { ome });
    const warnings: string[] = [];
    const onEvent = (event: FlowEvent) => void (event.type === "warning" && warnings.push(event.message));
    await pyramid(source, new MemoryStore(), { levels: 2, onEvent });
    expect(warnings).toEqual(["this is the first of 2 images of the group"]);
  });
});

describe.each(["v2", "v3"] as const)("groups of images that are none themselves, in %s", (zarrFormat) => {
  const inOme = (members: Attributes): Attributes =>
    zarrFormat === "v2" ? members : { ome: { version: "0.5", ...members } };

  test("are named, with the path of an image", async () => {
    const wells = [{ path: "B/3", rowIndex: 0, columnIndex: 0 }];
    const { arrays, groups } = imageNodes({ ...recipe, zarrFormat, labels: ["cells"] }, "B/3/f7");
    const well = { attributes: inOme({ well: { images: [{ path: "f7" }] } }) };
    const image = { attributes: imageAttributes({ ...recipe, zarrFormat }) };
    const attributes = inOme({ plate: { wells } });
    const all = { "B/3": well, "B/3/f7": image, ...groups };
    const store = await given({ zarrFormat, attributes, arrays, groups: all });
    expect(await failure(store)).toMatch(/this is a plate.*Name one image, such as B\/3\/f7\./);
    expect(await failure({ store, path: "B/3" })).toMatch(/this is a well of a plate.*such as f7\./);
    const labels = await failure({ store, path: "B/3/f7/labels" });
    expect(labels).toMatch(/this is a list of labels.*such as cells\./);
    expect(await failure({ store, path: "B/3/f7" })).toBe("it was made");
    const series = { OME: { attributes: inOme({ series: ["b", "a"] }) } };
    const layout = inOme({ "bioformats2raw.layout": 3 });
    const collection = await given({ zarrFormat, attributes: layout, groups: series });
    expect(await failure(collection)).toMatch(/this is a collection of images.*such as b\./);
  });
});

test("a level of an image over a server, or in a folder of its own, is found in the image above", async () => {
  const source = await makeImage({ ...recipe, zarrFormat: "v2" });
  const target = new MemoryStore();
  await pyramid(await openArray({ store: source, path: "0" }), target, { levels: 2 });
  expect((await stated(target)).placed[0]).toEqual({ scale: [1, 0.5, 0.25], translation: [0, 10, 20] });
  expect(await itemsOf(target, "0")).toEqual(await itemsOf(source, "0"));
});

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

test("of a dataset each array has the method that fits it, and says why", async () => {
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
  const warning = "the image of these labels, at the relative path `../../`, is not included";
  expect(await warned(new MemoryStore())).toEqual([warning]);
  const other = await makeImage({ zarrFormat: "v3", axes, shapes });
  await setAttributes(await openGroup(other), { title: "other" });
  expect(await warned({ store: other, path: "labels/cells" })).toEqual([]);
});
