// @module-tag slow
import { describe, expect, test } from "vitest";
import {
  convert,
  copy,
  diff,
  digest,
  info,
  openArray,
  openGroup,
  planSlice,
  rechunk,
  setAttributes,
  slice,
  sliceTo,
  tree,
  validate,
} from "../../src/index.ts";
import { MemoryStore } from "../../src/stores/memory.ts";
import { jsonAt } from "../hierarchy/keys.ts";
import { all, itemsOf } from "../support/consume.ts";
import { givenKeys } from "../support/given.ts";
import { heard } from "../support/heard.ts";
import { shapesIn } from "../support/made-group.ts";
import { type ImageRecipe, makeImage } from "../support/ome-images.ts";

const recipe: Omit<ImageRecipe, "zarrFormat"> = {
  axes: ["c", "y", "x"],
  shapes: [
    [3, 12, 14],
    [3, 6, 7],
    [3, 3, 4],
  ],
  itemSize: [1, 0.5, 0.25],
  translations: [
    [0, 10, 20],
    [0, 10.25, 20.125],
    [0, 10.75, 20.3125],
  ],
  labels: ["cells"],
  omero: { channels: [{ label: "a" }, { label: "b" }, { label: "c" }], rdefs: { defaultZ: 0 } },
};
const { translations: _, ...unplaced } = recipe;
const formats = ["v2", "v3"] as const;
const image = (more: Partial<ImageRecipe> = {}) => makeImage({ ...recipe, zarrFormat: "v3", ...more });

async function cut(
  source: MemoryStore,
  options: Parameters<typeof sliceTo>[2],
  path = "",
): Promise<MemoryStore> {
  const target = new MemoryStore("cut");
  await sliceTo({ store: source, path }, target, options);
  return target;
}

type Attributes = Record<string, unknown>;
interface Transformation {
  readonly scale?: number[];
  readonly translation?: number[];
}
interface Dataset {
  readonly path: string;
  readonly coordinateTransformations: readonly Transformation[];
}
interface Ome {
  readonly omero?: unknown;
  readonly multiscales: readonly { readonly datasets: readonly Dataset[] }[];
}

const attributesOf = async (store: MemoryStore, path = "") => (await openGroup({ store, path })).attributes;
async function omeOf(store: MemoryStore, path = ""): Promise<Ome> {
  const attributes: Attributes = await attributesOf(store, path);
  return (attributes.ome ?? attributes) as Ome;
}
const datasetsOf = async (store: MemoryStore, path = "") =>
  (await omeOf(store, path)).multiscales[0]?.datasets ?? [];

/** Where each item of each level lies along each axis, by the level's transformations. */
async function placesIn(store: MemoryStore, group: string): Promise<Record<string, number[][]>> {
  const found: Record<string, number[][]> = {};
  for (const { path: level, coordinateTransformations } of await datasetsOf(store, group)) {
    const path = group === "" ? level : `${group}/${level}`;
    const scale = coordinateTransformations.find((one) => one.scale)?.scale ?? [];
    const translation = coordinateTransformations.find((one) => one.translation)?.translation ?? [];
    const { shape } = await openArray({ store, path });
    found[path] = shape.map((length, d) =>
      Array.from({ length }, (_, i) => (translation[d] ?? 0) + i * (scale[d] ?? 1)),
    );
  }
  return found;
}

describe.each(formats)("a slice of an image of Zarr %s", (zarrFormat) => {
  test("cuts every level by its scale, labels too, and says where items lie", async () => {
    const source = await image({ zarrFormat });
    const target = await cut(source, { slice: { y: [3, 9], x: [5, 8], c: 1 } });
    const before = { ...(await placesIn(source, "")), ...(await placesIn(source, "labels/cells")) };
    const after = { ...(await placesIn(target, "")), ...(await placesIn(target, "labels/cells")) };
    for (const [path, start, stop] of [
      ["0", [1, 3, 5], [2, 9, 8]],
      ["1", [1, 1, 2], [2, 5, 4]],
      ["2", [1, 0, 1], [2, 3, 3]],
      ["labels/cells/0", [3, 5], [9, 8]],
      ["labels/cells/1", [1, 2], [5, 4]],
      ["labels/cells/2", [0, 1], [3, 3]],
    ] as const) {
      const part = start.map((from, d): [number, number] => [from, stop[d] ?? 0]);
      expect(await itemsOf(target, path), path).toEqual(await itemsOf(source, path, part));
      expect(after[path], path).toEqual(before[path]?.map((at, d) => at.slice(start[d], stop[d])));
    }
    const omero = { channels: [{ label: "b" }], rdefs: { defaultZ: 0 } };
    expect((await omeOf(target)).omero).toEqual(omero);
  });

  test("with a step takes every so-manieth item of each level", async () => {
    const source = await image({ zarrFormat, labels: [] });
    const target = await cut(source, { slice: { x: [2, 14, 3] } });
    expect(await shapesIn(target)).toEqual({ 0: [3, 12, 4], 1: [3, 6, 2], 2: [3, 3, 2] });
    const placed = (await datasetsOf(target)).map(({ coordinateTransformations: [scale, translation] }) => [
      ...[scale?.scale?.[2], translation?.translation?.[2]],
    ]);
    expect(placed.slice(0, 2)).toEqual([
      [0.75, 20.5],
      [1.5, 20.625],
    ]);
    expect(await itemsOf(target, "1")).toEqual(await itemsOf(source, "1", [null, null, [1, 7, 3]]));
  });

  test("states a translation where there was none, and leaves what is taken whole", async () => {
    const source = await makeImage({ ...unplaced, zarrFormat, labels: [] });
    const whole = await cut(source, { slice: { y: [0, 12] } });
    expect(await attributesOf(whole)).toEqual(await attributesOf(source));
    const part = await cut(source, { slice: { y: [4, 12] } });
    for (const { coordinateTransformations } of await datasetsOf(part))
      expect(coordinateTransformations[1]).toEqual({ type: "translation", translation: [0, 2, 0] });
  });

  test("to the other format is an image of that format", async () => {
    const to = zarrFormat === "v2" ? "v3" : "v2";
    const slice = { y: [3, 9] } as const;
    const made = await cut(await image({ zarrFormat }), { slice, to });
    const expected = await cut(await image({ zarrFormat: to }), { slice });
    expect((await all(diff(made, expected))).filter(({ counts }) => counts)).toEqual([]);
  });

  const changed = async (source: MemoryStore, change: (text: string) => string) => {
    const key = zarrFormat === "v2" ? ".zattrs" : "zarr.json";
    return givenKeys({ [key]: change(JSON.stringify(await jsonAt(source, key))) }, source);
  };

  test("is refused where a level is not as long as its scale says, and where it is empty", async () => {
    const half = (text: string) => text.replaceAll("0.5714285714285714", "1").replaceAll("[1,1,", "[1,0.5,");
    const wrong = cut(await changed(await image({ zarrFormat, labels: [] }), half), { slice: { y: [0, 6] } });
    await expect(wrong).rejects.toMatchObject({ code: "invalid-selection", details: { path: "1" } });
    const hint = expect.stringContaining("start before they stop");
    const empty = cut(await image({ zarrFormat }), { slice: { y: [3, 3] } });
    await expect(empty).rejects.toMatchObject({ code: "invalid-selection", details: { path: "0", hint } });
  });

  test("keeps channels by an axis of any name", async () => {
    const source = await image({ zarrFormat, labels: [], dimensionNames: ["q", "y", "x"] });
    const named = await changed(source, (text) => text.replaceAll('"name":"c"', '"name":"q"'));
    const { omero } = await omeOf(await cut(named, { slice: { q: [0, 3, 2] } }));
    expect(omero).toMatchObject({ channels: [{ label: "a" }, { label: "c" }] });
  });
});

describe("a slice of an image of OME-Zarr 0.6", () => {
  const version = "0.6";
  const transformationsOf = async (store: MemoryStore, path = "") =>
    (await datasetsOf(store, path)).map(({ coordinateTransformations: [only] }) => only);

  test("places each level in its coordinate system, labels too, and keeps the rest", async () => {
    const source = await image({ version });
    const target = await cut(source, { slice: { y: [3, 9], x: [5, 8, 2], c: 1 } });
    const [size, output] = [2 * 0.25 * (14 / 4), { name: "physical" }];
    expect(await transformationsOf(target)).toEqual(
      [
        { scale: [1, 0.5, 0.5], translation: [1, 11.5, 21.25] },
        { scale: [1, 1, 1], translation: [1, 11.25, 21.125] },
        { scale: [1, 2, size], translation: [1, 10.75, 20.3125 + size / 2] },
      ].map(({ scale, translation }, i) => ({
        ...{ type: "sequence", input: { path: `${i}` }, output },
        transformations: [
          { type: "scale", scale },
          { type: "translation", translation },
        ],
      })),
    );
    const [before, after] = [await omeOf(source), await omeOf(target)];
    expect(after).toMatchObject({ version, omero: { channels: [{ label: "b" }] } });
    const rest = ({ multiscales }: Ome) => multiscales.map((one) => ({ ...one, datasets: [] }));
    expect(rest(after)).toEqual(rest(before));
    expect((await openArray({ store: target, path: "1" })).shape).toEqual([1, 4, 1]);
    const placed = [{ scale: [0.5, 0.5] }, { translation: [11.5, 21.25] }];
    const [first] = await transformationsOf(target, "labels/cells");
    expect(first).toMatchObject({ type: "sequence", input: { path: "0" }, transformations: placed });
  });

  test("makes a sequence of a scale that gets a translation, and leaves a scale without one", async () => {
    const source = await makeImage({ ...unplaced, zarrFormat: "v3", version, labels: [] });
    const [, moved] = await transformationsOf(await cut(source, { slice: { y: [4, 12] } }));
    const transformations = [{ type: "scale" }, { type: "translation", translation: [0, 2, 0] }];
    expect(moved).toMatchObject({ type: "sequence", input: { path: "1" }, transformations });
    const [stepped] = await transformationsOf(await cut(source, { slice: { y: [0, 12, 2] } }));
    const ends = { input: { path: "0" }, output: { name: "physical" } };
    expect(stepped).toEqual({ type: "scale", scale: [1, 1, 0.25], ...ends });
  });

  test("keeps transformations into other coordinate systems, which start where it is placed", async () => {
    const store = await image({ version, labels: [] });
    const others = [{ type: "identity", input: { name: "physical" }, output: { name: "world" } }];
    const multiscales = [{ ...(await omeOf(store)).multiscales[0], coordinateTransformations: others }];
    await setAttributes(await openGroup(store), { ome: { version, multiscales } });
    const [multiscale] = (await omeOf(await cut(store, { slice: { y: [4, 12] } }))).multiscales;
    expect(multiscale).toMatchObject({ coordinateTransformations: others });
  });

  test("tree names its axes, validate finds nothing wrong, and a conversion to v2 says that it has no counterpart", async () => {
    const store = await image({ version, dimensionNames: [null, null, null], labels: [] });
    expect(await namesIn(tree(store))).toEqual(Array(3).fill(["c", "y", "x"]));
    const found = (await all(validate(store))).map(({ message }) => message);
    expect(found).toEqual([expect.stringContaining("only nodes that OME-Zarr metadata names")]);
    const { messages, onEvent } = heard();
    const v2 = new MemoryStore("v2");
    await convert(await image({ version }), v2, { to: "v2", onEvent });
    const words = "OME-Zarr 0.6 has no counterpart in Zarr v2, so its metadata is not converted";
    expect(messages).toEqual(Array(3).fill(words));
    expect((await attributesOf(v2)).ome).toMatchObject({ version });
  });
});

/** The names of dimensions of all arrays that are listed. */
const namesIn = async (nodes: AsyncIterable<object>) =>
  (await all(nodes)).flatMap((node) => ("dimensionNames" in node ? [node.dimensionNames] : []));

test("channels that are kept are those described, where fewer are than there are", async () => {
  const omero = { channels: [{ label: "a" }, { label: "b" }], rdefs: { defaultT: 4, defaultZ: 3 } };
  const axes = ["t", "c", "z", "y", "x"];
  const source = await makeImage({ axes, shapes: [[6, 3, 5, 4, 4]], zarrFormat: "v3", omero });
  const target = await cut(source, { slice: { c: [1, 3], z: [2, 5], t: [0, 2] } });
  const kept = { channels: [{ label: "b" }], rdefs: { defaultT: 1, defaultZ: 1 } };
  expect((await omeOf(target)).omero).toEqual(kept);
});

test("a later version, which is not known, is not sliced, and copied", async () => {
  const source = await image({ labels: [] });
  const text = JSON.stringify(await jsonAt(source, "zarr.json")).replace('"0.5"', '"0.7"');
  await givenKeys({ "zarr.json": text }, source);
  const message = expect.stringContaining("OME-Zarr 0.7 is not known");
  const refused = cut(source, { slice: { y: [0, 6] } });
  await expect(refused).rejects.toMatchObject({ code: "unsupported-operation", message });
  await copy(source, new MemoryStore());
});

test("a slice of labels alone says that their image stays behind, one of an image nothing", async () => {
  const store = await image();
  const { warnings, onEvent } = heard();
  await cut(store, { slice: { y: [0, 6] }, onEvent });
  expect(warnings).toEqual([]);
  await cut(store, { slice: { y: [0, 6] }, onEvent }, "labels/cells");
  expect(warnings).toEqual([expect.stringMatching(/^: .*`\.\.\/\.\.\/`/)]);
});

describe("names of axes of OME-Zarr 0.4", () => {
  const make = () => image({ zarrFormat: "v2", labels: [] });

  test("serve for chunks of a group, and are not written", async () => {
    const [source, target] = [await make(), new MemoryStore("rechunked")];
    await rechunk(source, target, { chunks: { y: 6, x: -1 } });
    for (const [path, width] of [14, 7, 4].entries()) {
      const { chunkShape, dimensionNames } = await openArray({ store: target, path: `${path}` });
      expect([chunkShape, dimensionNames]).toEqual([[3, 6, width], undefined]);
    }
    expect(await target.get("0/.zattrs")).toBeUndefined();
    expect(await all(digest(target))).toEqual(await all(digest(source)));
  });

  test("serve for a level that is opened alone", async () => {
    const store = await make();
    const array = await openArray({ store, path: "1" });
    const part = await slice(array, { y: [2, 4], x: 3 }).read();
    expect(part).toEqual(await slice(array, [null, [2, 4], 3]).read());
    expect((await planSlice(array, { y: [2, 4] })).shape).toEqual([3, 2, 7]);
    const target = await cut(store, { slice: "y=2:4,x=3" }, "1");
    expect((await openArray(target)).shape).toEqual([3, 2, 1]);
    expect(await target.get(".zattrs")).toBeUndefined();
    const rechunked = new MemoryStore("rechunked");
    await rechunk(array, rechunked, { chunks: "y=2" });
    expect((await openArray(rechunked)).chunkShape).toEqual([3, 2, 5]);
    await expect(slice(array, { z: 0 }).read()).rejects.toMatchObject({ code: "invalid-selection" });
  });

  test("are reported by tree and info, of the image and of a level alone", async () => {
    const store = await make();
    for (const list of [tree, info]) {
      expect(await namesIn(list(store))).toEqual(Array(3).fill(["c", "y", "x"]));
      expect(await namesIn(list({ store, path: "1" }))).toEqual([["c", "y", "x"]]);
    }
  });

  test("name the dimensions of a level that is converted alone", async () => {
    const store = await make();
    const [v3, v2] = [new MemoryStore("v3"), new MemoryStore("v2")];
    await convert({ store, path: "0" }, v3, { to: "v3" });
    for (const made of [v3, await cut(store, { slice: { y: 0 }, to: "v3" }, "1")])
      expect((await openArray(made)).dimensionNames).toEqual(["c", "y", "x"]);
    await copy({ store, path: "0" }, v2);
    expect((await openArray(v2)).dimensionNames).toBeUndefined();
  });
});
