import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { EXIT_CODES } from "../../src/index.ts";
import { SPEC_ITEMS } from "../spec/rows.ts";
import { hasShared, shared } from "./shared.ts";

const page = (name: string) => readFileSync(`${shared}specs/${name}.md`, "utf8");

describe.skipIf(!hasShared)("the specifications' pages", () => {
  it.each(Object.entries(SPEC_ITEMS))("%s has the items that are tested", (name, items) => {
    const ids = [...page(name).matchAll(/^(?:- |### )([A-Z]\d*-\d+)\b/gm)].map(([, id]) => id);
    expect([...ids].sort()).toEqual([...items].sort());
  });

  it("have the codes and exit codes of the product, but for those of array jobs", () => {
    const table: Record<string, number> = {};
    for (const [, names = "", exits = ""] of page("README").matchAll(
      /^\| (`[^|]*) \|[^|]*\| ([\d, ]+) \|$/gm,
    )) {
      const codes = [...names.matchAll(/`([a-z-]+)`/g)].map(([, code = ""]) => code);
      const numbers = exits.split(",").map(Number);
      codes.forEach((code, i) => {
        table[code] = numbers[i] ?? numbers[0] ?? Number.NaN;
      });
    }
    const { "task-count-missing": _count, "tasks-undone": _tasks, ...others } = EXIT_CODES;
    expect(table).toEqual(others);
  });
});
