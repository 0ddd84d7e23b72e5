// @module-tag sampled
// @module-tag slow
import { readFileSync, writeFileSync } from "node:fs";
import { readdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { pathToFileURL } from "node:url";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from "vitest";
import { failureText } from "../../../src/cli/text/failure.ts";
import { planFlow } from "../../../src/flows/request/flow.ts";
import { digest, rechunk } from "../../../src/index.ts";
import type { FlowEvent } from "../../../src/run/events.ts";
import { runPlan } from "../../../src/run/run-plan.ts";
import type { WorkerSettings } from "../../../src/run/threads/pool-thread.ts";
import type { SharedScheduler } from "../../../src/run/threads/shared-scheduler.ts";
import { WorkerPool } from "../../../src/run/threads/worker-pool.ts";
import { FolderWatch } from "../../../src/stores/directory/missing-values.ts";
import { DirectoryStore } from "../../../src/stores/directory.ts";
import { MemoryStore } from "../../../src/stores/memory.ts";
import { onRetry } from "../../../src/stores/remote/retry-requests.ts";
import { S3Store } from "../../../src/stores/s3.ts";
import { openStore } from "../../../src/stores/url.ts";
import { openTargetBuild } from "../../../src/targets/index.ts";
import { temporaryFolder } from "../../stores/temporary-folder.ts";
import { type Fault, serveValues } from "../../stores/value-server.ts";
import { contentsOf, digestOf, keysOf, valuesIn } from "../../support/consume.ts";
import { given, givenKeys } from "../../support/given.ts";
import { makeArray } from "../../support/made-array.ts";
import { rechunked } from "../../support/recipes.ts";
import { withBucket } from "../../support/s3-environment.ts";
import { samples } from "../../support/samples.ts";
import { scriptAfter, waitFor, workerScript } from "../../support/worker-script.ts";

const script = workerScript();
const folder = temporaryFolder();
let places = 0;
const place = (end = ".zarr") => join(folder.path, `${places++}${end}`);
afterEach(() => vi.unstubAllGlobals());

type Options = Parameters<typeof planFlow>[2];

interface Run {
  readonly worker?: WorkerSettings;
  readonly onEvent?: (event: FlowEvent) => void;
  readonly signal?: AbortSignal;
  readonly stop?: AbortSignal;
  /** Whether what is written is to outlive a loss of power. */
  readonly fsync?: boolean;
  /** Told how many keys were written when all of them are discarded. */
  readonly onDiscard?: (keys: number) => void;
  /** Whether this thread does not read a chunk yet. */
  readonly holds?: (scheduler: SharedScheduler | undefined) => boolean;
  /** Called before this thread reads a chunk. */
  readonly onRead?: () => void;
}

async function run(from: string, to: string, options: Options, how: Run = {}) {
  const planned = await planFlow(from, to, options);
  const { onDiscard, fsync, holds, onRead } = how;
  const poolRuns = vi.spyOn(WorkerPool.prototype, "run");
  if (holds) {
    const { source } = planned;
    const get = source.get.bind(source);
    const held: typeof get = async (key, options) => {
      if (/\d$/.test(key)) {
        while (holds(poolRuns.mock.calls[0]?.[0].scheduler)) await sleep(1);
        onRead?.();
      }
      return get(key, options);
    };
    Object.assign(source, { getSync: () => undefined, get: held });
  }
  const build = await openTargetBuild(planned.plan.target.store, { ifExists: "error", fsync });
  if (onDiscard) {
    const discard = build.discard.bind(build);
    build.discard = async () => {
      onDiscard((await keysOf(build.store)).length);
      await discard();
    };
  }
  try {
    const worker = { script: script(), ...how.worker };
    return await runPlan(planned.plan, { source: planned.source, build, ...how, worker });
  } finally {
    poolRuns.mockRestore();
    await planned.close();
  }
}

/** All values by key. */
async function contents(path: string, kind: "directory" | "zip" = "directory") {
  const store = await openStore({ kind, path });
  const found = await contentsOf(store);
  await store.close?.();
  return found;
}

const STEP = 64 * 64;

/** A directory of float32 steps of 16 KiB, compressed by blosc. */
function steps(count: number): Promise<string> {
  const grid = { shape: [count, 64, 64], chunks: [1, 64, 64] };
  const values = (at: number) => {
    const [step, i] = [Math.floor(at / STEP), at % STEP];
    return Math.sin((step + i) / 100) + (i % 7);
  };
  const codec = "blosc:lz4:5:shuffle";
  return given({ at: place(), zarrFormat: "v2", ...grid, dataType: "float32", codec, values });
}

/** Until a worker has ended a task. */
const untilShared: Run["holds"] = (scheduler) => scheduler?.endedBut() === 0 && !scheduler.isStopped;

/** Runs tasks of which a worker thread has at least one. */
async function runShared(from: string, to: string, options: Options, { worker, ...how }: Run = {}) {
  const shared = { holds: untilShared, ...how, worker: { threads: 2, ...worker } };
  const report = await run(from, to, options, shared);
  const busy = report.threads?.filter(({ tasks }) => tasks > 0) ?? [];
  expect(busy.length).toBeGreaterThanOrEqual(2);
  expect(busy.reduce((sum, { tasks }) => sum + tasks, 0)).toBe(report.tasks);
  return report;
}

/** Eight tasks in each of two stages, for three threads at one time, of an array of 16 steps. */
const SMALL_TASKS = { chunks: [16, 8, 8], maxMemory: "600kB", threads: 3, strategy: "staged" } as const;

describe("tasks in threads", () => {
  it("have what they write on the disk where that is asked for", async () => {
    const [source, synced] = [await steps(16), place(".synced")];
    const countSyncs = `const { fsync } = fs;
      fs.fsync = (...args) => (fs.appendFileSync(${JSON.stringify(synced)}, "1"), fsync(...args));`;
    const counting = await scriptAfter(script(), place(".mjs"), countSyncs);
    const syncedBy = async (fsync: boolean) => {
      await writeFile(synced, "");
      // each task writes values of the target
      const direct = { ...SMALL_TASKS, strategy: "direct" } as const;
      await runShared(source, place(), direct, { fsync, worker: { threads: 3, script: counting } });
      return (await readFile(synced)).length;
    };
    expect(await syncedBy(false)).toBe(0);
    expect(await syncedBy(true)).toBeGreaterThan(0);
  });

  it("write missing chunks out where the missing value of v2 is another, as one thread does", async () => {
    const array = {
      ...{ shape: [16, 64, 64], chunks: [1, 64, 64], dataType: "float32", fillValue: 7 },
      ...{ dimensionNames: ["time", "y", "x"], attributes: { _FillValue: -999 } },
    };
    // of four steps one has other values
    const values = (i: number) => (Math.floor(i / STEP) % 4 === 0 ? i % 5 : 7);
    const source = await given({ at: place(), zarrFormat: "v3", ...array, values });
    const options = { ...SMALL_TASKS, to: "v2" } as const;
    const [inOne, inTwo] = [place(), place()];
    await runShared(source, inTwo, options);
    await run(source, inOne, options, { worker: { threads: 1 } });
    expect(await contents(inTwo)).toEqual(await contents(inOne));
    expect(await digestOf(inTwo)).toBe(await digestOf(source));
  });

  it("tell in which folders chunks are missing, whichever thread looked for them", async () => {
    const source = place();
    const how = { shape: [16, 64, 64], chunks: [1, 64, 64], dataType: "float32", codec: "zstd:1" } as const;
    await given({ at: source, ...how, values: (i) => Math.sin(i / 100) + (i % 7) });
    for (let step = 0; step < 16; step += 4) await rm(join(source, `c/${step}/0/0`));
    const missing = new Set<string>();
    const watch = new FolderWatch(source, { onNote: (note) => missing.add(note.folder) });
    await runShared(source, place(), SMALL_TASKS);
    watch.end();
    expect(missing.size).toBe(4);
  });

  it("tell and count the same as in one thread, within the budget together", async () => {
    const source = await steps(16);
    const told = async (threads: number) => {
      const events: FlowEvent[] = [];
      const how = { worker: { threads }, onEvent: (event: FlowEvent) => void events.push(event) };
      const told = await (threads > 1 ? runShared : run)(source, place(), SMALL_TASKS, how);
      const { seconds, peakBuffers, threads: which, ...report } = told;
      expect(peakBuffers).toBeGreaterThan(0);
      expect(peakBuffers).toBeLessThanOrEqual(600e3);
      const of = (type: string) =>
        events.flatMap((e) => (e.type === type && "task" in e && e.task !== undefined ? [e.task] : []));
      return {
        report,
        started: of("task-start").sort((a, b) => a - b),
        ended: of("task-end").sort((a, b) => a - b),
      };
    };
    const alone = await told(1);
    expect(alone.report.tasks).toBeGreaterThan(3);
    expect(await told(3)).toEqual(alone);
  });

  it("leave checksums by which a verification finds what was changed since", async () => {
    const { plan, source, close } = await planFlow(await steps(16), place(), SMALL_TASKS);
    const build = await openTargetBuild(plan.target.store, { ifExists: "error" });
    let ended = 0;
    const onEvent = ({ type }: FlowEvent) => {
      if (type !== "task-end" || ++ended < plan.totals.tasks || build.spec?.kind !== "directory") return;
      const path = join(build.spec.path, "0.3.3");
      writeFileSync(path, new Uint8Array(readFileSync(path).length));
    };
    const worker = { script: script(), threads: 2 };
    const running = runPlan(plan, { source, build, verify: true, worker, onEvent });
    await expect(running).rejects.toMatchObject({ code: "differs", details: { key: "0.3.3" } });
    await close();
  });

  it("write the same bytes as the streams of one thread, into folders and zips", async () => {
    await fc.assert(
      fc.asyncProperty(rechunked, async ({ recipe, chunks }) => {
        const { store } = await makeArray(recipe);
        const source = place();
        await givenKeys(Object.fromEntries(await valuesIn(store)), new DirectoryStore(source));
        const options = { chunks, codec: "blosc:lz4:5:shuffle" as const };
        const [streamed, threaded, zipped] = [place(), place(), place(".zip")];
        const { plan } = await planFlow(source, streamed, options);
        const build = await openTargetBuild(plan.target.store, { ifExists: "error" });
        await runPlan(plan, { source: store, build });
        await run(source, threaded, options, { worker: { threads: 2 } });
        await run(source, zipped, options, { worker: { threads: 2 } });
        const expected = await contents(streamed);
        expect(await contents(threaded)).toEqual(expected);
        expect(await contents(zipped, "zip")).toEqual(expected);
      }),
      { numRuns: samples(15) },
    );
  });

  it("find together what is wrong with a shard in a zip of which each reads a part", async () => {
    const [zip, whole, damaged] = [place(".zip"), place(), place()];
    const shards = { chunks: [1, 64, 64], shards: [64, 64, 64], to: "v3", codec: "none" } as const;
    await run(await steps(64), zip, shards);
    const options = { chunks: [2, 64, 64], maxMemory: "300kB", threads: 2, strategy: "direct" } as const;
    const { uncheckedEntries, tasks } = await runShared(zip, whole, options);
    expect(uncheckedEntries).toBe(0);
    expect(tasks).toBeGreaterThan(8);
    const bytes = readFileSync(zip);
    bytes[bytes.length >> 1] = (bytes[bytes.length >> 1] ?? 0) ^ 1;
    writeFileSync(zip, bytes);
    const onRead = vi.fn();
    const reading = run(zip, damaged, options, { worker: { threads: 2 }, holds: untilShared, onRead });
    await expect(reading).rejects.toMatchObject({ code: "corrupt-store", details: { key: "c/0/0/0" } });
    expect(onRead).toHaveBeenCalled();
  });

  it("hand large values over to the one writer of a zip", async () => {
    const source = await steps(16);
    const [folderPath, zip] = [place(), place(".zip")];
    // one task for each thread, of two values of 64 KiB
    const sizes = { chunks: [16, 32, 32], maxMemory: "700kB", threads: 2 };
    const options = { ...sizes, codec: "none", strategy: "direct" } as const;
    await run(source, folderPath, options, { worker: { threads: 1 } });
    await runShared(source, zip, options);
    expect(await contents(zip, "zip")).toEqual(await contents(folderPath));
  });

  it("read from a web server, and tell of what they asked again", async () => {
    const source = await steps(16);
    const failed = new Set<string>();
    const server = await serveValues(await valuesIn(new DirectoryStore(source)));
    const failOnce: Fault = (response, { url, method }) => {
      const fails = method === "GET" && url.endsWith("7.0.0") && !failed.has(url);
      if (fails) response.writeHead(503).end();
      if (fails) failed.add(url);
      return fails;
    };
    server.faults.push(...Array(5000).fill(failOnce));
    const retried: string[] = [];
    const unwatch = onRetry(({ key }) => retried.push(key));
    try {
      const [direct, threaded] = [place(), place()];
      await run(source, direct, SMALL_TASKS, { worker: { threads: 1 } });
      await runShared(server.url, threaded, SMALL_TASKS);
      expect(await contents(threaded)).toEqual(await contents(direct));
      expect(retried.length).toBe(failed.size);
    } finally {
      unwatch();
      await server.close();
    }
  });
});

describe("the memory that a plan predicts", () => {
  it.each([
    ["direct", [64, 8, 8], "direct"],
    ["the staged strategy", [64, 8, 8], "staged"],
    ["direct, from tiles to steps", [1, 64, 64], "direct"],
  ] as const)("is what buffers take, within 15 %%, for %s", async (_, chunks, strategy) => {
    const from = chunks[0] === 1 ? [16, 16, 16] : [1, 64, 64];
    const array = { zarrFormat: "v2", shape: [64, 64, 64], chunks: from, dataType: "float32" } as const;
    const codec = "blosc:lz4:5:shuffle";
    const path = await given({ at: place(), ...array, codec, values: (i) => Math.sin(i / 100) });
    const options = { strategy, maxMemory: "700kB", threads: 1, scratch: folder.path } as const;
    const { plan, close } = await planFlow(path, place(), { ...options, chunks: [...chunks] });
    await close();
    const how = { worker: { threads: 1 } };
    const { peakBuffers } = await run(path, place(), { ...options, chunks: [...chunks] }, how);
    expect(plan.jobs[0]?.strategy).toBe(strategy);
    expect(peakBuffers).toBeLessThanOrEqual(plan.totals.predictedPeak);
    expect(peakBuffers).toBeGreaterThan(plan.totals.predictedPeak / 1.15);
  });
});

describe("a run in threads that fails leaves nothing, and says why", () => {
  /** What a run of two threads fails with, by a script of its own where one is given. */
  async function failure(source: string, how: Run = {}, options: Options = SMALL_TASKS) {
    const before = await readdir(folder.path);
    const running = run(source, place(), options, { ...how, worker: { threads: 2, ...how.worker } });
    const error: unknown = await running.catch((reason) => reason);
    const left = (await readdir(folder.path)).filter((name) => !before.includes(name));
    expect(left.filter((name) => !name.endsWith(".gate"))).toEqual([]);
    return error;
  }

  it("for a broken chunk", async () => {
    const source = await steps(16);
    await writeFile(join(source, "9.0.0"), "no blosc");
    const failed: FlowEvent[] = [];
    const onEvent = (event: FlowEvent) => void (event.type === "task-failed" && failed.push(event));
    const details = { key: "9.0.0", coords: [9, 0, 0] };
    expect(await failure(source, { onEvent })).toMatchObject({ code: "corrupt-chunk", details });
    expect(failed).toMatchObject([{ task: expect.any(Number), error: { code: "corrupt-chunk" } }]);
  });

  it("for an abort, long before its end", async () => {
    const gate = place(".gate");
    const controller = new AbortController();
    const onDiscard = vi.fn<(keys: number) => void>();
    // a worker does some tasks before the abort, this thread none
    const waiting = await scriptAfter(script(), place(".mjs"), waitFor(gate, 100));
    const onRead = () => {
      controller.abort(new Error("enough"));
      writeFileSync(gate, "");
    };
    const how = { worker: { script: waiting }, holds: untilShared, signal: controller.signal };
    const options = { chunks: [16, 4, 4], maxMemory: "400kB", threads: 2, strategy: "direct" } as const;
    const error = await failure(await steps(16), { ...how, onDiscard, onRead }, options);
    expect(error).toMatchObject({ code: "aborted", cause: new Error("enough") });
    const [[keys] = [0]] = onDiscard.mock.calls;
    expect(keys).toBeGreaterThan(0);
    expect(keys).toBeLessThan((16 * 16) / 2);
  });

  it("for a worker without memory", async () => {
    const resourceLimits = { maxOldGenerationSizeMb: 1, maxYoungGenerationSizeMb: 1 };
    const error = await failure(await steps(16), { worker: { threads: 2, resourceLimits } });
    expect(error).toMatchObject({ code: "resource-limit" });
  });

  it("for a worker that is gone amid a task", async () => {
    const ending = `const { readSync } = fs;
      let reads = 0;
      fs.readSync = (...args) => (++reads > 1 ? process.exit(1) : readSync(...args));`;
    const worker = { threads: 2, script: await scriptAfter(script(), place(".mjs"), ending) };
    const options = { ...SMALL_TASKS, scratch: folder.path };
    const error = await failure(await steps(16), { worker, holds: untilShared }, options);
    expect(error).toMatchObject({ message: expect.stringContaining("ended before its work was done") });
  });

  it("while workers start, as they are gone then", async () => {
    const [ticks, file, path] = [place(".ticks"), place(".file"), place(".mjs")];
    await writeFile(file, "");
    await writeFile(ticks, "");
    const tick = `appendFileSync(${JSON.stringify(ticks)}, ".")`;
    await writeFile(path, `import { appendFileSync } from "node:fs"; setInterval(() => ${tick}, 1);`);
    const worker = { threads: 2, script: pathToFileURL(path) };
    const options = { ...SMALL_TASKS, scratch: join(file, "folder") };
    const error = await failure(await steps(16), { worker }, options);
    expect(error).toMatchObject({ message: expect.stringContaining("there is a file in place of a folder") });
    const { length } = readFileSync(ticks);
    await sleep(50);
    expect(readFileSync(ticks)).toHaveLength(length);
  });

  it.each([
    ["that cannot start", "throw new Error('no such luck');", /a worker thread failed: no such luck/],
    ["that ends by itself", "process.exit(0);", /ended before its work was done/],
    ["that hangs", "setInterval(() => {}, 1e6);", /a worker thread hangs/, 60],
    ["that never rests", "for (;;);", /a worker thread hangs/, 60],
  ])("for a worker %s, in words of its own", async (_, text, reason, stallTimeout = 60_000) => {
    const path = place(".mjs");
    await writeFile(path, text);
    const worker = { threads: 2, script: pathToFileURL(path), stallTimeout };
    const error = await failure(await steps(16), { worker });
    expect(error).toMatchObject({ code: "transient", exitCode: 5, message: expect.stringMatching(reason) });
    expect(failureText(error)).not.toContain("bug in zarrflow");
  });
});

describe("threads that share no memory, as those of a page that is not isolated", () => {
  /** Tasks of which three fit in the budget at one time. */
  const CHANGES = { chunks: [16, 4, 4], strategy: "direct", maxMemory: 600e3, threads: 3 } as const;
  const worker = { threads: 3 };
  beforeEach(() => void vi.stubGlobal("SharedArrayBuffer", undefined));

  it.each(["direct", "staged"] as const)("run all tasks, within the budget of all (%s)", async (strategy) => {
    const [source, target] = [await steps(16), place()];
    const report = await run(source, target, { ...CHANGES, strategy }, { worker });
    const busy = report.threads?.filter(({ tasks }) => tasks > 0) ?? [];
    expect(busy).toHaveLength(3);
    expect(busy.reduce((sum, { tasks }) => sum + tasks, 0)).toBe(report.tasks);
    expect(report.peakBuffers).toBeLessThanOrEqual(CHANGES.maxMemory);
    expect(await digestOf(target)).toBe(await digestOf(source));
  });

  it("begin no more tasks when they are stopped", async () => {
    const gate = place(".gate");
    const stop = new AbortController();
    let ended = 0;
    const started = new Set<number>();
    const onEvent = (event: FlowEvent) => {
      if (event.type === "task-end") ended++;
      if (event.type !== "task-start" || started.add(event.task % 3).size < 3) return;
      stop.abort();
      writeFileSync(gate, "");
    };
    // all three begin a task, and read for it after the stop
    const waiting = await scriptAfter(script(), place(".mjs"), waitFor(gate, 0));
    const how = { worker: { threads: 3, script: waiting }, stop: stop.signal, onEvent };
    const stopped = run(await steps(16), place(), CHANGES, { ...how, holds: () => !stop.signal.aborted });
    await expect(stopped).rejects.toMatchObject({ code: "aborted" });
    expect(ended).toBeGreaterThan(0);
    expect(ended).toBeLessThan(9);
  });

  it("end with the first failure", async () => {
    const source = await steps(16);
    await writeFile(join(source, "7.0.0"), "no blosc");
    await expect(run(source, place(), CHANGES, { worker })).rejects.toMatchObject({ code: "corrupt-chunk" });
  });

  it("are no more than tasks that the budget holds at one time", async () => {
    const planned = (maxMemory: number, source: string) =>
      planFlow(source, place(), { ...CHANGES, maxMemory }).then(({ plan, close }) =>
        close().then(() => plan),
      );
    const source = await steps(16);
    expect((await planned(250e3, source)).execution.threads).toBe(1);
    expect((await planned(600e3, source)).execution).not.toHaveProperty("singleThreadReason");
  });
});

const CHUNK = 1024;
const ARRAY = { shape: [4 * CHUNK, 4 * CHUNK], chunks: [CHUNK, CHUNK], dataType: "uint8", codec: "none" };

/** The memories that the values lie in which a class of stores is given. */
function memoriesOf(values: { readonly set: S3Store["set"] }): Set<ArrayBufferLike> {
  const memories = new Set<ArrayBufferLike>();
  const set = values.set;
  vi.spyOn(values, "set").mockImplementation(function (this: S3Store, key, bytes, options) {
    if (bytes.length >= CHUNK * CHUNK) memories.add(bytes.buffer);
    return set.call(this, key, bytes, options);
  });
  return memories;
}

it("a run works in the kernels' memory in one thread, too, of stores that know their specs, and of no others", async () => {
  const source = await given({ at: place(), ...ARRAY, values: (i) => 1 + ((i * 7) % 251) });
  onTestFinished(() => void vi.restoreAllMocks());
  const kernels = memoriesOf(S3Store.prototype);
  await withBucket(async (_, bucket) => {
    const target = `s3://${bucket}/out.zarr`;
    await rechunk(source, target, { chunks: [512, 4096] });
    expect(await digest(target)).toEqual(await digest(source));
  });
  expect(kernels.size).toBe(1);
  const own = memoriesOf(MemoryStore.prototype);
  await rechunk(source, new MemoryStore(), { chunks: [512, 4096] });
  expect(own.size).toBeGreaterThan(1);
});
