// @module-tag long
import { createHash } from "node:crypto";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { pathToFileURL } from "node:url";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { openArray } from "../../../src/hierarchy/open/open.ts";
import { type ReadSlabsOptions, readSlabs } from "../../../src/run/slabs/read-slabs.ts";
import { wholeSelection } from "../../../src/streams/selection.ts";
import { product } from "../../../src/util/shape.ts";
import { temporaryFolder } from "../../stores/temporary-folder.ts";
import { failOnUnhandledRejections, rejection } from "../../streams/support.ts";
import { drain } from "../../support/consume.ts";
import { given } from "../../support/given.ts";
import { samples } from "../../support/samples.ts";
import { workerScript } from "../../support/worker-script.ts";

failOnUnhandledRejections();
const script = workerScript();
const folder = temporaryFolder();
const SHAPE = [301, 60, 50];
const CHUNKS = [2, 60, 50];

async function written(shape: number[], chunks: number[], end = ".zarr") {
  const values = Float64Array.from({ length: product(shape) }, (_, i) => i / 3);
  const path = await given({ at: folder.next(`a${end}`), shape, dataType: "float64", chunks, values });
  return { path, digest: createHash("sha256").update(values).digest("hex") };
}

const few = { maxMemory: 16e6, concurrency: 2 };

async function slabsOf(path: string, options: Partial<ReadSlabsOptions> = {}) {
  const array = await openArray(path);
  const worker = { script: script(), threads: 2, ...options.worker };
  return readSlabs(array, wholeSelection(array.shape), { ...few, ...options, worker });
}

async function digestOf(path: string, options?: Partial<ReadSlabsOptions>, pauseMs = 2) {
  const hash = createHash("sha256");
  let slabs = 0;
  for await (const { data } of await slabsOf(path, options)) {
    hash.update(data.bytes);
    slabs++;
    // A consumer that takes its time, while the other thread goes on.
    await sleep(pauseMs);
  }
  return { digest: hash.digest("hex"), slabs };
}

describe("slabs of threads", () => {
  it.each([
    ["a folder", ".zarr", 2],
    ["a folder, by three threads", ".zarr", 3],
    ["a zip", ".zarr.zip", 2],
  ])("are those of one, in order: %s", async (_, end, threads) => {
    const { path, digest } = await written(SHAPE, CHUNKS, end);
    const many = await digestOf(path, { worker: { threads } });
    expect(many.digest).toBe(digest);
    expect(many.slabs).toBeGreaterThan(6);
  });

  it("are made in both", async () => {
    const { path } = await written(SHAPE, CHUNKS);
    const owners = new Set<boolean>();
    // On a busy machine the other thread takes long to start.
    for (let pauseMs = 100; owners.size < 2 && pauseMs < 2000; pauseMs *= 2) {
      for await (const { data } of await slabsOf(path)) {
        // What came from the other thread lies in the begin of a buffer of its own size.
        owners.add(data.bytes.buffer.byteLength === data.bytes.length);
        await sleep(pauseMs);
      }
    }
    expect(owners).toEqual(new Set([true, false]));
  });

  it("are those of one, whatever the grid", async () => {
    const dimension = fc.record({
      n: fc.integer({ min: 500, max: 800 }),
      chunk: fc.integer({ min: 40, max: 300 }),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(dimension, { minLength: 2, maxLength: 2 }), async (dimensions) => {
        const { path, digest } = await written(
          dimensions.map(({ n }) => n),
          dimensions.map(({ chunk }) => chunk),
        );
        expect((await digestOf(path)).digest).toBe(digest);
      }),
      { numRuns: samples(6) },
    );
  });

  it("end with the failure of either thread, which names the chunk", async () => {
    const { path } = await written(SHAPE, CHUNKS);
    const chunk = join(path, "c/141/0/0");
    await writeFile(chunk, (await readFile(chunk)).subarray(0, 100));
    expect(await rejection(digestOf(path))).toMatchObject({
      code: "corrupt-chunk",
      details: { key: "c/141/0/0" },
    });
  });

  it("end with the reason when they are aborted, and where nobody wants more", async () => {
    const { path } = await written(SHAPE, CHUNKS);
    const stop = new AbortController();
    const slabs = await slabsOf(path, { signal: stop.signal });
    await slabs.next();
    stop.abort(new Error("enough"));
    expect(await rejection(drain(slabs))).toMatchObject({ code: "aborted", cause: new Error("enough") });
    const unwanted = await slabsOf(path);
    await unwanted.next();
    expect(await unwanted.return(undefined)).toMatchObject({ done: true });
  });

  it.each([
    ["ends without giving a reason", "process.exit(0);", /ended before its work was done/],
    ["throws", "throw new Error('no such luck');", /a worker thread failed: no such luck/],
    [
      "hangs with a slab",
      "parentPort.once('message', ({ start }) => { new Int32Array(start.shared.memory)[8]++; for (;;); });",
      /a worker thread hangs/,
    ],
  ])("fail where the other thread %s", async (_, text, reason) => {
    const { path } = await written(SHAPE, CHUNKS);
    const broken = join(folder.path, `${text.length}.mjs`);
    await writeFile(broken, `import { parentPort } from "node:worker_threads";\n${text}\n`);
    const worker = { script: pathToFileURL(broken), stallTimeout: 3000 };
    const error = await rejection(digestOf(path, { worker }, 100));
    expect(error).toMatchObject({ code: "transient", message: expect.stringMatching(reason) });
  });
});
