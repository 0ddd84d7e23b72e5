// @module-tag tools
import { execFile } from "node:child_process";
import { randomBytes } from "node:crypto";
import { copyFile, readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import axe from "axe-core";
import { type Browser, chromium, type Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { copy, create, digest, openArray, rechunk } from "../../src/index.ts";
import { root } from "../built-package.ts";
import { temporaryFolder } from "../stores/temporary-folder.ts";
import { writeSea } from "../support/view-samples.ts";
import { describeInBrowsers } from "./browsers.ts";
import { chromiumPath, hasChromium } from "./chromium.ts";
import { type PageServer, servePages } from "./page-server.ts";

describe.runIf(hasChromium)("examples/browser, in Chromium", () => {
  let browser: Browser;
  let site: string;
  const temporary = temporaryFolder();
  beforeAll(async () => {
    browser = await chromium.launch({ executablePath: chromiumPath, args: ["--no-sandbox"] });
    const { path: folder } = temporary;
    site = join(folder, "site");
    await promisify(execFile)(process.execPath, [join(root, "examples/browser/build.mjs"), site]);
    await writeSea(folder);
    await copy(join(folder, "sea.zarr"), join(site, "sea.zarr.zip"));
    const noise = await create(join(site, "noise.zarr.zip"), {
      shape: [4, 512, 512],
      dataType: "uint8",
      chunks: [1, 512, 512],
    });
    await noise.write({}, new Uint8Array(randomBytes(4 * 512 * 512)));
    await noise.close();
  });
  afterAll(() => browser?.close());

  interface Opened {
    readonly page: Page;
    readonly server: PageServer;
  }

  /** Opens the page; at the end its console must have said nothing. */
  async function openExample({ width = 1280, scheme = "light" as "light" | "dark" } = {}): Promise<Opened> {
    const server = await servePages(site);
    const context = await browser.newContext({
      viewport: { width, height: 900 },
      colorScheme: scheme,
      acceptDownloads: true,
    });
    // a dialog of the system cannot be answered here
    await context.addInitScript("delete globalThis.showSaveFilePicker");
    const page = await context.newPage();
    const said: string[] = [];
    page.on("console", (message) => said.push(message.text()));
    page.on("pageerror", (error) => said.push(`${error.stack}`));
    onTestFinished(async () => {
      await context.close();
      await server.close();
      expect(said).toEqual([]);
    });
    await page.goto(`${server.url}/index.html`);
    return { page, server };
  }

  const isDrawn = (page: Page) => page.locator("[aria-label=Picture][aria-busy=false]").waitFor();
  const filesOfSite = (page: Page) =>
    page.evaluate(async () => {
      const names: string[] = [];
      const folder = (await navigator.storage.getDirectory()) as unknown as { keys(): AsyncIterable<string> };
      for await (const name of folder.keys()) names.push(name);
      return names;
    });

  it("shows a zip of a server, by ranges, and one that is chosen", async () => {
    const { page, server } = await openExample();
    await page.getByLabel("URL").fill(`${server.url}/noise.zarr.zip`);
    await page.keyboard.press("Enter");
    await isDrawn(page);
    const { size } = await stat(join(site, "noise.zarr.zip"));
    const asked = server.requests.filter(({ path }) => path === "/noise.zarr.zip");
    expect(asked.length).toBeGreaterThan(1);
    expect(Math.max(...asked.map(({ bytes }) => bytes))).toBeLessThan(size);
    await page.getByLabel("Zip", { exact: true }).setInputFiles(join(site, "sea.zarr.zip"));
    await page.getByText("sea.zarr.zip", { exact: true }).first().waitFor();
    await isDrawn(page);
  });

  it("shows a folder that is chosen", async () => {
    const { page } = await openExample();
    await page.getByLabel("Folder").setInputFiles(join(site, "../sea.zarr"));
    await isDrawn(page);
    expect(await page.locator("h1").textContent()).toBe("sst");
  });

  it("plans, and gives a zip with the bytes of Node's", async () => {
    const { page, server } = await openExample();
    await page.goto(`${server.url}/index.html?url=${server.url}/sea.zarr.zip`);
    await isDrawn(page);
    const panel = page.getByLabel("Take away");
    const names = await panel
      .getByLabel("chunk length")
      .evaluateAll((all) => all.map((one) => (one as HTMLInputElement).max));
    for (const [d, length] of names.entries()) {
      await panel
        .getByLabel("chunk length")
        .nth(d)
        .fill(d === 0 ? length : "3");
    }
    await panel.getByText("Show the plan").click();
    await panel.getByText(/task.*of memory\./).waitFor();
    const download = page.waitForEvent("download");
    await panel.getByText("Download zip").click();
    const path = await (await download).path();
    const folder = temporary.path;
    const [here, there] = ["page.zarr.zip", "node.zarr.zip"].map((name) => join(folder, name)) as [
      string,
      string,
    ];
    await copyFile(path, here);
    const chunks = names.map((length, d) => (d === 0 ? Number(length) : 3));
    await rechunk(`${join(site, "sea.zarr.zip")}/sst`, there, { chunks, maxMemory: "64MB" });
    expect((await openArray(here)).chunkShape).toEqual(chunks);
    const [ours, nodes] = await Promise.all(
      [here, there].map(async (url) => {
        for await (const one of digest(url)) return one.sha256;
      }),
    );
    expect(ours).toBe(nodes);
  });

  it("leaves nothing in the folder of the site when it is stopped", async () => {
    const { page, server } = await openExample();
    await page.goto(`${server.url}/index.html?url=${server.url}/noise.zarr.zip`);
    await isDrawn(page);
    const panel = page.getByLabel("Take away");
    let asked = 0; // as the page asks: the server may be late to count
    page.on("request", () => asked++);
    // so many chunks that it goes on for seconds
    for (const d of [1, 2]) await panel.getByLabel("chunk length").nth(d).fill("4");
    await panel.getByText("Download zip").click();
    await panel.getByText(/written$/).waitFor();
    await panel.getByText("Stop").click();
    await panel.getByText("Stopped. Nothing is left.").waitFor();
    const before = asked;
    expect(before).toBeGreaterThan(0);
    await expect.poll(() => filesOfSite(page)).toEqual([]);
    await page.waitForTimeout(300);
    expect(asked).toBe(before);
  });

  it("shows a zip that is dropped", async () => {
    const { page } = await openExample();
    const bytes = (await readFile(join(site, "sea.zarr.zip"))).toString("base64");
    await page.evaluate((text) => {
      const data = new DataTransfer();
      data.items.add(new File([Uint8Array.from(atob(text), (one) => one.charCodeAt(0))], "dropped.zarr.zip"));
      document.body.dispatchEvent(
        new DragEvent("drop", { dataTransfer: data, bubbles: true, cancelable: true }),
      );
    }, bytes);
    await isDrawn(page);
    expect(await page.title()).toBe("dropped.zarr.zip – zarrflow view");
  });

  it("says in words what cannot be opened", async () => {
    const { page } = await openExample();
    await page.getByLabel("Zip", { exact: true }).setInputFiles({
      name: "no.zip",
      mimeType: "application/zip",
      buffer: Buffer.from("no zip at all"),
    });
    await page.locator(".open .failure").waitFor();
    expect(await page.locator(".open .failure").textContent()).toMatch(/zip/);
  });

  it.each([
    [1280, "light"],
    [1280, "dark"],
    [390, "light"],
    [390, "dark"],
  ] as const)("is easy to use at %s px, %s, as axe-core finds, and fits", async (width, scheme) => {
    const { page, server } = await openExample({ width, scheme });
    await page.goto(`${server.url}/index.html?url=${server.url}/sea.zarr.zip`);
    await isDrawn(page);
    await page.evaluate(axe.source);
    const found = await page.evaluate<{ readonly violations: readonly { id: string; impact: string }[] }>(
      "axe.run()",
    );
    const serious = found.violations.filter(({ impact }) => ["serious", "critical"].includes(impact));
    expect(serious.map(({ id }) => id)).toEqual([]);
    expect(await page.evaluate("document.documentElement.scrollWidth")).toBeLessThanOrEqual(width);
  });

  it("goes by keyboard alone from the URL to the plan", async () => {
    const { page, server } = await openExample();
    await page.keyboard.press("Tab");
    await page.keyboard.type(`${server.url}/sea.zarr.zip`);
    await page.keyboard.press("Enter");
    await isDrawn(page);
    const focused = () =>
      page.evaluate("document.activeElement?.textContent?.trim() || document.activeElement?.ariaLabel");
    for (let i = 0; i < 60 && (await focused()) !== "Show the plan"; i++) await page.keyboard.press("Tab");
    await page.keyboard.press("Enter");
    await page
      .getByLabel("Take away")
      .getByText(/of memory\./)
      .waitFor();
  });
});

/** How many colors a picture has. */
const COLORS = `(() => {
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
      expect(await page.evaluate(COLORS)).toBeGreaterThan(30);
    } finally {
      await context.close();
      await server.close();
    }
    expect(said).toEqual([]);
  });
});
