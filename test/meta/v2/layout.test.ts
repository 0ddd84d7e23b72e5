import { expect, it } from "vitest";
import { layoutV2 } from "../../../src/meta/v2/layout.ts";
import { failure } from "../helpers.ts";

it("lays documents and chunks side by side below the path", () => {
  const layout = layoutV2("/foo\\bar//");
  expect(layout).toMatchObject({
    zarrFormat: "v2",
    path: "foo/bar",
    documentKeys: ["foo/bar/.zattrs", "foo/bar/.zarray", "foo/bar/.zgroup"],
  });
  const plain = { name: "plain", separator: "." } as const;
  expect(layout.chunkKey([0, 12], plain)).toBe("foo/bar/0.12");
  expect(layout.parseChunkKey("foo/bar/0.12", 2, plain)).toEqual([0, 12]);
  expect(layout.parseChunkKey("foo/barbaz/0.12", 2, plain)).toBeUndefined();
  expect(layout.parseChunkKey("foo/bar/.zarray", 2, plain)).toBeUndefined();
});

it("has no prefix at the root", () => {
  const layout = layoutV2("");
  expect(layout.documentKeys).toEqual([".zattrs", ".zarray", ".zgroup"]);
  expect(layout.chunkKey([], { name: "plain", separator: "/" })).toBe("0");
});

it("refuses to leave the root", () => {
  expect(failure(() => layoutV2("foo/../bar")).code).toBe("path-not-allowed");
});
