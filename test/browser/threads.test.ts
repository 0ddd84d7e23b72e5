// @module-tag tools
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { beforeAll, expect, it } from "vitest";
import { create } from "../../src/index.ts";
import { temporaryFolder } from "../stores/temporary-folder.ts";
import { digestOf } from "../support/consume.ts";
import { type DrivenPage, describeInBrowsers } from "./browsers.ts";
import { bundlePage } from "./bundle-page.ts";
import { ISOLATED } from "./isolated.ts";
import { openPageOf } from "./open-page.ts";

const SHAPE = [64, 512, 1024];
const MAX_MEMORY = 32e6;

interface Outcome {
  readonly threads?: readonly number[];
  readonly peakBuffers?: number;
  readonly code?: string;
}

describeInBrowsers("a rechunk over HTTP into a zip, in a page that registers a worker", (browser) => {
  let script: string;
  let worker: string;
  let sha256: string | undefined;
  let zips = 0;
  const temporary = temporaryFolder();
  beforeAll(async () => {
    [script, worker] = await Promise.all([bundlePage("rechunk-in-threads.mjs"), bundlePage("thread.mjs")]);
    const path = join(temporary.path, "made.zarr");
    const array = await create(path, {
      shape: SHAPE,
      dataType: "int16",
      chunks: [1, 512, 1024],
      codec: "lz4",
      zarrFormat: "v2",
    });
    for (let t = 0; t < 64; t++) {
      await array.write(
        [[t, t + 1]],
        Int16Array.from({ length: 512 * 1024 }, (_, i) => (i >> 4) * (t + 1)),
      );
    }
    await array.close();
    sha256 = await digestOf(path);
  });

  const openPage = (options: { readonly headers?: typeof ISOLATED; readonly worker?: string }) =>
    openPageOf(browser(), script, { folder: temporary.path, mayFailToLoad: true, ...options });

  const rechunkIn = (page: DrivenPage, chunks = [64, 64, 64]) => {
    const url = JSON.stringify(new URL("made.zarr", page.url()).href);
    const options = { chunks, maxMemory: MAX_MEMORY, threads: 3 };
    return page.evaluate<Outcome>(`rechunkToZip(${url}, "out.zarr.zip", ${JSON.stringify(options)})`);
  };

  async function expectSame(page: DrivenPage): Promise<void> {
    const name = `${zips++}.zarr.zip`;
    await page.evaluate(`send("out.zarr.zip", "/${name}")`);
    expect(await digestOf(join(temporary.path, name))).toBe(sha256);
  }

  it("runs in several threads where the page is isolated, within the budget of all", async () => {
    const page = await openPage({ headers: ISOLATED, worker });
    const { threads = [], peakBuffers = Number.POSITIVE_INFINITY, ...other } = await rechunkIn(page);
    expect(other).toEqual({ keysWritten: 129 });
    expect(threads.length).toBeGreaterThan(1);
    expect([0, 1, 2]).toEqual(expect.arrayContaining([...threads]));
    expect(peakBuffers).toBeLessThanOrEqual(MAX_MEMORY);
    await expectSame(page);
    await expect.poll(() => page.workers()).toEqual([]);
  });

  it("runs in several threads that share no memory where the page is not isolated", async () => {
    const page = await openPage({ worker });
    const small = [1, 256, 256]; // each thread has room for a task in its part of the budget
    const { threads = [], peakBuffers = Number.POSITIVE_INFINITY } = await rechunkIn(page, small);
    expect([...threads].sort()).toEqual([0, 1]);
    expect(peakBuffers).toBeLessThanOrEqual(MAX_MEMORY);
    await expectSame(page);
    await expect.poll(() => page.workers()).toEqual([]);
  });

  it("runs in one thread where the script of the worker is not there", async () => {
    const page = await openPage({ headers: ISOLATED });
    expect(await rechunkIn(page)).toMatchObject({ threads: [0] });
    await expectSame(page);
  });

  it("ends its workers when it is aborted: no request goes on", async () => {
    const page = await openPage({ headers: ISOLATED, worker });
    let requests = 0;
    page.on("request", () => requests++);
    const run = rechunkIn(page);
    await expect.poll(() => page.workers(), { interval: 10 }).toHaveLength(2);
    await page.waitForFunction("globalThis.tasksDone > 0");
    await page.evaluate("stop()");
    expect(await run).toMatchObject({ code: "aborted" });
    await expect.poll(() => page.workers()).toEqual([]);
    expect(await page.evaluate("namesInSite()")).toEqual([]);
    const asked = requests;
    await setTimeout(500);
    expect(requests).toBe(asked);
  });
});
