import { describe, expect, it } from "vitest";
import { DRAFT_2019, DRAFT_2020 } from "../../../src/meta/v3-draft/form.ts";
import { brokenDraftName, layoutDraft } from "../../../src/meta/v3-draft/layout.ts";
import { failure } from "../helpers.ts";

const layoutOf = (path: string) => layoutDraft(DRAFT_2019, path);
const dot = { name: "plain", separator: "." } as const;
const slash = { name: "plain", separator: "/" } as const;

describe("keys of the draft of 2019", () => {
  it("lie in two trees", () => {
    const layout = layoutOf("/foo/baz");
    expect(layout).toMatchObject({
      zarrFormat: "v3-draft-2019",
      path: "foo/baz",
      documentKeys: ["meta/root/foo/baz.array", "meta/root/foo/baz.group"],
      prefixes: ["meta/root/foo/baz/", "data/foo/baz/"],
      chunksPrefix: "data/foo/baz/",
      membersPrefix: "meta/root/foo/baz/",
      hierarchy: { sharedKeys: ["zarr.json"], impliesGroups: true, ignoresCase: true },
    });
    expect(layout.chunkKey([0, 0], dot)).toBe("data/foo/baz/0.0");
    expect(layout.chunkKey([1, 23, 45], slash)).toBe("data/foo/baz/1/23/45");
    expect(layout.chunkKey([], dot)).toBe("data/foo/baz/0");
    expect(layout.parseChunkKey("data/foo/baz/1.2", 2, dot)).toEqual([1, 2]);
    expect(layout.parseChunkKey("meta/root/foo/baz/1.2", 2, dot)).toBeUndefined();
    expect(layout.parseChunkKey("data/foo/bazz/1.2", 2, dot)).toBeUndefined();
  });

  it("of the root have no name", () => {
    const root = layoutOf("/");
    expect(root.path).toBe("");
    expect(root.documentKeys).toEqual(["meta/root.array", "meta/root.group"]);
    expect(root.prefixes).toEqual(["meta/root/", "data/", ""]);
    expect(root.chunkKey([0, 0], dot)).toBe("data/0.0");
  });

  it("take off exactly one suffix, and of keys alone", () => {
    const root = layoutOf("");
    expect(root.memberName("meta/root/dots.array/")).toBe("dots.array");
    expect(root.memberName("meta/root/dots.array.array")).toBe("dots.array");
    expect(root.memberName("meta/root/x.group.array")).toBe("x.group");
    expect(root.memberName("meta/root/README.md")).toBeUndefined();
    expect(root.memberName("meta/root/a b.array")).toBeUndefined();
    expect(root.memberName("meta/root/.array")).toBeUndefined();
  });

  it("tell whose document they are of", () => {
    const { nodeOf, pathOf } = layoutOf("").hierarchy;
    expect(nodeOf("meta/root.group")).toBe("");
    expect(nodeOf("meta/root/foo/dots.array.group")).toBe("foo/dots.array");
    for (const key of [
      "zarr.json",
      "meta/root/a.json",
      "data/a.array",
      "meta/a.array",
      "meta/root/a b.array",
    ]) {
      expect(nodeOf(key)).toBeUndefined();
    }
    expect(pathOf("data/foo/0.0")).toBe("foo/0.0");
    expect(pathOf("meta/root/foo/bar.array")).toBe("foo/bar.array");
    expect(pathOf("README.md")).toBe("README.md");
  });
});

it("keys the later draft with a suffix, and chunks with a `c` before the first index", () => {
  const layout = layoutDraft(DRAFT_2020, "a");
  expect(layout.documentKeys).toEqual(["meta/root/a.array.json", "meta/root/a.group.json"]);
  expect(layout.chunkKey([0, 1], slash)).toBe("data/root/a/c0/1");
  expect(layout.parseChunkKey("data/root/a/c0/1", 2, slash)).toEqual([0, 1]);
  expect(layout.parseChunkKey("data/root/a/0/1", 2, slash)).toBeUndefined();
  expect(layout.memberName("meta/root/a/b.array.json")).toBe("b");
  expect(layout.hierarchy.nodeOf("meta/root/a/b.group.json")).toBe("a/b");
  expect(layout.hierarchy.nodeOf("meta/root/a/b.group")).toBeUndefined();
  expect(layoutDraft(DRAFT_2020, "").chunkKey([3], slash)).toBe("data/root/c3");
});

describe("paths", () => {
  it("may lack the slash in front", () => {
    expect(layoutOf("a/b").path).toBe("a/b");
    expect(layoutOf("/a/b").path).toBe("a/b");
  });

  it.each(["a/", "/a/", "a//b", "//a", "//"])("refuse the slashes of %j", (path) => {
    expect(failure(() => layoutOf(path))).toMatchObject({
      code: "path-not-allowed",
      details: { format: "v3-draft-2019", path },
    });
  });
});

describe("node names", () => {
  it.each([
    "a",
    "Z",
    "0",
    "-",
    "_",
    ".a",
    "a.",
    "..a",
    "foo.array",
    "zarr.json",
    "__x",
    "meta",
    "x".repeat(255),
  ])("may be %j", (name) => expect(brokenDraftName(name)).toBeUndefined());

  it.each([
    ["", "is empty"],
    [".", "has only periods"],
    ["...", "has only periods"],
    ["a b", "has a character other than"],
    ["a\\b", "has a character other than"],
    ["é", "has a character other than"],
    ["a\n", "has a character other than"],
    ["a\0", "has a character other than"],
    ["x".repeat(256), "is longer than 255 characters"],
  ])("may not be %j, which %s", (name, rule) => {
    expect(brokenDraftName(name)).toContain(rule);
    if (name === "") return;
    const error = failure(() => layoutOf(`g/${name}/a`));
    expect(error).toMatchObject({ code: "invalid-node-name", details: { path: `g/${name}/a` } });
    expect(error.message).toContain(rule);
  });
});
