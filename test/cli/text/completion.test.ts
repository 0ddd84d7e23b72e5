import { spawnSync } from "node:child_process";
import { describe, expect, it } from "vitest";
import { commandNames, loadCommands } from "../../../src/cli/command-list.ts";
import { completionScript } from "../../../src/cli/text/completion.ts";

/** What bash offers for the last of `words`. */
async function offered(...words: readonly string[]): Promise<string[]> {
  const script = completionScript("bash", await loadCommands());
  const line = words.map((word) => `'${word}'`).join(" ");
  const program = `${script}
COMP_WORDS=(zarrflow ${line}); COMP_CWORD=${words.length}; _zarrflow; printf '%s\\n' "\${COMPREPLY[@]}"`;
  const { stdout, stderr, status } = spawnSync("bash", ["-c", program], { encoding: "utf8" });
  expect({ stderr, status }).toEqual({ stderr: "", status: 0 });
  return stdout.split("\n").filter(Boolean);
}

describe("completion in bash", () => {
  it("offers the commands", async () => {
    expect(await offered("")).toEqual([...commandNames, "help"]);
    expect(await offered("di")).toEqual(["digest", "diff"]);
    expect(await offered("help", "rec")).toEqual(["rechunk"]);
  });

  it("offers the flags of a command, and the values of a flag", async () => {
    const flags = [
      "--ascii",
      "--anonymous",
      "--missing-403",
      "--v2-separator",
      "--max-metadata",
      "--quiet",
      "--json",
      "--help",
    ];
    expect(await offered("tree", "--")).toEqual(flags);
    expect(await offered("copy", "a", "--if-exists", "")).toEqual(["error", "skip", "replace"]);
    expect(await offered("completion", "")).toEqual(["bash", "zsh", "fish"]);
  });

  it("offers files else", async () => {
    expect(await offered("info", "package.js")).toEqual(["package.json"]);
  });
});

describe.each(["zsh", "fish"] as const)("completion in %s", (shell) => {
  it("names every command, and every flag with its words", async () => {
    const script = completionScript(shell, await loadCommands());
    for (const [name, { options }] of await loadCommands()) {
      expect(script).toContain(name);
      for (const [flag, { bare }] of Object.entries(options)) {
        const inZsh = bare === undefined ? `--${flag}[` : `--${flag}=-[`;
        expect(script).toContain(shell === "zsh" ? inZsh : `-l ${flag} `);
      }
    }
  });

  it("closes every quote", async () => {
    const script = completionScript(shell, await loadCommands());
    for (const line of script.split("\n").filter((each) => !each.startsWith("#"))) {
      expect(line.replaceAll("'\\''", "").split("'").length % 2, line).toBe(1);
    }
  });
});
