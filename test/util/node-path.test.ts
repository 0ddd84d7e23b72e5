import { describe, expect, it } from "vitest";
import { folderOf, normalisePath } from "../../src/util/node-path.ts";

describe("normalisePath", () => {
  it.each([
    ["", ""],
    ["/", ""],
    ["//", ""],
    ["foo/bar", "foo/bar"],
    ["/foo/bar/", "foo/bar"],
    ["\\foo\\bar\\", "foo/bar"],
    ["///foo///bar//", "foo/bar"],
    ["foo/\\/bar", "foo/bar"],
    ["foo/...", "foo/..."],
    [".hidden/..x", ".hidden/..x"],
  ])("makes %j %j", (path, normal) => {
    expect(normalisePath(path)).toBe(normal);
  });

  it.each(["..", ".", "foo/../bar", "foo\\..\\bar", "/./", "foo/."])(
    "refuses %j, naming path and segment",
    (path) => {
      expect(() => normalisePath(path)).toThrow(
        expect.objectContaining({
          code: "path-not-allowed",
          details: expect.objectContaining({ path, value: expect.stringMatching(/^\.\.?$/) }),
        }),
      );
    },
  );
});

describe("folderOf", () => {
  it.each([
    ["a", ""],
    ["a/b", "a"],
    ["a/b/0.0", "a/b"],
    ["", ""],
  ])("of %j is %j", (key, folder) => {
    expect(folderOf(key)).toBe(folder);
  });
});
