import { describe, expect, it } from "vitest";
import { commandNames } from "../../../src/cli/command-list.ts";
import { loadCommand } from "../../../src/cli/load-command.ts";
import { parseArguments } from "../../../src/cli/parse-arguments.ts";
import { commandHelp, overview } from "../../../src/cli/text/help.ts";

describe("help", () => {
  it("of all", () => {
    expect(overview()).toMatchSnapshot();
    for (const name of commandNames) expect(overview()).toContain(`\n  ${name} `);
  });

  it.each(commandNames)("of %s", async (name) => {
    const help = commandHelp(name, await loadCommand(name));
    expect(help).toMatchSnapshot();
    expect(help.split("\n").filter((line) => line.length > 110)).toEqual([]);
  });

  it.each(commandNames)("gives examples of %s that parse", async (name) => {
    const command = await loadCommand(name);
    for (const { line } of command.examples) {
      const [first, ...args] = line.replace(/ [|>].*$/, "").split(" ");
      expect(first).toBe(name);
      expect(() => parseArguments(args, { ...command, operands: [1, 3] })).not.toThrow();
    }
  });
});
