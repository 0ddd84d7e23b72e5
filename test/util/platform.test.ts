import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { root } from "../built-package.ts";

const siblings = readdirSync(join(root, "src"), { recursive: true, encoding: "utf8" })
  .filter((name) => name.endsWith(".browser.ts"))
  .map((name) => join(root, "src", name));

test("what stands for a module of Node in browsers exports the same names", async () => {
  expect(siblings.length).toBeGreaterThan(0);
  const seen: string[] = [];
  for (const path of siblings) {
    const node = path.replace(/\.browser\.ts$/, ".node.ts");
    expect(existsSync(node)).toBe(true);
    const names = Object.keys(await import(path)).sort();
    expect(names).toEqual(Object.keys(await import(node)).sort());
    seen.push(...names);
  }
  // one file of a build exports all of them
  expect(new Set(seen).size).toBe(seen.length);
});
