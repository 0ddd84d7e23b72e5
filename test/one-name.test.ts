import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";

/** Names that several files export on purpose, with the reason. */
const SHARED: Readonly<Record<string, string>> = {
  command: "each module in cli/commands exports one",
  canStartThreads: "threads of Node and of pages have one interface",
  startThread: "threads of Node and of pages have one interface",
  packedWasm: "the build writes a module for each set of kernels",
  noteMissing: "threads of pages have the interface of those of Node",
};

const DECLARED = /^export (?:async |abstract |declare )*(?:function\*?|class|interface|type|const) (\w+)/gm;

it("exports each name from one file, platform twins aside", () => {
  const root = join(import.meta.dirname, "../src");
  const files = new Map<string, Set<string>>();
  for (const file of readdirSync(root, { recursive: true, encoding: "utf8" })) {
    if (!file.endsWith(".ts") || file.includes("assembly")) continue;
    for (const [, name = ""] of readFileSync(join(root, file), "utf8").matchAll(DECLARED)) {
      const twins = file.replaceAll("\\", "/").replace(/\.(?:node|browser)\.ts$/, ".ts");
      files.set(name, (files.get(name) ?? new Set()).add(twins));
    }
  }
  expect(files.size).toBeGreaterThan(1000);
  const several = [...files].filter(([name, { size }]) => size > 1 && !Object.hasOwn(SHARED, name));
  expect(several.map(([name, places]) => `${name}: ${[...places].join(", ")}`)).toEqual([]);
});
