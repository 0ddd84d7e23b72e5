import { describe, expect, it } from "vitest";
import { isAsciiLocale, treeText } from "../../../src/cli/text/tree.ts";
import type { TreeNode } from "../../../src/flows/tree.ts";

function group(path: string, findings: TreeNode["findings"] = [], implied = false): TreeNode {
  return { kind: "group", path, zarrFormat: "v2", findings, implied };
}

describe("a tree", () => {
  it("joins siblings and ends at the last one", () => {
    const paths = ["", "a", "a/x", "a/y", "b", "b/z"];
    expect(
      treeText(
        paths.map((path) => group(path)),
        "root",
      ),
    ).toBe(
      [
        "root  group, v2",
        "├── a  group",
        "│   ├── x  group",
        "│   └── y  group",
        "└── b  group",
        "    └── z  group",
        "",
      ].join("\n"),
    );
  });

  it("prints findings below their node, before its children", () => {
    const odd = [{ message: "odd", pointer: "/shape" }];
    const nodes = [group("", odd), group("a", odd), group("a/b", odd, true)];
    expect(treeText(nodes, "root", { ascii: true })).toBe(
      [
        "root  group, v2",
        "|   ! /shape: odd",
        "`-- a  group",
        "    |   ! /shape: odd",
        "    `-- b  group, implied",
        "",
      ].join("\n"),
    );
  });

  it("lets no name act on the terminal", () => {
    const text = treeText([group(""), group("a\u001b[2Jb\u202e")], "root");
    expect(text).toContain("a\\u{1b}[2Jb\\u{202e}");
  });
});

describe("the locale", () => {
  it.each([
    [{}, false],
    [{ LANG: "" }, false],
    [{ LANG: "de_DE.UTF-8" }, false],
    [{ LANG: "C" }, true],
    [{ LANG: "en_US.utf8", LC_ALL: "POSIX" }, true],
    [{ LANG: "C", LC_CTYPE: "C.UTF-8" }, false],
  ])("%j asks for ASCII: %s", (env, isAscii) => {
    expect(isAsciiLocale(env)).toBe(isAscii);
  });
});
