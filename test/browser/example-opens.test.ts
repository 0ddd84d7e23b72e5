// @module-tag tools
import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { beforeAll, expect, it } from "vitest";
import { copy } from "../../src/index.ts";
import { root } from "../built-package.ts";
import { temporaryFolder } from "../stores/temporary-folder.ts";
import { writeSea } from "../support/view-samples.ts";
import { describeInBrowsers } from "./browsers.ts";
import { servePages } from "./page-server.ts";

/** How many colours a picture has. */
const COLOURS = `(() => {
  const canvas = document.querySelector("canvas.picture");
  const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
  return new Set(new Uint32Array(data.buffer)).size;
})()`;

describeInBrowsers("examples/browser", (browser) => {
  const temporary = temporaryFolder();
  beforeAll(async () => {
    const { path } = temporary;
    await promisify(execFile)(process.execPath, [
      join(root, "examples/browser/build.mjs"),
      join(path, "site"),
    ]);
    await writeSea(path);
    await copy(join(path, "sea.zarr"), join(path, "site/sea.zarr.zip"));
  });

  it("shows a slice of a zip of a server, with nothing on the console", async () => {
    const server = await servePages(join(temporary.path, "site"));
    const context = await browser().newContext();
    const page = await context.newPage();
    const said: string[] = [];
    page.on("console", (message) => said.push(message.text()));
    page.on("pageerror", (error) => said.push(`${error.stack}`));
    try {
      await page.goto(`${server.url}/index.html?url=${server.url}/sea.zarr.zip`);
      await page.waitForFunction("document.querySelector('[aria-label=Picture][aria-busy=false]') !== null");
      expect(await page.evaluate("document.querySelector('h1').textContent")).toBe("sst");
      expect(await page.evaluate(COLOURS)).toBeGreaterThan(30);
    } finally {
      await context.close();
      await server.close();
    }
    expect(said).toEqual([]);
  });
});
