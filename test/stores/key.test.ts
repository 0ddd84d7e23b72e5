import { describe, expect, it } from "vitest";
import { assertKey, assertPrefix, isKey } from "../../src/stores/key.ts";
import { controlName, isControlName, isOwnName, temporaryName } from "../../src/stores/reserved-names.ts";

describe("assertKey", () => {
  const FINE = ".zarray a/b/0.0 ... a/... ..a a.. .a/b. c/0/0 é/日本/😀 __proto__";
  it.each([...FINE.split(" "), "a b"])("takes %j", (key) => {
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
    const details = expect.objectContaining({ key });
    const fault = { code: "path-not-allowed", reason: expect.stringMatching(rule), details };
    expect(() => assertKey(key)).toThrow(expect.objectContaining(fault));
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

describe("our own names", () => {
  it("are known again, differ each time, and those of control folders tell their target", () => {
    const control = controlName("x.zarr");
    const names = [temporaryName(), temporaryName(), control, controlName("x.zarr")];
    expect(names.every(isOwnName)).toBe(true);
    expect(new Set(names).size).toBe(names.length);
    expect(isControlName(control, "x.zarr")).toBe(true);
    expect(isControlName(control, "x")).toBe(false);
    expect(isControlName(controlName("y.x.zarr"), "x.zarr")).toBe(false);
  });

  it.each([".zarray", ".zarrflow", ".zarrflow-1", "zarrflow-0123456789ab", "x.zarrflow-0123456789ab"])(
    "are not like %s",
    (name) => {
      expect(isOwnName(name)).toBe(false);
    },
  );
});
