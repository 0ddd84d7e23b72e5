import { describe, expect, it } from "vitest";
import { openArray, rechunk } from "../../../src/index.ts";
import type { ArrayMetadata, NodeMetadata } from "../../../src/meta/array-metadata.ts";
import { packingOf, unpacked } from "../../../src/meta/conventions/cf/packing.ts";
import type {
  ChangedNode,
  Convention,
  ConventionNode,
  ItemPlacing,
} from "../../../src/meta/conventions/convention.ts";
import { convertConventions, followConventions } from "../../../src/meta/conventions/conventions.ts";
import { MemoryStore } from "../../../src/stores/memory.ts";
import type { JsonObject } from "../../../src/util/json-value.ts";
import { given } from "../../support/given.ts";

const nodes: ConventionNode[] = [
  { path: "", metadata: { kind: "group", attributes: { title: "a" } } },
  { path: "b", metadata: { kind: "group", attributes: {} } },
];

const addTitle: Convention = {
  name: "title",
  convert: (all, { from, to, note }) =>
    all.map((node) => {
      if (!("title" in node.metadata.attributes)) return node;
      note({ path: node.path, message: `${from} to ${to}` });
      return { ...node, metadata: { ...node.metadata, attributes: { title: "b" } } };
    }),
};
const addCount: Convention = {
  name: "count",
  convert: (all) =>
    all.map((node) =>
      node.metadata.attributes.title === "b"
        ? { ...node, metadata: { ...node.metadata, attributes: { count: all.length } } }
        : node,
    ),
};

it("each convention sees what the one before made of all nodes, and may note", () => {
  const converted = convertConventions(nodes, { from: "v2", to: "v3" }, [addTitle, addCount]);
  expect(converted.nodes.map(({ metadata }) => metadata.attributes)).toEqual([{ count: 2 }, {}]);
  expect(converted.nodes[1]).toBe(nodes[1]);
  expect(converted.notes).toEqual([{ path: "", message: "v2 to v3" }]);
});

it("nothing changes where the format stays", () => {
  const converted = convertConventions(nodes, { from: "v3", to: "v3" }, [addTitle]);
  expect(converted).toEqual({ nodes, notes: [] });
});

describe("packing", () => {
  it.each([
    ["int", 2, { scale_factor: 0.25, add_offset: 10 }, -4, 9],
    ["int", 4, { scale_factor: 2 }, 3, 6],
    ["uint", 1, { add_offset: [0.5] }, 255, 255.5],
    ["int", 1, { _Unsigned: "true" }, -1, 255],
    ["int", 1, { _Unsigned: "true", scale_factor: 0.5 }, -1, 127.5],
    ["uint", 2, { _Unsigned: "false" }, 65_535, -1],
    ["int", 8, { _Unsigned: "true" }, -1n, 2n ** 64n - 1n],
    ["float", 4, { scale_factor: 0.5 }, 3, 1.5],
  ] as const)("%s of %s bytes with %j", (kind, size, attributes, stored, meant) => {
    const packing = packingOf({ kind, size } as Parameters<typeof packingOf>[0], attributes);
    expect(packing && unpacked(stored, packing)).toBe(meant);
  });

  it("is none where numbers are as they mean", () => {
    expect(packingOf({ kind: "int", size: 2 }, { units: "K", _Unsigned: "false" })).toBeUndefined();
    expect(packingOf({ kind: "string" }, { scale_factor: 2 })).toBeUndefined();
  });
});

const array = (shape: readonly number[]): ArrayMetadata => ({
  ...{ kind: "array", shape, dataType: { kind: "uint", size: 1 }, attributes: {}, codecs: [] },
  chunkGrid: { chunkShape: shape },
  chunkKeyEncoding: { name: "default", separator: "/" },
  fillValue: { bytes: Uint8Array.of(0) },
  dimensionNames: ["y", "x"],
});

const cut = (
  path: string,
  of: readonly number[],
  to: readonly number[],
  placing: ItemPlacing,
): ChangedNode => ({ ...{ path, metadata: array(to), placing }, from: { path, metadata: array(of) } });

/** What becomes of the layout of two levels, the second a mean of blocks of 2 x 2, of which both are cut. */
function cutLevels(transform: JsonObject, first: ItemPlacing, second: ItemPlacing) {
  const layout: JsonObject[] = [{ asset: "0" }, { asset: "1", derived_from: "0", transform }];
  const metadata: NodeMetadata = { kind: "group", attributes: { multiscales: { layout } } };
  const { nodes, notes } = followConventions(
    [
      { path: "", metadata, from: { path: "", metadata } },
      cut("0", [16, 16], [4, 4], first),
      cut("1", [8, 8], [2, 2], second),
    ],
    { members: "all" },
  );
  return { multiscales: nodes[0]?.metadata.attributes.multiscales, notes };
}

describe("levels that are both cut", () => {
  const first = { start: [5, 4], step: [1, 1] };

  it("lie where they lie in each other", () => {
    const second = { start: [2, 2], step: [1, 1] };
    const { multiscales, notes } = cutLevels({ scale: [2, 2], translation: [0.5, 0.5] }, first, second);
    expect(multiscales).toEqual({
      layout: [
        { asset: "0" },
        { asset: "1", derived_from: "0", transform: { scale: [2, 2], translation: [-0.5, 0.5] } },
      ],
    });
    expect(notes).toEqual([]);
  });

  it("count in steps of the first", () => {
    const steps = { start: [0, 0], step: [2, 4] };
    const { multiscales } = cutLevels({ scale: [2, 2] }, steps, { start: [1, 0], step: [1, 2] });
    expect(multiscales).toMatchObject({
      layout: [{}, { transform: { scale: [1, 1], translation: [1, 0] } }],
    });
  });

  it("do not say how they fit where they stated it in other words", () => {
    const { multiscales, notes } = cutLevels({ affine: [] }, first, first);
    expect(multiscales).toEqual({ layout: [{ asset: "0" }, { asset: "1" }] });
    expect(notes).toEqual([{ path: "", message: expect.stringContaining("fit each other") }]);
  });
});

it("attributes of chunks that are no numbers stay when chunks change", async () => {
  const attributes = { _ChunkSizes: null, chunksizes: [null, 2] };
  const to = new MemoryStore();
  await rechunk(await given({ dataType: "int8", shape: [2, 2], attributes }), to, { chunks: [1, 2] });
  expect((await openArray(to)).attributes).toEqual(attributes);
});
