import { describe, expect, it } from "vitest";
import { assertKey, assertPrefix, isKey } from "../../src/stores/key.ts";

describe("assertKey", () => {
  it.each([
    ".zarray",
    "a/b/0.0",
    "...",
    "a/...",
    "..a",
    "a..",
    ".a/b.",
    "c/0/0",
    "a b",
    "é/日本/😀",
    "__proto__",
  ])("takes %j", (key) => {
    expect(isKey(key)).toBe(true);
    expect(() => assertKey(key)).not.toThrow();
  });

  it.each([
    ["", /empty/],
    ["/a", /leading/],
    ["a/", /end in/],
    ["a//b", /empty segment/],
    ["..", /`\.\.`/],
    ["a/../b", /`\.\.`/],
    ["./a", /`\.`/],
    ["a/.", /`\.`/],
    ["a\\b", /backslash/],
    ["a\0", /NUL/],
    ["a\ud800", /Unicode/],
  ])("refuses %j, naming the rule", (key, rule) => {
    expect(isKey(key)).toBe(false);
    expect(() => assertKey(key)).toThrow(
      expect.objectContaining({
        code: "path-not-allowed",
        reason: expect.stringMatching(rule),
        details: expect.objectContaining({ key }),
      }),
    );
  });
});

describe("assertPrefix", () => {
  it.each(["", "a/", "a/b/", ".../"])("takes %j", (prefix) => {
    expect(() => assertPrefix(prefix)).not.toThrow();
  });

  it.each(["a", "/", "../", "a//", "/a/", "a/./"])("refuses %j", (prefix) => {
    expect(() => assertPrefix(prefix)).toThrow(expect.objectContaining({ code: "path-not-allowed" }));
  });
});
