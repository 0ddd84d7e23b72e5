import { describe, expect, it } from "vitest";
import { commandNames } from "../../../src/cli/command-list.ts";
import { isAsciiLocale, treeText } from "../../../src/cli/commands/tree.ts";
import { loadCommand } from "../../../src/cli/dispatch.ts";
import { parseArguments } from "../../../src/cli/parse-arguments.ts";
import { warningText } from "../../../src/cli/progress/event-progress.ts";
import { failureText } from "../../../src/cli/text/failure.ts";
import { commandHelp, definitions, overview } from "../../../src/cli/text/help.ts";
import type { TreeNode } from "../../../src/flows/tree.ts";
import { ZarrflowError } from "../../../src/util/errors.ts";

describe("help", () => {
  it("of all", () => {
    expect(overview()).toMatchSnapshot();
    for (const name of commandNames) expect(overview()).toContain(`\n  ${name} `);
  });

  it.each(commandNames)("of %s", async (name) => {
    const command = await loadCommand(name);
    const help = commandHelp(name, command);
    expect(help).toMatchSnapshot();
    expect(help.split("\n").filter((line) => line.length > 110)).toEqual([]);
    for (const { line } of command.examples) {
      const [first, ...args] = line.replace(/ [|>].*$/, "").split(" ");
      expect(first).toBe(name);
      expect(() => parseArguments(args, { ...command, operands: [1, 3] })).not.toThrow();
    }
  });

  it("has definitions that go on below themselves", () => {
    const rows = [
      ["--a", "one two three"],
      ["--long", "four"],
    ] as const;
    expect(definitions(rows, 18)).toBe("  --a     one two\n          three\n  --long  four");
  });
});

describe("the text of a failure", () => {
  const error = new ZarrflowError("corrupt-chunk", "checksum differs", {
    ...{ store: "directory a.zarr", path: "t2m", key: "t2m/0.3", coords: [0, 3] },
    ...{ codec: "crc32c", hint: "copy it again" },
  });

  it("says what, where and the way out, and shows no stack; it is one line of JSON when asked for", () => {
    const text =
      "zarrflow: chunk 0.3 of `t2m` (key t2m/0.3) codec crc32c: checksum differs\n" +
      "  store: directory a.zarr\n  hint: copy it again";
    expect(failureText(error)).toBe(text);
    const json = failureText(error, { json: true });
    expect(json).not.toContain("\n");
    const known = { code: "corrupt-chunk", exitCode: 1, coords: [0, 3] };
    expect(JSON.parse(json).error).toMatchObject(known);
    const [start] = failureText(error, { color: true }).split(" chunk");
    expect(start).toBe("\u001b[31mzarrflow:\u001b[39m");
  });

  it("gives the way out in flags where the library says that a target may be replaced, and else as it is", () => {
    const exists = (hint: string) =>
      failureText(new ZarrflowError("target-exists", "it exists", { store: "directory a", hint }));
    expect(exists("Replace it, or choose another target.")).toContain("hint: Use --if-exists replace");
    expect(exists("Run it again.")).toContain("hint: Run it again.");
    const unfinished = { tasks: 1, allTasks: 2, resume: "copy a b --resume", clean: "clean b" };
    const resumed = "to continue, after repairing the damage: copy a b --resume";
    expect(failureText(error, { unfinished })).toContain(resumed);
  });

  it("calls any other error a fault of its own, with the stack", () => {
    const fault = new TypeError("x is undefined");
    expect(failureText(fault)).toMatch(/this is a bug in zarrflow[\s\S]*words\.test\.ts/);
    const { error } = JSON.parse(failureText(fault, { json: true }));
    expect(error).toMatchObject({ code: "fault", exitCode: 1 });
    expect(failureText("thrown text")).toContain("thrown text");
  });
});

it("a warning is one line, with what a name hides made visible, and with flags in place of options", () => {
  expect(warningText({ message: "odd" })).toBe("warning: odd");
  const hidden = warningText({ message: "odd", key: "a\u001b[2Jb", hint: "Look." });
  expect(hidden).toMatch(/^warning: odd \(key a\S+b\)\. Look\.$/);
  expect(hidden).not.toContain("\u001b");
  const threads = { message: "`threads` has no effect: it is so", option: "threads", hint: "Omit it." };
  expect(warningText(threads)).toBe("warning: --threads has no effect: it is so. Omit it.");
  const loss = { message: "`allowLoss` (--allow-loss) has no effect: it is so", option: "allowLoss" };
  expect(warningText(loss)).toBe("warning: --allow-loss has no effect: it is so");
});

describe("a tree", () => {
  const group = (path: string, findings: TreeNode["findings"] = [], implied = false): TreeNode => {
    return { kind: "group", path, zarrFormat: "v2", findings, implied };
  };

  it("joins siblings and ends at the last one, with findings below their node, before its children", () => {
    const nodes = ["", "a", "a/x", "a/y", "b", "b/z"].map((path) => group(path));
    expect(treeText(nodes, "root")).toBe(`root  group, v2
├── a  group
│   ├── x  group
│   └── y  group
└── b  group
    └── z  group
`);
    const odd = [{ message: "odd", pointer: "/shape" }];
    const marked = [group("", odd), group("a", odd), group("a/b", odd, true)];
    expect(treeText(marked, "root", { ascii: true })).toBe(`root  group, v2
|   ! /shape: odd
\`-- a  group
    |   ! /shape: odd
    \`-- b  group, implied
`);
  });

  it.each([
    [{}, false],
    [{ LANG: "" }, false],
    [{ LANG: "de_DE.UTF-8" }, false],
    [{ LANG: "C" }, true],
    [{ LANG: "en_US.utf8", LC_ALL: "POSIX" }, true],
    [{ LANG: "C", LC_CTYPE: "C.UTF-8" }, false],
  ])("is of ASCII characters where the locale is %j: %s", (env, isAscii) => {
    expect(isAsciiLocale(env)).toBe(isAscii);
  });
});
