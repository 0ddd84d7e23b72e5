import { describe, expect, test } from "vitest";
import { globMatcher } from "../../src/util/glob.ts";

describe("globMatcher", () => {
  test.each([
    ["t2m", ["t2m", "a/t2m", "a/b/t2m"], ["t2m2", "t2m/0.0", "xt2m"]],
    ["*.txt", ["notes.txt", "a/notes.txt", ".txt"], ["notes.txt.gz", "a.txt/b"]],
    ["/t2m", ["t2m"], ["a/t2m"]],
    ["2024/*", ["2024/t2m"], ["2024", "2024/t2m/0", "a/2024/t2m"]],
    ["**/t2m", ["t2m", "a/t2m", "a/b/t2m"], ["a/t2m/0", "at2m"]],
    ["a/**", ["a/b", "a/b/c"], ["a", "b/a/c"]],
    ["a/**/z", ["a/z", "a/b/z", "a/b/c/z"], ["a/bz"]],
    ["t?m", ["t2m", "tém", "t😀m"], ["tm", "t22m", "t/m"]],
    ["[a-c]x", ["ax", "b/cx"], ["dx", "-x"]],
    ["[!a-c]x", ["dx"], ["ax", "/x"]],
    ["[.^]x", [".x", "^x"], ["ax"]],
    ["{t2m,u10}", ["t2m", "u10", "a/u10"], ["t2m,u10", "v10"]],
    ["a/{b,c*}/d", ["a/b/d", "a/cc/d"], ["a/d/d"]],
    ["a,b", ["a,b"], ["a"]],
    ["\\*", ["*"], ["a"]],
    ["a.b+(c)$", ["a.b+(c)$"], ["aab"]],
    ["dir/", ["dir", "a/dir"], ["dir/x"]],
    ["line*", ["line\nbreak"], []],
  ])("%s", (glob, meant, others) => {
    const matches = globMatcher(glob);
    expect(meant.filter((path) => !matches(path))).toEqual([]);
    expect(others.filter((path) => matches(path))).toEqual([]);
  });

  test.each(["", "/", "[a", "{a", "a}", "a\\", "[z-a]"])("`%s` is refused", (glob) => {
    expect(() => globMatcher(glob)).toThrow(expect.objectContaining({ code: "invalid-option" }));
  });
});
