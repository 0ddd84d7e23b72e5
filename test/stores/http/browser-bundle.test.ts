import { expect, test } from "vitest";
import { bundleForBrowsers } from "../../support/browser-bundle.ts";

/** What a page needs to read from a web server. */
const MODULES = ["http", "with/cache", "with/merged-ranges", "with/rate-limit", "with/retry", "with/zarrita"];

test("a bundle for browsers that reads over HTTP needs nothing of Node", async () => {
  const chunks = await bundleForBrowsers(MODULES.map((name) => `stores/${name}`));
  expect(chunks.filter(({ isEntry }) => isEntry)).toHaveLength(MODULES.length);
  const outside = chunks.flatMap(({ imports, dynamicImports }) => [...imports, ...dynamicImports]);
  const own = chunks.map(({ fileName }) => fileName);
  expect(outside.filter((name) => !own.includes(name))).toEqual([]);
});
