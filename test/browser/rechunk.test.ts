// @module-tag tools
import { join } from "node:path";
import { type Browser, type CDPSession, chromium, type Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { create } from "../../src/index.ts";
import { hasPython, runPython } from "../interop/python.ts";
import { hasShared, shared } from "../interop/shared.ts";
import { temporaryFolder } from "../stores/temporary-folder.ts";
import { digestOf } from "../support/consume.ts";
import { chromiumPath, hasChromium } from "./chromium.ts";
import { bundlePage, downloaded, openPageOf } from "./open-page.ts";

const MB = 1e6;
const BUDGET = 64 * MB;
/** What code, kernels and what the browser has not yet collected take besides the budget: 20 MB, as measured. */
const BESIDES = 32 * MB;
const SHAPE = [64, 1024, 2048];

type Outcome = { readonly keysWritten: number } | { readonly code: string; readonly message: string };

describe.runIf(hasChromium)("rechunk to a zip in a page, in Chromium", () => {
  let browser: Browser;
  let script: string;
  const temporary = temporaryFolder();
  let folder: string;
  let downloads = 0;
  beforeAll(async () => {
    browser = await chromium.launch({ executablePath: chromiumPath, args: ["--no-sandbox"] });
    script = await bundlePage("rechunk.mjs");
    folder = temporary.path;
    const [times = 0, rows = 0, columns = 0] = SHAPE;
    const array = await create(join(folder, "made.zarr"), {
      shape: SHAPE,
      dataType: "int16",
      chunks: [1, rows, columns],
      codec: "lz4",
      zarrFormat: "v2",
    });
    const items = new Int16Array(rows * columns);
    for (let t = 0; t < times; t++) {
      for (let i = 0; i < items.length; i++) items[i] = (i >> 4) * (t + 1);
      await array.write([[t, t + 1]], items);
    }
    await array.close();
  });
  afterAll(() => browser?.close());

  /** Runs in a page, and returns the most bytes that it held more than before, and those that it holds still. */
  async function measured<T>(page: Page, run: () => Promise<T>) {
    const session = await page.context().newCDPSession(page);
    await session.send("HeapProfiler.collectGarbage");
    const before = await heapOf(session);
    let peak = 0;
    let isOver = false;
    const watching = (async () => {
      while (!isOver) peak = Math.max(peak, (await heapOf(session)) - before);
    })();
    const result = await run().finally(() => {
      isOver = true;
    });
    await watching;
    await session.send("HeapProfiler.collectGarbage");
    return { result, peak, kept: (await heapOf(session)) - before };
  }

  const rechunkIn = (page: Page, url: string, chunks: readonly number[]) =>
    page.evaluate<Outcome>(
      `rechunkToZip(${JSON.stringify(url)}, "out.zarr.zip", ${JSON.stringify({ chunks, maxMemory: BUDGET })})`,
    );

  const zipOf = (page: Page) => downloaded(page, join(temporary.path, `out-${downloads++}.zarr.zip`));

  it("of 256 MB stays within the budget, and has Node's digest, also as zarr-python reads it", async () => {
    const page = await openPageOf(browser, script, { folder, mayFailToLoad: true });
    const url = new URL("made.zarr", page.url()).href;
    const { result, peak, kept } = await measured(page, () => rechunkIn(page, url, [64, 128, 128]));
    expect(result).toMatchObject({ keysWritten: expect.any(Number), threads: [0] });
    console.log(
      `rechunk of 256 MB in a page, budget 64 MB: at most ${mb(peak)} MB more heap, ${mb(kept)} MB after`,
    );
    expect(peak).toBeLessThan(BUDGET + BESIDES);
    expect(kept).toBeLessThan(BESIDES);
    const zip = await zipOf(page);
    const sha256 = await digestOf(join(folder, "made.zarr"));
    expect(await digestOf(zip)).toBe(sha256);
    if (hasPython) {
      expect(await runPython("hash_zip.py", zip)).toEqual({ shape: SHAPE, chunks: [64, 128, 128], sha256 });
    }
  });

  it.runIf(hasShared)("of era5-uk-t2m has Node's digest", async () => {
    const page = await openPageOf(browser, script, { folder: `${shared}data`, mayFailToLoad: true });
    const url = new URL("era5-uk-t2m.zarr/t2m", page.url()).href;
    expect(await rechunkIn(page, url, [744, 11, 7])).toMatchObject({
      keysWritten: expect.any(Number),
      threads: [0],
    });
    expect(await digestOf(await zipOf(page))).toBe(await digestOf(`${shared}data/era5-uk-t2m.zarr/t2m`));
  });

  it("that is stopped asks no more, gives its memory back and leaves no file", async () => {
    const page = await openPageOf(browser, script, { folder, mayFailToLoad: true });
    const url = new URL("made.zarr", page.url()).href;
    let requests = 0;
    page.on("request", () => requests++);
    const { result, kept } = await measured(page, async () => {
      const run = rechunkIn(page, url, [64, 128, 128]);
      await page.waitForFunction("globalThis.tasksDone > 0");
      await page.evaluate("stop()");
      return run;
    });
    expect(result).toMatchObject({ code: "aborted" });
    const asked = requests;
    expect(await page.evaluate("namesInSite()")).toEqual([]);
    expect(kept).toBeLessThan(BESIDES);
    await page.waitForTimeout(500);
    expect(requests).toBe(asked);
  });

  it("goes on when the network comes back, and says in words when it does not", async () => {
    const page = await openPageOf(browser, script, { folder, mayFailToLoad: true });
    const url = new URL("made.zarr", page.url()).href;
    const context = page.context();
    const run = rechunkIn(page, url, [64, 128, 128]);
    await page.waitForFunction("globalThis.tasksDone > 0");
    await context.setOffline(true);
    await page.waitForTimeout(800);
    await context.setOffline(false);
    expect(await run).toMatchObject({ keysWritten: expect.any(Number), threads: [0] });
    const second = page.evaluate<Outcome>(
      `rechunkToZip(${JSON.stringify(url)}, "second.zarr.zip", { chunks: [64, 128, 128], maxMemory: ${BUDGET} })`,
    );
    await page.waitForFunction("globalThis.tasksDone > 0");
    await context.setOffline(true);
    const failed = await second;
    expect(failed).toMatchObject({
      code: "transient",
      message: expect.stringContaining("the connection failed"),
    });
    expect(await page.evaluate("namesInSite()")).toEqual(["out.zarr.zip"]);
  }, 240_000);
});

/** Bytes of objects, of array buffers and of what the browser itself holds for a page. */
async function heapOf(session: CDPSession): Promise<number> {
  const usage = (await session.send("Runtime.getHeapUsage")) as Readonly<Record<string, number>>;
  return (usage.usedSize ?? 0) + (usage.backingStorageSize ?? 0) + (usage.embedderHeapUsedSize ?? 0);
}

function mb(bytes: number): number {
  return Math.round(bytes / MB);
}
