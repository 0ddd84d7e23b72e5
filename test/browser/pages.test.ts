// @module-tag tools

import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { beforeAll, describe, expect, it } from "vitest";
import { create } from "../../src/index.ts";
import { storeChecks } from "../../src/stores/testing.ts";
import { equal } from "../interop/compare.ts";
import { corpusCases, legacyCases } from "../interop/corpora.ts";
import { EXCEPTIONS } from "../interop/exceptions.ts";
import { hasShared, shared } from "../interop/shared.ts";
import { temporaryFolder } from "../stores/temporary-folder.ts";
import { digestOf } from "../support/consume.ts";
import { type DrivenPage, describeInBrowsers } from "./browsers.ts";
import { bundlePage, ISOLATED, openPageOf } from "./open-page.ts";

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

/** An array, or a part of one, and what it holds by a manifest. */
interface Reading {
  readonly id: string;
  /** Below the folder of fixtures, as it is in a URL. */
  readonly place: string;
  readonly options?: object;
  readonly selection?: unknown;
  readonly sha256?: string;
  /** Each of these lists is right. */
  readonly values?: readonly (readonly unknown[])[];
}

type Found = { readonly sha256: string } | { readonly values: string } | { readonly message: string };

const NESTED = { v2: { separator: "/" } };

const placeOf = (...parts: readonly string[]) =>
  parts.flatMap((part) => part.split("/").filter(Boolean).map(encodeURIComponent)).join("/");

/** Every good case of the corpus: arrays, their slices, and the arrays of hierarchies. */
function* readingsOfCorpus(): Generator<Reading> {
  for (const one of corpusCases) {
    if (one.error !== undefined) continue;
    const { id, path, array, group, sha256, values, also_accept_values: others = [] } = one;
    const format = path.includes("both-formats") ? `|zarr${one.zarr_format}:` : "";
    const place = `${placeOf("corpus", path, array ?? "")}${format}`;
    const options = one.store === "nested-directory" ? NESTED : {};
    if (sha256) yield { id, place, options, sha256 };
    if (one.slice_sha256) {
      yield { id: `${id} slice`, place, options, selection: one.slice, sha256: one.slice_sha256 };
    }
    if (values && !one.undefined_fill)
      yield { id: `${id} values`, place, options, values: [values, ...others] };
    for (const node of one.nodes ?? []) {
      const below = placeOf("corpus", path, group ?? "", node.path);
      if (node.sha256) yield { id: `${id} ${node.path}`, place: below, options, sha256: node.sha256 };
    }
  }
}

/** Every good case of the formats that are no longer written. */
function* readingsOfLegacy(): Generator<Reading> {
  for (const one of legacyCases) {
    const { id, path, array_path, selection, sha256, values } = one;
    if (one.error || one.kind !== "array") continue;
    const place = placeOf("corpus-legacy", path, array_path);
    const options = one.store === "nested-directory" ? NESTED : {};
    if (sha256) yield { id, place, options, selection, sha256 };
    if (values) yield { id: `${id} values`, place, options, selection, values: [values] };
  }
}

describe.runIf(hasShared)("both corpora over HTTP", () => {
  describeInBrowsers("each good case", (browser, browserName) => {
    it.each([
      ["corpus", readingsOfCorpus],
      ["corpus-legacy", readingsOfLegacy],
    ] as const)(
      "of %s is read as its manifest says",
      async (name, readings) => {
        const all = [...readings()].filter(
          ({ id }) => !EXCEPTIONS.some((one) => one.id.test(id.split(" ")[0] ?? "")),
        );
        const page = await openPageOf(browser(), await bundlePage("read-cases.mjs"), {
          folder: shared,
          mayFailToLoad: true,
        });
        const cases = all.map(({ place, options, selection, values }) => ({
          url: new URL(place, page.url()).href.replace(/%7C/g, "|"),
          options,
          selection,
          withValues: values !== undefined,
        }));
        const found = await page.evaluate<readonly Found[]>(`readCases(${JSON.stringify(cases)})`);
        const wrong = all.flatMap((reading, i) => {
          const outcome = found[i];
          return outcome && isRight(reading, outcome) ? [] : [{ id: reading.id, outcome }];
        });
        console.log(
          `${name} in ${browserName} ${browser().version()}: ${all.length - wrong.length} of ${all.length} readings of ${new Set(all.map(({ id }) => id.split(" ")[0])).size} good cases right`,
        );
        expect(wrong).toEqual([]);
        expect(all.length).toBeGreaterThan(100);
      },
      300_000,
    );
  });
});

function isRight({ sha256, values = [] }: Reading, found: Found): boolean {
  if ("sha256" in found) return found.sha256 === sha256;
  return "values" in found && values.some((list) => equal(JSON.parse(found.values), list));
}

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
