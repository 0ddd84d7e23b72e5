import { existsSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { root } from "../built-package.ts";
import { read } from "./code-block.ts";

const lines = read("docs/threat-model.md").split("\n");
const rows = lines.filter((line) => line.startsWith("|") && !/^\| *(?:-{3}|Attack)/.test(line));

test.each(rows)("%s", (row) => {
  const tests = [...row.matchAll(/\]\(([^)]*)\)/g)].map(([, path = ""]) => path);
  expect(tests).not.toEqual([]);
  for (const path of tests) {
    expect(path).toMatch(/\.test\.ts$/);
    expect(existsSync(join(root, "docs", path))).toBe(true);
  }
});
