import { describe, expect, it } from "vitest";
import { layoutV1 } from "../../../src/meta/v1/layout.ts";
import { failure } from "../helpers.ts";

const encoding = { name: "plain", separator: "." } as const;

describe("keys of a v1 array", () => {
  it("lie side by side, attributes before the array", () => {
    expect(layoutV1("").documentKeys).toEqual(["attrs", "meta"]);
    expect(layoutV1("").attributesKey).toBe("attrs");
    expect(layoutV1("").chunkKey([4, 2], encoding)).toBe("4.2");
    expect(layoutV1("").chunkKey([7], encoding)).toBe("7");
  });

  it("lie in the folder that a path names", () => {
    expect(layoutV1("/a//b/").documentKeys).toEqual(["a/b/attrs", "a/b/meta"]);
    expect(layoutV1("a").chunkKey([0, 0], encoding)).toBe("a/0.0");
    expect(failure(() => layoutV1("a/../b")).code).toBe("path-not-allowed");
  });

  it.each([
    ["4.2", [4, 2]],
    ["0.0", [0, 0]],
    ["0.0.k3j4h5.partial", undefined],
    ["0.partial", undefined],
    ["00.1", undefined],
    ["1", undefined],
    ["1.2.3", undefined],
    ["1/2", undefined],
    ["-1.2", undefined],
    ["meta", undefined],
  ])("%s is a chunk of two dimensions at %j", (key, coords) => {
    expect(layoutV1("").parseChunkKey(key, 2, encoding)).toEqual(coords);
  });
});
