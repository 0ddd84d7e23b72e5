import { expect, it } from "vitest";
import { layoutV3 } from "../../../src/meta/v3/layout.ts";
import { failure } from "../helpers.ts";

it("puts one document and the chunks below the path", () => {
  const layout = layoutV3("/foo/bar/");
  expect(layout).toMatchObject({ zarrFormat: "v3", path: "foo/bar", documentKeys: ["foo/bar/zarr.json"] });
  const encoding = { name: "default", separator: "/" } as const;
  expect(layout.chunkKey([1, 2], encoding)).toBe("foo/bar/c/1/2");
  expect(layout.parseChunkKey("foo/bar/c/1/2", 2, encoding)).toEqual([1, 2]);
  expect(layout.parseChunkKey("foo/bar/zarr.json", 2, encoding)).toBeUndefined();
  expect(layoutV3("/").documentKeys).toEqual(["zarr.json"]);
});

it.each(["a", "é", "中文", "a b", ".a", "a.", "_x", "c", "zarr.jsonx", "x".repeat(300)])(
  "takes the name %j",
  (name) => {
    expect(layoutV3(`g/${name}`).path).toBe(`g/${name}`);
  },
);

it.each([
  ["a//b", "is empty"],
  ["//a", "is empty"],
  [".", "has only periods"],
  ["a/..", "has only periods"],
  ["a/..../b", "has only periods"],
  ["a/__x", "starts with `__`"],
  ["zarr.json", "is reserved"],
])("refuses %j, whose name %s", (path, rule) => {
  const error = failure(() => layoutV3(path));
  expect(error).toMatchObject({ code: "invalid-node-name", details: { format: "v3", path } });
  expect(error.message).toContain(rule);
});
