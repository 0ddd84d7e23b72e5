import { describe, expect, it } from "vitest";
import { normalisePath } from "../../src/util/node-path.ts";

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
