import { describe, expect, test } from "vitest";
import {
  type FlowEvent,
  isZarrflowError,
  openArray,
  openGroup,
  pyramid,
  setAttributes,
  slice,
} from "../../../src/index.ts";
import { MemoryStore } from "../../../src/stores/memory.ts";
import { given } from "../../support/given.ts";
import { type ImageRecipe, imageAttributes, imageNodes, makeImage } from "../../support/ome-images.ts";

const recipe: Omit<ImageRecipe, "zarrFormat"> = {
  axes: ["c", "y", "x"],
  shapes: [
    [2, 12, 16],
    [2, 6, 8],
  ],
  itemSize: [1, 0.5, 0.25],
  translations: [
    [0, 10, 20],
    [0, 10.25, 20.125],
  ],
  omero: { channels: [{ label: "a" }, { label: "b" }] },
};
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
    return Object.assign(
      {},
      ...parts.flat().map(({ scale, translation }) => ({ ...(scale ? { scale } : { translation }) })),
    );
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
    expect(after.placed).toEqual([
      { scale: [1, 0.5, 0.25], translation: [0, 10, 20] },
      { scale: [1, 1, 0.5], translation: [0, 10.25, 20.125] },
      { scale: [1, 2, 1], translation: [0, 10.75, 20.375] },
    ]);
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
    expect(after.placed).toEqual([
      { scale: [1, 1, 0.5], translation: [0, 10.25, 20.125] },
      { scale: [1, 2, 1], translation: [0, 10.75, 20.375] },
    ]);
    expect(after.ome.omero).toEqual(before.ome.omero);
    expect((await openArray({ store: target, path: "1" })).shape).toEqual([2, 3, 4]);
  });

  test("takes no other axes than it states", async () => {
    const source = await makeImage({ ...recipe, ...form });
    expect(await failure(source, { axes: "zyx" })).toMatch(/the image states other axes.*cyx.*zyx/);
    expect(await failure({ store: source, path: "0" }, { axes: "zyx" })).toMatch(
      /the image states other axes/,
    );
    expect(await failure(source, { axes: "cyx" })).toBe("it was made");
  });

  test("is refused where it states more or fewer axes than its array has", async () => {
    const { axes: _, ...rest } = recipe;
    const own = { ...rest, ...form, axes: ["t", "c", "y", "x"], itemSize: [1, 1, 1, 1] };
    const { translations: __, ...flat } = own;
    const attributes = imageAttributes({ ...flat, shapes: flat.shapes.map((shape) => [1, ...shape]) });
    const nodes = imageNodes({ ...recipe, ...form });
    const store = await given({ zarrFormat: form.zarrFormat, attributes, ...nodes });
    expect(await failure(store)).toMatch(/the axes of the image are not those of its array.*t, c, y, x/);
  });
});

describe("a pyramid", () => {
  test("of an image of 0.6 is not written to v2", async () => {
    const source = await makeImage({ ...recipe, zarrFormat: "v3", version: "0.6" });
    expect(await failure(source, { to: "v2" })).toMatch(/OME-Zarr 0.6 has no counterpart in Zarr v2/);
  });

  test("of an image of a version that is not known is refused", async () => {
    const source = await makeImage({ ...recipe, zarrFormat: "v3" });
    const { attributes } = await openGroup(source);
    await setAttributes(await openGroup(source), { ome: { ...(attributes.ome as object), version: "0.7" } });
    expect(await failure(source)).toMatch(/OME-Zarr 0.7 is not known/);
  });

  test("of an image whose transformations lead to arrays that it would not have is refused", async () => {
    const source = await makeImage({ ...recipe, zarrFormat: "v3", version: "0.6" });
    const { multiscale } = await stated(source);
    const field = {
      type: "displacements",
      path: "warp",
      input: { name: "physical" },
      output: { name: "atlas" },
    };
    const multiscales = [
      { ...multiscale, coordinateTransformations: [{ type: "sequence", transformations: [field] }] },
    ];
    await setAttributes(await openGroup(source), { ome: { version: "0.6", multiscales } });
    expect(await failure(source)).toMatch(/lead to `warp`/);
  });

  test("of an array whose dimensions are named in another order than its image's axes is refused", async () => {
    const source = await makeImage({ ...recipe, zarrFormat: "v3", dimensionNames: ["c", "x", "y"] });
    expect(await failure(source)).toMatch(
      /the axes of the image are not those of its array.*c, x, y.*c, y, x/,
    );
  });

  test("of an array takes other names for its axes only where its own are none", async () => {
    const arrayOf = (dimensionNames: readonly (string | null)[]) =>
      given({ dataType: "uint8", shape: [2, 4, 4], dimensionNames, values: null });
    const named = await arrayOf(["z", "y", "x"]);
    expect(await failure(named, { axes: "cyx" })).toMatch(
      /the array names its dimensions otherwise.*z, y, x.*cyx/,
    );
    expect(await failure(named, { axes: "zyx" })).toBe("it was made");
    expect(await failure(await arrayOf(["depth", "lat", "lon"]), { axes: "zyx" })).toBe("it was made");
    expect(await failure(await arrayOf(["time", "lat", "lon"]), { axes: "tyx" })).toBe("it was made");
    expect(await failure(await arrayOf(["time", "lat", "lon"]), { axes: "cyx" })).toMatch(/otherwise/);
    // channels that lie last are no image
    expect(await failure(await arrayOf(["y", "x", "c"]))).toMatch(/the axes of the image are not known/);
    expect(await failure(await arrayOf([null, null, null]), { axes: "yxc" })).toMatch(/in this order/);
  });

  test("of a data set takes no axes, and of items that are no numbers is refused", async () => {
    const a = { dataType: "complex64", shape: [4, 4], dimensionNames: ["y", "x"], values: null };
    const store = await given({ arrays: { a } });
    expect(await failure(store, { axes: "yx" })).toMatch(/axes are of an array.*leave out --axes/);
    expect(await failure(store)).toMatch(/pyramids are made of numbers, not of complex64/);
    expect(await failure({ store, path: "a" })).toMatch(/pyramids are made of numbers, not of complex64/);
  });

  test("by factors that leave every axis as it is says which are missing", async () => {
    const source = await makeImage({ ...recipe, axes: ["z", "y", "x"], zarrFormat: "v3" });
    expect(await failure(source, { factor: "z=1" })).toMatch(
      /axes not named in the factor keep their length.*Add y=2,x=2 to --factor/,
    );
    expect(await failure(source, { factor: { z: 1, y: 1 } })).toMatch(/Add x=2 to/);
    expect(await failure(source, { factor: 1 })).toMatch(/with a factor of 1 nothing shrinks/);
    expect(await failure(source, { factor: "z=1", levels: 1 })).toBe("it was made");
  });

  test("of several images in one group says that it has the first", async () => {
    const source = await makeImage({ ...recipe, zarrFormat: "v3" });
    const { multiscale } = await stated(source);
    await setAttributes(await openGroup(source), {
      ome: { version: "0.5", multiscales: [multiscale, multiscale] },
    });
    const warnings: string[] = [];
    const onEvent = (event: FlowEvent) => void (event.type === "warning" && warnings.push(event.message));
    await pyramid(source, new MemoryStore(), { levels: 2, onEvent });
    expect(warnings).toEqual(["this is the first of 2 images of the group"]);
  });
});

describe.each(["v2", "v3"] as const)("groups of images that are none themselves, in %s", (zarrFormat) => {
  const inOme = (members: Attributes): Attributes =>
    zarrFormat === "v2" ? members : { ome: { version: "0.5", ...members } };

  function plate(): Promise<MemoryStore> {
    const wells = [{ path: "B/3", rowIndex: 0, columnIndex: 0 }];
    const { arrays, groups } = imageNodes({ ...recipe, zarrFormat, labels: ["cells"] }, "B/3/f7");
    const well = { attributes: inOme({ well: { images: [{ path: "f7" }] } }) };
    const image = { attributes: imageAttributes({ ...recipe, zarrFormat }) };
    const attributes = inOme({ plate: { wells } });
    return given({ zarrFormat, attributes, arrays, groups: { "B/3": well, "B/3/f7": image, ...groups } });
  }

  test("are named, with the path of an image", async () => {
    const store = await plate();
    expect(await failure(store)).toMatch(/this is a plate.*Name one image, such as B\/3\/f7\./);
    expect(await failure({ store, path: "B/3" })).toMatch(/this is a well of a plate.*such as f7\./);
    expect(await failure({ store, path: "B/3/f7/labels" })).toMatch(
      /this is a list of labels.*such as cells\./,
    );
    expect(await failure({ store, path: "B/3/f7" })).toBe("it was made");
  });

  test("are collections too", async () => {
    const groups = { OME: { attributes: inOme({ series: ["b", "a"] }) } };
    const store = await given({ zarrFormat, attributes: inOme({ "bioformats2raw.layout": 3 }), groups });
    expect(await failure(store)).toMatch(/this is a collection of images.*such as b\./);
  });
});

test("a level of an image over a server, or in a folder of its own, is found in the image above", async () => {
  const source = await makeImage({ ...recipe, zarrFormat: "v2" });
  const target = new MemoryStore();
  await pyramid(await openArray({ store: source, path: "0" }), target, { levels: 2 });
  expect((await stated(target)).placed[0]).toEqual({ scale: [1, 0.5, 0.25], translation: [0, 10, 20] });
  const level = await slice(await openArray({ store: target, path: "0" })).read();
  expect(level).toEqual(await slice(await openArray({ store: source, path: "0" })).read());
});
