import { describe, expect, test } from "vitest";
import type { ArrayMetadata } from "../../../../src/meta/array-metadata.ts";
import type { ConventionNode } from "../../../../src/meta/conventions/convention.ts";
import { convertConventions } from "../../../../src/meta/conventions/conventions.ts";
import { axesByArray, multiscalesOf } from "../../../../src/meta/conventions/ome/attributes.ts";
import { omeZarr } from "../../../../src/meta/conventions/ome/ome.ts";
import { fromPlain, type JsonObject } from "../../../../src/util/json-value.ts";

const group = (path: string, attributes: object): ConventionNode => ({
  path,
  metadata: { kind: "group", attributes: fromPlain(attributes) as JsonObject },
});

const array = (path: string, rest: Partial<ArrayMetadata> = {}): ConventionNode => ({
  path,
  metadata: {
    kind: "array",
    shape: [4, 4],
    dataType: { kind: "uint", size: 2 },
    chunkGrid: { chunkShape: [4, 4] },
    chunkKeyEncoding: { name: "plain", separator: "/" },
    codecs: [],
    fillValue: { bytes: new Uint8Array(2) },
    attributes: {},
    ...rest,
  },
});

const axes = [
  { name: "y", type: "space" },
  { name: "x", type: "space" },
];
const image = (...paths: string[]) => ({
  axes,
  datasets: paths.map((path) => ({ path, coordinateTransformations: [{ type: "scale", scale: [1, 1] }] })),
});

const to = (format: "v2" | "v3", nodes: readonly ConventionNode[]) =>
  convertConventions(nodes, { from: format === "v2" ? "v3" : "v2", to: format }, [omeZarr]);

const attributesOf = (nodes: readonly ConventionNode[]) =>
  Object.fromEntries(nodes.map(({ path, metadata }) => [path, metadata.attributes]));

/** An image with labels, a plate and a collection, all in one. */
const nodes04 = [
  group("", { "bioformats2raw.layout": 3, title: "all" }),
  group("OME", { series: ["0"] }),
  group("0", {
    multiscales: [{ version: "0.4", name: "i", ...image("0", "1") }],
    omero: { version: "0.4", channels: [] },
    _creator: { name: "x" },
  }),
  array("0/0"),
  array("0/1", { dimensionNames: ["y", "x"] }),
  group("0/labels", { labels: ["cells"] }),
  group("0/labels/cells", {
    multiscales: [{ version: "0.4", ...image("0") }],
    "image-label": { version: "0.4", colors: [] },
  }),
  array("0/labels/cells/0", { dimensionNames: ["a", "b"] }),
  group("plate", { plate: { version: "0.4", wells: [{ path: "A/1" }] } }),
  group("plate/A", {}),
  group("plate/A/1", { well: { version: "0.4", images: [] }, ome: { note: "ours" } }),
];

describe("OME-Zarr 0.4 to Zarr v3", () => {
  const { nodes, notes } = to("v3", nodes04);

  test("is 0.5 under `ome`", () => {
    expect(notes).toEqual([]);
    expect(attributesOf(nodes)).toEqual({
      "": { title: "all", ome: { version: "0.5", "bioformats2raw.layout": 3 } },
      OME: { ome: { version: "0.5", series: ["0"] } },
      0: {
        _creator: { name: "x" },
        ome: {
          version: "0.5",
          multiscales: [{ name: "i", ...image("0", "1") }],
          omero: { version: "0.5", channels: [] },
        },
      },
      "0/0": {},
      "0/1": { _ARRAY_DIMENSIONS: ["y", "x"] },
      "0/labels": { ome: { version: "0.5", labels: ["cells"] } },
      "0/labels/cells": {
        ome: { version: "0.5", multiscales: [image("0")], "image-label": { version: "0.5", colors: [] } },
      },
      "0/labels/cells/0": { _ARRAY_DIMENSIONS: ["a", "b"] },
      plate: { ome: { version: "0.5", plate: { version: "0.5", wells: [{ path: "A/1" }] } } },
      "plate/A": {},
      "plate/A/1": { ome: { version: "0.5", well: { version: "0.5", images: [] }, note: "ours" } },
    });
  });

  test("gives all levels the names of the axes", () => {
    const named = nodes.flatMap(({ metadata }) =>
      metadata.kind === "array" ? [metadata.dimensionNames] : [],
    );
    expect(named).toEqual([
      ["y", "x"],
      ["y", "x"],
      ["y", "x"],
    ]);
  });

  test("comes back as it was, with chunks in folders", () => {
    const inV3 = nodes.map((node) =>
      node.metadata.kind === "array"
        ? {
            ...node,
            metadata: { ...node.metadata, chunkKeyEncoding: { name: "default", separator: "/" } as const },
          }
        : node,
    );
    const back = to("v2", inV3);
    expect(back.notes).toEqual([]);
    expect(back.nodes).toEqual(nodes04);
  });

  test("leaves what only has the same names", () => {
    const others = [
      group("", { multiscales: { tile_matrix_set: "x" }, labels: ["a"], plate: "p", well: [1], omero: {} }),
      group("pyramid", {
        multiscales: [{ datasets: [{ path: "0", level: 0 }], metadata: { version: "1" } }],
      }),
      array("pyramid/0"),
      group("OME", { series: ["a"] }),
    ];
    const converted = to("v3", others);
    expect(converted).toEqual({ nodes: others, notes: [] });
    expect(converted.nodes[0]).toBe(others[0]);
    const beside = [...others, group("image", { multiscales: [{ version: "0.4", ...image() }] })];
    expect(attributesOf(to("v3", beside).nodes.slice(0, 4))).toEqual(attributesOf(others));
  });

  test.each(["0.1", "0.2", "0.3"])("keeps %s, and says so", (version) => {
    const old = [
      group("", { "bioformats2raw.layout": 3 }),
      group("0", { multiscales: [{ version, axes: ["y", "x"], datasets: [{ path: "0" }] }] }),
      array("0/0"),
    ];
    const { nodes, notes } = to("v3", old);
    expect(nodes).toBe(old);
    expect(notes).toMatchObject([{ path: "0", message: expect.stringContaining(version) }]);
  });

  test("keeps both where there is metadata of 0.5 already", () => {
    const both = [group("", { multiscales: [{ version: "0.4", ...image("0") }], ome: { version: "0.5" } })];
    const { nodes, notes } = to("v3", both);
    expect(nodes).toEqual(both);
    expect(notes).toHaveLength(1);
  });
});

test.each<[string, JsonObject, readonly string[] | undefined]>([
  ["as objects", { version: "0.4", axes }, ["y", "x"]],
  ["as texts", { version: "0.3", axes: ["y", "x"] }, ["y", "x"]],
  ["of five dimensions where 0.1 states none", { version: "0.1" }, ["t", "c", "z", "y", "x"]],
  ["none where 0.4 states none", { version: "0.4" }, undefined],
  ["none where two have one name", { version: "0.4", axes: ["y", "y"] }, undefined],
  ["none where one has no name", { version: "0.4", axes: ["y", { type: "space" }] }, undefined],
])("names of axes: %s", (_, stated, names) => {
  const [found] = multiscalesOf({ multiscales: [{ ...stated, datasets: [{ path: "0" }] }] });
  expect(found?.axes).toEqual(names);
});

describe("OME-Zarr 0.5 to Zarr v2", () => {
  test("is 0.4 among the attributes, and other members of `ome` stay there", () => {
    const keys = { name: "default", separator: "/" } as const;
    const v3 = [
      group("", { ome: { version: "0.5", multiscales: [image("0", "1")], schema_url: "u" }, title: "t" }),
      array("0", { dimensionNames: ["y", "x"], chunkKeyEncoding: keys }),
      array("1", { dimensionNames: ["row", "x"], chunkKeyEncoding: keys }),
      array("other", { dimensionNames: ["y", "x"], chunkKeyEncoding: keys }),
    ];
    const { nodes, notes } = to("v2", v3);
    expect(notes).toEqual([]);
    expect(nodes[0]?.metadata.attributes).toEqual({
      title: "t",
      ome: { schema_url: "u" },
      multiscales: [{ version: "0.4", ...image("0", "1") }],
    });
    expect(nodes[1]?.metadata).not.toHaveProperty("dimensionNames");
    expect(nodes[1]?.metadata).toMatchObject({ chunkKeyEncoding: { name: "plain", separator: "/" } });
    expect(nodes[2]?.metadata).toMatchObject({ dimensionNames: ["row", "x"] });
    expect(nodes[3]).toBe(v3[3]);
    const back = to("v3", nodes);
    expect(back.nodes[0]).toEqual(v3[0]);
  });

  test("takes a list of labels without a version for one of 0.5, as ome-zarr-py writes it", () => {
    const { nodes, notes } = to("v2", [group("labels", { ome: { labels: ["a"] } })]);
    expect(nodes[0]?.metadata.attributes).toEqual({ labels: ["a"] });
    expect(notes).toEqual([]);
  });

  test("keeps other versions, and says so", () => {
    const later = [group("", { ome: { version: "0.6", multiscales: [image("0")] } }), array("0")];
    const { nodes, notes } = to("v2", later);
    expect(nodes).toEqual(later);
    expect(notes).toMatchObject([{ path: "", message: expect.stringContaining("0.6") }]);
  });
});

test("axes of an array are those of the outermost image that states them", () => {
  const image = (path: string, names?: readonly string[]) => ({
    multiscales: [
      { version: "0.4", ...(names && { axes: names.map((name) => ({ name })) }), datasets: [{ path }] },
    ],
  });
  const nodes = [
    group("", image("a/0", ["y", "x"])),
    group("a", image("0", ["v", "u"])),
    group("b", image("0")),
  ];
  expect([...axesByArray(nodes)]).toEqual([["a/0", ["y", "x"]]]);
});
