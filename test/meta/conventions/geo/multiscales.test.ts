import { describe, expect, test } from "vitest";
import type { ArrayMetadata, NodeMetadata } from "../../../../src/meta/array-metadata.ts";
import type { ChangedNode, ItemPlacing } from "../../../../src/meta/conventions/convention.ts";
import { followConventions } from "../../../../src/meta/conventions/conventions.ts";
import type { JsonObject } from "../../../../src/util/json-value.ts";

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
): ChangedNode => ({
  ...{ path, metadata: array(to), placing },
  from: { path, metadata: array(of) },
});

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

  test("lie where they lie in each other", () => {
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

  test("count in steps of the first", () => {
    const steps = { start: [0, 0], step: [2, 4] };
    const { multiscales } = cutLevels({ scale: [2, 2] }, steps, { start: [1, 0], step: [1, 2] });
    expect(multiscales).toMatchObject({
      layout: [{}, { transform: { scale: [1, 1], translation: [1, 0] } }],
    });
  });

  test("do not say how they fit where they stated it in other words", () => {
    const { multiscales, notes } = cutLevels({ affine: [] }, first, first);
    expect(multiscales).toEqual({ layout: [{ asset: "0" }, { asset: "1" }] });
    expect(notes).toEqual([{ path: "", message: expect.stringContaining("fit each other") }]);
  });
});
