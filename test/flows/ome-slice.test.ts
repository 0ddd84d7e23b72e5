// @module-tag slow
import { describe, expect, test } from "vitest";
import {
  convert,
  copy,
  diff,
  digest,
  type FlowEvent,
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
  walk,
} from "../../src/index.ts";
import { MemoryStore } from "../../src/stores/memory.ts";
import { jsonAt } from "../hierarchy/keys.ts";
import { all } from "../support/consume.ts";
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

interface Cut {
  readonly [path: string]: { readonly start: readonly number[]; readonly stop: readonly number[] };
}

type Attributes = Record<string, unknown>;
interface Dataset {
  readonly path: string;
  readonly coordinateTransformations: readonly {
    readonly scale?: number[];
    readonly translation?: number[];
  }[];
}
const omeOf = (attributes: Attributes) => (attributes.ome ?? attributes) as Attributes;
const datasetsOf = (attributes: Attributes) =>
  (omeOf(attributes).multiscales as { readonly datasets: readonly Dataset[] }[])[0]?.datasets ?? [];

/** Where each item of a level lies along each axis, by the level's transformations. */
function places({ coordinateTransformations }: Dataset, shape: readonly number[]): number[][] {
  const scale = coordinateTransformations.find((one) => one.scale)?.scale ?? [];
  const translation = coordinateTransformations.find((one) => one.translation)?.translation ?? [];
  return shape.map((n, d) =>
    Array.from({ length: n }, (_, i) => (translation[d] ?? 0) + i * (scale[d] ?? 1)),
  );
}

async function attributesOf(store: MemoryStore, path: string): Promise<Attributes> {
  return (await openGroup({ store, path })).attributes;
}

describe.each(["v2", "v3"] as const)("a slice of an image of Zarr %s", (zarrFormat) => {
  test("cuts every level by its scale, labels too, and says where items lie", async () => {
    const source = await makeImage({ ...recipe, zarrFormat });
    const target = new MemoryStore("cut");
    await sliceTo(source, target, { slice: { y: [3, 9], x: [5, 8], c: 1 } });
    const expected: Cut = {
      "0": { start: [1, 3, 5], stop: [2, 9, 8] },
      "1": { start: [1, 1, 2], stop: [2, 5, 4] },
      "2": { start: [1, 0, 1], stop: [2, 3, 3] },
      "labels/cells/0": { start: [3, 5], stop: [9, 8] },
      "labels/cells/1": { start: [1, 2], stop: [5, 4] },
      "labels/cells/2": { start: [0, 1], stop: [3, 3] },
    };
    for (const [path, { start, stop }] of Object.entries(expected)) {
      const part = slice(
        await openArray({ store: source, path }),
        start.map((from, d) => [from, stop[d] ?? 0]),
      );
      const cut = await slice(await openArray({ store: target, path })).read();
      expect({ path, ...cut }).toEqual({ path, ...(await part.read()) });
    }
    for (const group of ["", "labels/cells"]) {
      const [before, after] = [await attributesOf(source, group), await attributesOf(target, group)];
      for (const [i, dataset] of datasetsOf(after).entries()) {
        const path = [group, dataset.path].filter(Boolean).join("/");
        const old = datasetsOf(before)[i];
        if (old === undefined) throw new Error("no such level");
        const whole = places(old, (await openArray({ store: source, path })).shape);
        const part = places(dataset, (await openArray({ store: target, path })).shape);
        const { start, stop } = expected[path] ?? { start: [], stop: [] };
        expect(part, path).toEqual(whole.map((at, d) => at.slice(start[d], stop[d])));
      }
    }
    expect(omeOf(await attributesOf(target, "")).omero).toEqual({
      channels: [{ label: "b" }],
      rdefs: { defaultZ: 0 },
    });
  });

  test("with a step takes every so-manieth item of each level", async () => {
    const source = await makeImage({ ...recipe, zarrFormat, labels: [] });
    const target = new MemoryStore("cut");
    await sliceTo(source, target, { slice: { x: [2, 14, 3] } });
    const shapes = [];
    for (const path of ["0", "1", "2"]) shapes.push((await openArray({ store: target, path })).shape);
    expect(shapes).toEqual([
      [3, 12, 4],
      [3, 6, 2],
      [3, 3, 2],
    ]);
    const [first, second] = datasetsOf(await attributesOf(target, ""));
    expect(first?.coordinateTransformations[0]?.scale?.[2]).toBe(0.75);
    expect(first?.coordinateTransformations[1]?.translation?.[2]).toBe(20.5);
    expect(second?.coordinateTransformations[0]?.scale?.[2]).toBe(1.5);
    expect(second?.coordinateTransformations[1]?.translation?.[2]).toBe(20.625);
    const rest = await slice(await openArray({ store: source, path: "1" }), [null, null, [1, 7, 3]]).read();
    expect(await slice(await openArray({ store: target, path: "1" })).read()).toEqual(rest);
  });

  test("states a translation where there was none, and leaves what is taken whole", async () => {
    const { translations: _, ...plain } = recipe;
    const source = await makeImage({ ...plain, zarrFormat, labels: [] });
    const [whole, part] = [new MemoryStore("whole"), new MemoryStore("part")];
    await sliceTo(source, whole, { slice: { y: [0, 12] } });
    expect(await attributesOf(whole, "")).toEqual(await attributesOf(source, ""));
    await sliceTo(source, part, { slice: { y: [4, 12] } });
    expect(datasetsOf(await attributesOf(part, "")).map((one) => one.coordinateTransformations[1])).toEqual([
      { type: "translation", translation: [0, 2, 0] },
      { type: "translation", translation: [0, 2, 0] },
      { type: "translation", translation: [0, 2, 0] },
    ]);
  });

  test("to the other format is an image of that format", async () => {
    const source = await makeImage({ ...recipe, zarrFormat });
    const other = zarrFormat === "v2" ? "v3" : "v2";
    const [cut, expected] = [new MemoryStore("cut"), new MemoryStore("expected")];
    await sliceTo(source, cut, { slice: { y: [3, 9] }, to: other });
    await sliceTo(await makeImage({ ...recipe, zarrFormat: other }), expected, { slice: { y: [3, 9] } });
    const differences = [];
    for await (const found of diff(cut, expected)) if (found.counts) differences.push(found);
    expect(differences).toEqual([]);
  });

  test("is refused where a level is not as long as its scale says", async () => {
    const source = await makeImage({ ...recipe, zarrFormat, labels: [] });
    const group = await openGroup(source);
    const key = zarrFormat === "v2" ? ".zattrs" : "zarr.json";
    const text = JSON.stringify(await jsonAt(source, key))
      .replaceAll("0.5714285714285714", "1")
      .replaceAll("[1,1,", "[1,0.5,");
    await source.set(key, new TextEncoder().encode(text));
    expect(group.attributes).not.toEqual(await attributesOf(source, ""));
    await expect(sliceTo(source, new MemoryStore(), { slice: { y: [0, 6] } })).rejects.toMatchObject({
      code: "invalid-selection",
      details: { path: "1" },
    });
  });
});

describe("a slice of an image of OME-Zarr 0.6", () => {
  const make = (more: Partial<ImageRecipe> = {}) =>
    makeImage({ ...recipe, zarrFormat: "v3", version: "0.6", ...more });
  const transformationsOf = async (store: MemoryStore, path: string) =>
    datasetsOf(await attributesOf(store, path)).map(({ coordinateTransformations: [only] }) => only);

  test("places each level in its coordinate system, labels too, and keeps the rest", async () => {
    const [source, target] = [await make(), new MemoryStore("cut")];
    await sliceTo(source, target, { slice: { y: [3, 9], x: [5, 8, 2], c: 1 } });
    expect(await transformationsOf(target, "")).toEqual(
      [
        { scale: [1, 0.5, 0.5], translation: [1, 11.5, 21.25] },
        { scale: [1, 1, 1], translation: [1, 11.25, 21.125] },
        { scale: [1, 2, 2 * 0.25 * (14 / 4)], translation: [1, 10.75, 20.3125 + 0.25 * (14 / 4)] },
      ].map(({ scale, translation }, i) => ({
        type: "sequence",
        input: { path: `${i}` },
        output: { name: "physical" },
        transformations: [
          { type: "scale", scale },
          { type: "translation", translation },
        ],
      })),
    );
    const [before, after] = [await attributesOf(source, ""), await attributesOf(target, "")];
    expect(after.ome).toMatchObject({ version: "0.6", omero: { channels: [{ label: "b" }] } });
    const rest = ({ ome }: Attributes) =>
      (ome as { multiscales: object[] }).multiscales.map((one) => ({ ...one, datasets: [] }));
    expect(rest(after)).toEqual(rest(before));
    expect((await openArray({ store: target, path: "1" })).shape).toEqual([1, 4, 1]);
    expect((await transformationsOf(target, "labels/cells"))[0]).toMatchObject({
      type: "sequence",
      input: { path: "0" },
      transformations: [{ scale: [0.5, 0.5] }, { translation: [11.5, 21.25] }],
    });
  });

  test("makes a sequence of a scale that gets a translation, and leaves a scale without one", async () => {
    const { translations: _, ...plain } = recipe;
    const make06 = () => makeImage({ ...plain, zarrFormat: "v3", version: "0.6", labels: [] });
    const [moved, stepped] = [new MemoryStore("moved"), new MemoryStore("stepped")];
    await sliceTo(await make06(), moved, { slice: { y: [4, 12] } });
    expect((await transformationsOf(moved, ""))[1]).toMatchObject({
      type: "sequence",
      input: { path: "1" },
      transformations: [{ type: "scale" }, { type: "translation", translation: [0, 2, 0] }],
    });
    await sliceTo(await make06(), stepped, { slice: { y: [0, 12, 2] } });
    expect((await transformationsOf(stepped, ""))[0]).toEqual({
      type: "scale",
      scale: [1, 1, 0.25],
      input: { path: "0" },
      output: { name: "physical" },
    });
  });

  test("keeps transformations into other coordinate systems, which start where it is placed", async () => {
    const attributes = await attributesOf(await make(), "");
    const [multiscale] = (attributes.ome as { multiscales: object[] }).multiscales;
    const others = [{ type: "identity", input: { name: "physical" }, output: { name: "world" } }];
    const store = await make({ labels: [] });
    const described = { ...multiscale, coordinateTransformations: others };
    await setAttributes(await openGroup(store), { ome: { version: "0.6", multiscales: [described] } });
    const target = new MemoryStore("cut");
    await sliceTo(store, target, { slice: { y: [4, 12] } });
    const { multiscales } = (await attributesOf(target, "")).ome as { multiscales: object[] };
    expect(multiscales[0]).toMatchObject({ coordinateTransformations: others });
  });

  test("tree names its axes, validate finds nothing wrong, and a conversion to v2 says that it has no counterpart", async () => {
    const store = await make({ dimensionNames: [null, null, null], labels: [] });
    const named: unknown[] = [];
    for await (const node of tree(store)) if ("dimensionNames" in node) named.push(node.dimensionNames);
    expect(named).toEqual(Array(3).fill(["c", "y", "x"]));
    const found = (await all(validate(store))).map(({ message }) => message);
    expect(found).toEqual([expect.stringContaining("only nodes that OME-Zarr metadata name can be found")]);
    const warnings: unknown[] = [];
    const onEvent = (event: FlowEvent) => void (event.type === "warning" && warnings.push(event));
    const v2 = new MemoryStore("v2");
    await convert(await make(), v2, { to: "v2", onEvent });
    expect(warnings).toMatchObject(
      Array(3).fill({
        message: "OME-Zarr 0.6 has no counterpart in Zarr v2, so its metadata are not converted",
      }),
    );
    expect((await attributesOf(v2, "")).ome).toMatchObject({ version: "0.6" });
  });
});

describe("what a slice of an image", () => {
  const named = async (zarrFormat: "v2" | "v3", change: (text: string) => string) => {
    const store = await makeImage({ ...recipe, zarrFormat, labels: [], dimensionNames: ["q", "y", "x"] });
    const key = zarrFormat === "v2" ? ".zattrs" : "zarr.json";
    await store.set(key, new TextEncoder().encode(change(JSON.stringify(await jsonAt(store, key)))));
    return store;
  };

  test.each(["v2", "v3"] as const)(
    "keeps of channels follows an axis of any name (%s)",
    async (zarrFormat) => {
      const source = await named(zarrFormat, (text) => text.replaceAll('"name":"c"', '"name":"q"'));
      const target = new MemoryStore("cut");
      await sliceTo(source, target, { slice: { q: [0, 3, 2] } });
      expect(omeOf(await attributesOf(target, "")).omero).toMatchObject({
        channels: [{ label: "a" }, { label: "c" }],
      });
    },
  );

  test("keeps of channels are those described, where fewer are than there are", async () => {
    const omero = { channels: [{ label: "a" }, { label: "b" }], rdefs: { defaultT: 4, defaultZ: 3 } };
    const source = await makeImage({
      ...{ axes: ["t", "c", "z", "y", "x"], shapes: [[6, 3, 5, 4, 4]], zarrFormat: "v3", omero },
    });
    const target = new MemoryStore("cut");
    await sliceTo(source, target, { slice: { c: [1, 3], z: [2, 5], t: [0, 2] } });
    expect(omeOf(await attributesOf(target, "")).omero).toEqual({
      channels: [{ label: "b" }],
      rdefs: { defaultT: 1, defaultZ: 1 },
    });
  });

  test.each(["v2", "v3"] as const)("leaves nothing of is refused (%s)", async (zarrFormat) => {
    const source = await makeImage({ ...recipe, zarrFormat });
    await expect(sliceTo(source, new MemoryStore(), { slice: { y: [3, 3] } })).rejects.toMatchObject({
      code: "invalid-selection",
      details: { path: "0", hint: expect.stringContaining("start is before their stop") },
    });
  });

  test("does not know, a later version, is refused", async () => {
    const source = await named("v3", (text) => text.replace('"0.5"', '"0.7"'));
    await expect(sliceTo(source, new MemoryStore(), { slice: { y: [0, 6] } })).rejects.toMatchObject({
      code: "unsupported-operation",
      message: expect.stringContaining("OME-Zarr 0.7 is not known"),
    });
    await copy(source, new MemoryStore());
  });

  test("takes of labels alone says that their image stays behind; of an image with its labels nothing", async () => {
    const store = await makeImage({ ...recipe, zarrFormat: "v3" });
    const warnings: unknown[] = [];
    const onEvent = (event: FlowEvent) => void (event.type === "warning" && warnings.push(event));
    await sliceTo(store, new MemoryStore("image"), { slice: { y: [0, 6] }, onEvent });
    expect(warnings).toEqual([]);
    await sliceTo({ store, path: "labels/cells" }, new MemoryStore("cells"), {
      slice: { y: [0, 6] },
      onEvent,
    });
    expect(warnings).toMatchObject([{ path: "", message: expect.stringContaining("`../../`") }]);
  });
});

describe("names of axes of OME-Zarr 0.4", () => {
  const make = () => makeImage({ ...recipe, zarrFormat: "v2", labels: [] });

  test("serve for chunks of a group, and are not written", async () => {
    const source = await make();
    const target = new MemoryStore("rechunked");
    await rechunk(source, target, { chunks: { y: 6, x: -1 } });
    const chunks = [];
    for await (const node of walk(await openGroup(target))) {
      if (node.kind === "array") chunks.push(node.chunkShape);
      if (node.kind === "array") expect(node.dimensionNames).toBeUndefined();
    }
    expect(chunks).toEqual([
      [3, 6, 14],
      [3, 6, 7],
      [3, 6, 4],
    ]);
    expect(await target.get("0/.zattrs")).toBeUndefined();
    expect(await all(digest(target))).toEqual(await all(digest(source)));
  });

  test("serve for a level that is opened alone", async () => {
    const store = await make();
    const array = await openArray({ store, path: "1" });
    const part = await slice(array, { y: [2, 4], x: 3 }).read();
    expect(part).toEqual(await slice(array, [null, [2, 4], 3]).read());
    expect((await planSlice(array, { y: [2, 4] })).shape).toEqual([3, 2, 7]);
    const [cut, rechunked] = [new MemoryStore("cut"), new MemoryStore("rechunked")];
    await sliceTo(array, cut, { slice: "y=2:4,x=3" });
    expect((await openArray(cut)).shape).toEqual([3, 2, 1]);
    await rechunk(array, rechunked, { chunks: "y=2" });
    expect((await openArray(rechunked)).chunkShape).toEqual([3, 2, 5]);
    expect(await cut.get(".zattrs")).toBeUndefined();
    await expect(slice(array, { z: 0 }).read()).rejects.toMatchObject({ code: "invalid-selection" });
  });

  test("are reported by tree and info, of the image and of a level alone", async () => {
    const store = await make();
    for (const list of [tree, info]) {
      const named: unknown[] = [];
      for await (const node of list(store)) if ("dimensionNames" in node) named.push(node.dimensionNames);
      for await (const node of list({ store, path: "1" })) {
        if ("dimensionNames" in node) named.push(node.dimensionNames);
      }
      expect(named).toEqual(Array(4).fill(["c", "y", "x"]));
    }
  });

  test("name the dimensions of a level that is converted alone", async () => {
    const store = await make();
    const [v3, cut, v2] = [new MemoryStore("v3"), new MemoryStore("cut"), new MemoryStore("v2")];
    await convert({ store, path: "0" }, v3, { to: "v3" });
    expect((await openArray(v3)).dimensionNames).toEqual(["c", "y", "x"]);
    await sliceTo({ store, path: "1" }, cut, { slice: { y: 0 }, to: "v3" });
    expect((await openArray(cut)).dimensionNames).toEqual(["c", "y", "x"]);
    await copy({ store, path: "0" }, v2);
    expect((await openArray(v2)).dimensionNames).toBeUndefined();
  });
});
