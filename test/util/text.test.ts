import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { globMatcher } from "../../src/util/glob.ts";
import { compareUtf8, nearestName } from "../../src/util/names.ts";
import { folderOf, normalizePath } from "../../src/util/node-path.ts";
import {
  formatBytes,
  formatEnoughBytes,
  isDuration,
  parseBytes,
  parseDuration,
} from "../../src/util/units.ts";

describe("paths", () => {
  it.each([
    ["", "/", "//", ""],
    ["foo/bar", "/foo/bar/", "\\foo\\bar\\", "///foo///bar//", "foo/\\/bar", "foo/bar"],
    ["foo/..."],
    [".hidden/..x"],
  ])("are normalized: %j, ...", (...paths) => {
    expect(paths.map(normalizePath)).toEqual(paths.map(() => paths.at(-1)));
  });

  it.each(["..", ".", "foo/../bar", "foo\\..\\bar", "/./", "foo/."])(
    "%j is refused by its segment",
    (path) => {
      const details = expect.objectContaining({ path, value: expect.stringMatching(/^\.\.?$/) });
      expect(() => normalizePath(path)).toThrow(
        expect.objectContaining({ code: "path-not-allowed", details }),
      );
    },
  );

  it("have the folder that they lie in", () => {
    expect(["a", "a/b", "a/b/0.0", ""].map(folderOf)).toEqual(["", "a", "a/b", ""]);
  });

  it("are ordered as the bytes of UTF-8 are", () => {
    const unit = fc.constantFrom("a", "/", ".", "é", "\ud7ff", "\ue000", "\uffff", "😀", "𐀀");
    fc.assert(
      fc.property(fc.string({ unit }), fc.string({ unit }), (a, b) => {
        return Math.sign(compareUtf8(a, b)) === Buffer.compare(Buffer.from(a), Buffer.from(b));
      }),
    );
  });
});

describe("globs", () => {
  it.each([
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
    expect([...meant, ...others].filter(globMatcher(glob))).toEqual(meant);
  });

  it.each(["", "/", "[a", "{a", "a}", "a\\", "[z-a]"])("`%s` is refused", (glob) => {
    expect(() => globMatcher(glob)).toThrow(expect.objectContaining({ code: "invalid-option" }));
  });
});

describe("the nearest name", () => {
  const commands = "info tree copy rechunk convert slice digest diff validate help".split(" ");

  it.each([
    "inof info",
    "cpoy copy",
    "recunk rechunk",
    "rechunck rechunk",
    "Copy copy",
    "val validate",
    "dif diff",
  ])("of what is mistyped: %s", (words) => {
    const [name = "", meant] = words.split(" ");
    expect(nearestName(name, commands)).toBe(meant);
  });

  it.each(["nope", "r", "ls", "xyz", "move", "frobnicate", ""])("is not guessed for %j", (name) =>
    expect(nearestName(name, commands)).toBeUndefined(),
  );
});

describe("durations", () => {
  it.each([
    [20, 20_000],
    [0.5, 500],
    ["20", 20_000],
    ["20s", 20_000],
    [" 1.5 min ", 90_000],
    ["500ms", 500],
    ["2h", 7_200_000],
  ])("%j are %i ms", (time, milliseconds) => expect(parseDuration(time)).toBe(milliseconds));

  it.each([0, -1, Number.NaN, Number.POSITIVE_INFINITY, "", "s", "20 parsecs", "-1s", "9999h"])(
    "%j is none",
    (time) => {
      expect(isDuration(time)).toBe(false);
      expect(() => parseDuration(time)).toThrow(expect.objectContaining({ code: "invalid-option" }));
    },
  );
});

describe("sizes", () => {
  it("formatEnoughBytes gives a size that is enough, and is hardly more", () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 2e12 }), (bytes) => {
        const enough = parseBytes(formatEnoughBytes(bytes));
        expect(enough).toBeGreaterThanOrEqual(bytes);
        expect(enough).toBeLessThanOrEqual(bytes * 1.101);
      }),
    );
  });

  it.each([
    [412, "412 B", "412 B"],
    [1549, "1.5 kB", "1.6 kB"],
    [219_168_768, "219 MB", "220 MB"],
    [256e6, "256 MB", "256 MB"],
  ])("%d bytes are %s, and %s are enough for them", (bytes, size, enough) =>
    expect([formatBytes(bytes), formatEnoughBytes(bytes)]).toEqual([size, enough]),
  );
});
