import { readdirSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { root } from "../built-package.ts";

// Firefox 153, once it has compiled a function, takes the result of `fill` for the array that the part was cut from
it("uses no result of filling a part of an array", async () => {
  const names = readdirSync(join(root, "src"), { recursive: true, encoding: "utf8" });
  const found: string[] = [];
  for (const name of names.filter((one) => one.endsWith(".ts"))) {
    const text = await readFile(join(root, "src", name), "utf8");
    if (/\.(subarray|take)\([^;]*?\)\s*\.fill\(/.test(text)) found.push(name);
  }
  expect(found).toEqual([]);
});
