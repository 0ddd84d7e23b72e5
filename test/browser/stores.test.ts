// @module-tag tools
import { expect, it } from "vitest";
import { storeChecks } from "../../src/stores/testing.ts";
import { describeInBrowsers } from "./browsers.ts";
import { bundlePage } from "./bundle-page.ts";
import { openPageOf } from "./open-page.ts";

describeInBrowsers("stores of pages", (browser) => {
  it("keep what every store must, in the folder of the site, in files and in a zip", async () => {
    const page = await openPageOf(browser(), await bundlePage("store-checks.mjs"));
    const { counts, wrong, left } = await page.evaluate<{
      readonly counts: Readonly<Record<string, number>>;
      readonly wrong: readonly string[];
      readonly left: readonly string[];
    }>("runChecks()");
    expect(wrong).toEqual([]);
    expect(left).toEqual([]);
    const [reading, writing] = [harness(false), harness(true)].map((one) => storeChecks(one).length);
    expect(counts).toEqual({ FileSystemStore: writing, FilesStore: reading, ZipStore: reading });
  });
});

/** As far as the number of checks depends on it. */
function harness(isWritable: boolean) {
  const none = async () => {
    throw new Error("not run here");
  };
  return { lists: true, filled: none, ...(isWritable && { empty: none }) };
}
