// @module-tag tools

import { once } from "node:events";
import { join } from "node:path";
import axe from "axe-core";
import { type Browser, chromium, type Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { runCli, startCli, testFolder } from "../support/cli.ts";
import { writeV2Group } from "../support/v2-store.ts";
import { COLUMNS, kelvinAt, ROWS, TIMES, writeImage, writeSea } from "../support/view-samples.ts";
import { chromiumPath, hasChromium, openPage } from "./chromium.ts";

describe.runIf(hasChromium)("the page of a run, in Chromium", () => {
  it("is shown as it was written, with nothing on the console", async () => {
    const cwd = await testFolder();
    const t = { shape: [8, 20, 30], chunks: [2, 20, 30] };
    const hostile = "<img src=x onerror=console.error(1)>";
    await writeV2Group(join(cwd, "g.zarr"), { t: { ...t, dimensions: ["time", hostile, "x"] } });
    await runCli(cwd, "rechunk", "g.zarr", "h.zarr", "--chunks", "time=-1,x=7", "--report", "run.html");
    const { dom, console, screenshot } = await openPage(join(cwd, "run.html"));
    expect(console).toEqual([]);
    expect(dom).toContain("&lt;img src=x onerror=console.error(1)&gt;");
    expect(dom).not.toContain("<img");
    expect(dom.match(/<svg class="grid"/g)).toHaveLength(2);
    expect(screenshot.subarray(1, 4).toString()).toBe("PNG");
    expect(screenshot.length).toBeGreaterThan(20_000);
  });
});

/** The least and the most of viridis, as matplotlib has them. */
const [DARKEST, BRIGHTEST] = [
  [68, 1, 84, 255],
  [253, 231, 37, 255],
];
const NOTHING = [0, 0, 0, 0];

type Pixel = readonly number[];

describe.runIf(hasChromium)("the page of zarrflow view, in Chromium", () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await chromium.launch({ executablePath: chromiumPath, args: ["--no-sandbox"] });
  });
  afterAll(() => browser?.close());

  /** Opens the page about a sample; at the end it must have said nothing, and asked nobody else. */
  async function openView(
    write: (folder: string) => Promise<void>,
    name: string,
    { width = 1280, scheme = "light" as "light" | "dark" } = {},
  ): Promise<Page> {
    const cwd = await testFolder();
    await write(cwd);
    const child = startCli(cwd, "view", name, "--quiet");
    const ended = once(child, "exit");
    const [line] = await once(child.stdout, "data");
    const address = `${line}`.trim();
    const context = await browser.newContext({
      viewport: { width, height: 900 },
      colorScheme: scheme,
      permissions: ["clipboard-read", "clipboard-write"],
    });
    const page = await context.newPage();
    const [said, elsewhere]: string[][] = [[], []];
    page.on("console", (message) => said?.push(message.text()));
    page.on("pageerror", (error) => said?.push(`${error.stack}`));
    page.on("request", (request) => {
      const url = request.url();
      if (!url.startsWith(address) && !url.startsWith("data:")) elsewhere?.push(url);
    });
    onTestFinished(async () => {
      await context.close();
      child.kill("SIGINT");
      const [code] = await ended;
      expect({ said, elsewhere, code }).toEqual({ said: [], elsewhere: [], code: 0 });
    });
    await page.goto(address);
    await page.locator("[aria-label=Picture][aria-busy=false]").waitFor();
    return page;
  }

  /** The pixels of the picture, row by row from its top. */
  function pixels(page: Page): Promise<Pixel[][]> {
    return page.locator("canvas.picture").evaluate((element) => {
      const canvas = element as HTMLCanvasElement;
      const { width, height } = canvas;
      const data = canvas.getContext("2d")?.getImageData(0, 0, width, height).data ?? [];
      return Array.from({ length: height }, (_, y) =>
        Array.from({ length: width }, (_, x) =>
          Array.from(data.slice(4 * (y * width + x), 4 * (y * width + x) + 4)),
        ),
      );
    });
  }

  /** Whether a picture has the colors of the numbers of a time: northern rows on top, what is missing left out. */
  async function expectTime(page: Page, t: number): Promise<void> {
    const seen = await pixels(page);
    expect(seen).toHaveLength(ROWS);
    const numbers = seen.map((row, y) => row.map((_, c) => kelvinAt(t, ROWS - 1 - y, c)));
    const finite = numbers.flat().filter((number) => !Number.isNaN(number));
    const [low, high] = [Math.min(...finite), Math.max(...finite)];
    const greens = new Map<number, number>();
    seen.forEach((row, y) => {
      expect(row).toHaveLength(COLUMNS);
      row.forEach((pixel, x) => {
        const number = numbers[y]?.[x] ?? Number.NaN;
        if (Number.isNaN(number)) expect(pixel).toEqual(NOTHING);
        else {
          if (number === low) expect(pixel).toEqual(DARKEST);
          if (number === high) expect(pixel).toEqual(BRIGHTEST);
          greens.set(number, pixel[1] ?? 0);
        }
      });
    });
    // the green of viridis grows with the number
    const sorted = [...greens].sort(([a], [b]) => a - b).map(([, green]) => green);
    expect(sorted).toEqual([...sorted].sort((a, b) => a - b));
    expect(new Set(sorted).size).toBeGreaterThan(30);
  }

  it("draws the numbers of the largest array as they mean, and shows what is missing", async () => {
    const page = await openView(writeSea, "sea.zarr");
    expect(await page.title()).toBe("sea.zarr – zarrflow view");
    expect(await page.locator("h1").textContent()).toBe("sst");
    await expectTime(page, 0);
    expect(await page.locator(".legend", { hasText: "missing" }).first().textContent()).toBe("missing 6.3 %");
    expect(await page.getByLabel("lowest color").inputValue()).toBe("270");
    expect(await page.getByLabel("highest color").inputValue()).toBe("293.5");
    const background = await page
      .locator(".surface")
      .evaluate((one) => getComputedStyle(one).backgroundImage);
    expect(background).toContain("repeating-linear-gradient");
    expect(await page.locator(".ticks.y span").first().textContent()).toBe("0");
    expect(await page.locator(".title.y").first().textContent()).toBe("lat (degrees_north)");
    expect(await page.locator("h3").first().textContent()).toBe("<b>sea</b> temperature K");
    expect(await page.locator("main b b, h3 b").count()).toBe(0);
  });

  it("goes along other dimensions, to a time that is missing as a whole", async () => {
    const page = await openView(writeSea, "sea.zarr");
    const slider = page.getByRole("slider", { name: "time" });
    await slider.focus();
    await page.keyboard.press("ArrowRight");
    await page.keyboard.press("ArrowRight");
    await page.getByText("2024-06-03 · 2 of 5").waitFor();
    await expect.poll(() => page.getByLabel("lowest color").inputValue()).toBe("280");
    await expectTime(page, 2);
    expect(await slider.getAttribute("aria-valuetext")).toBe("2024-06-03");
    await page.keyboard.press("End");
    await page.getByText("missing 100 %").waitFor();
    expect((await pixels(page)).flat()).toEqual(new Array(ROWS * COLUMNS).fill(NOTHING));
  });

  it("draws a series at a click, with the command and the code that read it", async () => {
    const page = await openView(writeSea, "sea.zarr");
    const surface = page.locator(".surface");
    const { width = 0, height = 0 } = (await surface.boundingBox()) ?? {};
    await surface.click({ position: { x: (3.5 / COLUMNS) * width, y: (1.5 / ROWS) * height } });
    await page.getByText("lat 40, lon 15").waitFor();
    const chart = page.getByRole("application", { name: /^time: 5 items/ });
    await chart.focus();
    for (let t = 0; t < TIMES; t++) {
      await page.keyboard.press(t === 0 ? "Home" : "ArrowRight");
      const number = kelvinAt(t, 4, 3);
      const text = `time 2024-06-0${t + 1}: ${Number.isNaN(number) ? "missing" : number} K`;
      expect(await page.locator("[aria-label=Series] .readout").textContent()).toBe(text);
    }
    const line = await page.locator(".line").getAttribute("d");
    expect(line?.match(/[ML]/g)).toEqual(["M", "L", "L", "L"]);
    await page.getByRole("button", { name: "Copy: Series: command line" }).click();
    const command = await page.evaluate(() => navigator.clipboard.readText());
    expect(command).toBe(
      "zarrflow slice sea.zarr/sst --slice lat=4,lon=3 --decode --format npy --output part.npy",
    );
    const code = await page.locator("pre", { hasText: "import" }).first().textContent();
    expect(code).toContain('slice("sea.zarr/sst", { lat: 4, lon: 3 })');
  });

  it("can be used by keyboard alone", async () => {
    const page = await openView(writeSea, "sea.zarr");
    const focused = () =>
      page.evaluate(
        () => document.activeElement?.getAttribute("aria-label") ?? document.activeElement?.textContent,
      );
    await page.keyboard.press("Tab");
    expect(await focused()).toContain("sst");
    const outline = await page.evaluate(
      () => getComputedStyle(document.activeElement ?? document.body).outlineStyle,
    );
    expect(outline).toBe("solid");
    await page.keyboard.press("Home");
    await page.keyboard.press("ArrowRight");
    expect(await focused()).toBe("deep");
    await page.keyboard.press("ArrowLeft");
    expect(await page.getByRole("treeitem", { name: "flat" }).count()).toBe(0);
    await page.keyboard.press("ArrowRight");
    await page.keyboard.press("ArrowRight");
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { level: 1, name: "flat" }).waitFor();
    await page.locator("[aria-label=Picture][aria-busy=false]").waitFor();
    for (let i = 0; i < 20 && !(await focused())?.includes("items"); i++) await page.keyboard.press("Tab");
    expect(await focused()).toContain("3 × 4 items, 1 missing");
    for (let i = 0; i < 4; i++) await page.keyboard.press("ArrowUp");
    for (let i = 0; i < 4; i++) await page.keyboard.press("ArrowLeft");
    await page.keyboard.press("ArrowRight");
    const readout = page.locator("[aria-label=Picture] .readout");
    expect(await readout.textContent()).toBe("1  at dimension 0 [0], dimension 1 [1]");
    for (const key of ["ArrowRight", "ArrowRight"]) await page.keyboard.press(key);
    expect(await readout.textContent()).toBe("missing  at dimension 0 [0], dimension 1 [3]");
    await page.keyboard.press("Enter");
    await page.getByText("dimension 0 0", { exact: true }).waitFor();
    await page.keyboard.press("+");
    await expect.poll(async () => (await pixels(page))[0]?.length).toBe(2);
    await page.keyboard.press("0");
    await expect.poll(async () => (await pixels(page))[0]?.length).toBe(4);
  });

  it("shows an image in the colors and windows of its channels, and its levels", async () => {
    const page = await openView(writeImage, "image.zarr");
    const seen = await pixels(page);
    const light = (i: number) => Math.round((255 * i) / 47);
    const close = (a: number, b: number) => Math.abs(a - b) <= 1;
    seen.flat().forEach(([red = 0, green = 0, blue], i) => {
      // the numbers of the red channel are 0 to 47, those of the green one 48 to 95
      expect([i, close(red, light(i)), close(green, light(i)), blue]).toEqual([i, true, true, 0]);
    });
    await page.getByLabel("green", { exact: true }).uncheck();
    await expect.poll(async () => (await pixels(page)).at(-1)?.at(-1)).toEqual([255, 0, 0, 255]);
    await page.getByLabel("red: full color at").fill("94");
    await page.keyboard.press("Tab");
    await expect.poll(async () => (await pixels(page)).at(-1)?.at(-1)?.[0]).toBe(128);
    await page.getByLabel("Level").selectOption("1");
    await expect.poll(async () => (await pixels(page)).length).toBe(3);
    // items of the second level begin at 1000
    expect((await pixels(page)).flat()).toEqual(new Array(12).fill([255, 0, 0, 255]));
    expect(await page.locator("pre", { hasText: "zarrflow slice" }).first().textContent()).toBe(
      "zarrflow slice image.zarr/1 --slice c=0 --format npy --output part.npy",
    );
  });

  it("shows which chunks are stored, and reads them out", async () => {
    const page = await openView(writeSea, "sea.zarr");
    const map = page.locator("canvas.map");
    await map.waitFor();
    expect(await page.locator("[aria-label=Chunks]").textContent()).toContain(
      "8 chunks of 10 stored, 384 bytes",
    );
    await map.focus();
    await page.keyboard.press("ArrowDown");
    expect(await page.locator("[aria-label=Chunks] .readout").textContent()).toBe(
      "chunk (1, 0): stored, 48 bytes",
    );
    for (let i = 0; i < 3; i++) await page.keyboard.press("ArrowDown");
    expect(await page.locator("[aria-label=Chunks] .readout").textContent()).toBe("chunk (4, 0): missing");
  });

  it.each(["light", "dark"] as const)("has no serious fault that axe-core finds, %s", async (scheme) => {
    for (const [write, name] of [
      [writeSea, "sea.zarr"],
      [writeImage, "image.zarr"],
    ] as const) {
      const page = await openView(write, name, { scheme });
      await page.locator(".surface").click();
      await page.locator(".line[d]").waitFor({ state: "attached" });
      await page.evaluate(axe.source);
      const { violations } = await page.evaluate(() => (window as unknown as { axe: typeof axe }).axe.run());
      const serious = violations.filter(({ impact }) => impact === "serious" || impact === "critical");
      expect(serious.map(({ id, nodes }) => [id, nodes.map(({ html }) => html)])).toEqual([]);
    }
  });

  it("fits a narrow window", async () => {
    const page = await openView(writeSea, "sea.zarr", { width: 390 });
    await page.locator(".surface").click();
    await page.locator(".line[d]").waitFor({ state: "attached" });
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(390);
    const { width = 0 } = (await page.locator(".surface").boundingBox()) ?? {};
    expect(width).toBeGreaterThan(240);
    expect(await page.locator("nav details").getAttribute("open")).toBeNull();
    await page.getByText("Contents").click();
    await page.getByRole("treeitem", { name: "flat" }).click();
    await page.getByRole("heading", { level: 1, name: "flat" }).waitFor();
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(390);
  });

  it("says what it cannot draw, and how to print it", async () => {
    const page = await openView(writeSea, "sea.zarr");
    await page.getByRole("treeitem", { name: "names" }).click();
    await page.getByText("Values of string are not numbers").waitFor();
    expect(await page.locator("main .card code").first().textContent()).toBe(
      "zarrflow slice sea.zarr/names --format json",
    );
    await page.getByRole("treeitem", { name: /^lat/ }).click();
    await page.getByRole("application", { name: /^dimension 0|^lat/ }).waitFor();
    expect(await page.locator("[aria-label=Picture]").count()).toBe(0);
  });
});
