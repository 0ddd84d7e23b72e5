import { join } from "node:path";
import { rolldown } from "rolldown";
import { expect, test } from "vitest";
import { root } from "../../built-package.ts";

/** What a page needs to read from a web server. */
const MODULES = ["http", "with/cache", "with/merged-ranges", "with/rate-limit", "with/retry", "with/zarrita"];

test("a bundle for browsers that reads over HTTP needs nothing of Node", async () => {
  const bundle = await rolldown({
    input: Object.fromEntries(MODULES.map((name) => [name, join(root, "src/stores", `${name}.ts`)])),
    platform: "browser",
    external: /^node:/,
    logLevel: "silent",
  });
  try {
    const { output } = await bundle.generate({ format: "esm" });
    const chunks = output.flatMap((file) => (file.type === "chunk" ? [file] : []));
    expect(chunks.filter(({ isEntry }) => isEntry)).toHaveLength(MODULES.length);
    const outside = chunks.flatMap(({ imports, dynamicImports }) => [...imports, ...dynamicImports]);
    const own = chunks.map(({ fileName }) => fileName);
    expect(outside.filter((name) => !own.includes(name))).toEqual([]);
  } finally {
    await bundle.close();
  }
});
