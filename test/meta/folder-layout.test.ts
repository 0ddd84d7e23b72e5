import { expect, it } from "vitest";
import { movedKey, outerPrefixes } from "../../src/meta/folder-layout.ts";
import { layoutV2 } from "../../src/meta/v2/v2.ts";
import { DRAFT_2019 } from "../../src/meta/v3-draft/form.ts";
import { layoutDraft } from "../../src/meta/v3-draft/layout.ts";

const draft = (path: string) => layoutDraft(DRAFT_2019, path);

it("lists no key twice", () => {
  expect(outerPrefixes(layoutV2("a"))).toEqual(["a/"]);
  expect(outerPrefixes(draft("a"))).toEqual(["meta/root/a/", "data/a/"]);
  expect(outerPrefixes(draft(""))).toEqual([""]);
});

it.each([
  ["data/a/x", draft("a"), draft("b"), "data/b/x"],
  ["meta/root/a/x", draft("a"), draft("b/c"), "meta/root/b/c/x"],
  ["data/x", draft(""), draft("b"), "data/b/x"],
  ["README", draft(""), draft("b"), "data/b/README"],
  ["README", draft(""), draft(""), "README"],
  ["meta/root/a/x", draft("a"), layoutV2("b"), "b/x"],
  ["data/a/x", draft("a"), layoutV2(""), "x"],
  ["a/x", layoutV2("a"), draft("b"), "data/b/x"],
  ["a/x", layoutV2("a"), layoutV2("b/c"), "b/c/x"],
])("moves %j to its like", (key, from, to, moved) => {
  expect(movedKey(key, from, to)).toBe(moved);
});
