import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { pathToFileURL } from "node:url";
import { Worker } from "node:worker_threads";
import { afterEach, describe, expect, it, vi } from "vitest";
import { SharedScheduler } from "../../../src/run/threads/shared-scheduler.ts";
import { type PoolRun, WorkerPool } from "../../../src/run/threads/worker-pool.ts";
import { temporaryFolder } from "../../stores/temporary-folder.ts";
import { failOnUnhandledRejections, rejection } from "../../streams/support.ts";

failOnUnhandledRejections();
const KIB = 1024;
const settle = () => sleep(20);

afterEach(() => vi.unstubAllGlobals());

describe.each(["Atomics.waitAsync", "no Atomics.waitAsync"])("SharedScheduler, %s", (what) => {
  const schedulers = (maxMemory: number, stages = [4]) => {
    if (what.startsWith("no ")) {
      const { add, compareExchange, load, notify, store, sub } = Atomics;
      vi.stubGlobal("Atomics", { add, compareExchange, load, notify, store, sub });
    }
    const here = new SharedScheduler(stages, maxMemory, 2);
    return [here, new SharedScheduler(stages, maxMemory, 2, here.shared.memory)] as const;
  };

  it("admits by bytes that all threads have leased, the first that asks before the next", async () => {
    const [here, there] = schedulers(100 * KIB);
    const admitted: string[] = [];
    const ask = async (name: string, scheduler: SharedScheduler, bytes: number) => {
      const lease = await scheduler.acquire(bytes);
      admitted.push(name);
      return lease;
    };
    const first = await ask("first", here, 60 * KIB);
    const large = ask("large", there, 60 * KIB);
    await settle();
    const small = ask("small", here, 10 * KIB);
    await settle();
    expect(admitted).toEqual(["first"]);
    first?.release();
    await Promise.all([large, small]);
    expect(admitted).toEqual(["first", "large", "small"]);
  });

  it("gives bytes back once, and ends all waits when the run stops", async () => {
    const [here, there] = schedulers(100 * KIB);
    const first = await here.acquire(60 * KIB);
    first?.release();
    first?.release();
    await here.acquire(100 * KIB);
    const waits = [here.acquire(KIB), there.acquire(KIB), there.stageEnded(0)];
    await settle();
    there.stop();
    expect(await Promise.all(waits)).toEqual([undefined, undefined, undefined]);
  });

  it("ends a stage when all of its tasks have ended", async () => {
    const [here, there] = schedulers(KIB, [2, 1]);
    const hasEnded = vi.fn();
    const stage = here.stageEnded(0).then(hasEnded);
    there.taskEnded();
    await settle();
    expect(hasEnded).not.toHaveBeenCalled();
    there.taskEnded();
    await stage;
  });
});

describe("SharedScheduler", () => {
  it("waits without timers of a millisecond where Atomics.waitAsync is there", async () => {
    const scheduler = new SharedScheduler([1], 100 * KIB, 2);
    const first = await scheduler.acquire(100 * KIB);
    const timers = vi.spyOn(globalThis, "setTimeout");
    const second = scheduler.acquire(KIB);
    await new Promise((resolve) => setImmediate(resolve));
    first?.release();
    await second;
    expect(timers).not.toHaveBeenCalled();
  });

  it("survives the end of a thread that waits", async () => {
    const memory = new SharedArrayBuffer(64);
    const script = `
      const { workerData, parentPort } = require("node:worker_threads");
      const counters = new Int32Array(workerData);
      Atomics.waitAsync(counters, 7, 0, 100_000);
      parentPort.postMessage("waits");
      setInterval(() => {}, 1000);`;
    const worker = new Worker(script, { eval: true, workerData: memory });
    await new Promise((resolve) => worker.once("message", resolve));
    await worker.terminate();
    new SharedScheduler([1], KIB, 2, memory).stop();
    await settle();
    expect(Atomics.load(new Int32Array(memory), 7)).toBe(1);
  });
});

describe("SharedScheduler, of threads that share no memory", () => {
  const schedulers = (tasks: number, maxMemory = 100 * KIB) => {
    vi.stubGlobal("SharedArrayBuffer", undefined);
    const here = new SharedScheduler([tasks], maxMemory, 3);
    return [here, ...[1, 2].map((thread) => SharedScheduler.of({ ...here.shared, thread }))];
  };

  it.each([
    [1, undefined],
    [7, undefined],
    [100, undefined],
    [101, 1],
    [1000, 7],
  ])("deals %i tasks once, at most %s together, and all threads about as many", (tasks, most) => {
    const dealt = schedulers(tasks).map((scheduler) => {
      const own: number[] = [];
      for (let range = scheduler.claim(0, most); range; range = scheduler.claim(0, most)) {
        for (let i = 0; i < range.count; i++) own.push(range.first + i);
      }
      return own;
    });
    expect(dealt.flat().sort((a, b) => a - b)).toEqual(Array.from({ length: tasks }, (_, i) => i));
    const counts = dealt.map(({ length }) => length);
    expect(Math.max(...counts) - Math.min(...counts)).toBeLessThanOrEqual(Math.ceil(tasks / 24));
  });

  it("admits a part of the bytes in each, and wakes who waits for them", async () => {
    const [here, there] = schedulers(3, 96 * KIB);
    const first = await here?.acquire(32 * KIB);
    expect(await there?.acquire(32 * KIB)).toBeDefined();
    const admitted = vi.fn();
    const second = here?.acquire(KIB).then(admitted);
    await settle();
    expect(admitted).not.toHaveBeenCalled();
    first?.release();
    await second;
    const waits = there?.acquire(KIB);
    there?.stop();
    expect(await waits).toBeUndefined();
  });

  it("counts the buffers of its own thread", () => {
    const [here, there] = schedulers(3);
    here?.count(8 * KIB);
    there?.count(4 * KIB);
    there?.count(-4 * KIB);
    expect([here?.peak, there?.ownPeak]).toEqual([8 * KIB, 4 * KIB]);
    vi.unstubAllGlobals();
    expect(new SharedScheduler([1], KIB, 2).ownPeak).toBe(0);
  });
});

const folder = temporaryFolder();

type Result = { readonly number: number; readonly buffer: ArrayBuffer; readonly cameBack: number };

/** Sends as many buffers as its work says, one after the other as they come back, then tells that it has done all. */
const SENDER = `
  import { parentPort } from "node:worker_threads";
  let left, number = 0, cameBack = 0;
  const next = () => {
    if (left-- === 0) return parentPort.postMessage({ type: "done" }), parentPort.close();
    const buffer = new ArrayBuffer(8);
    parentPort.postMessage({ type: "result", result: { number: number++, buffer, cameBack } }, [buffer]);
  };
  parentPort.on("message", ({ type, start, buffers }) => {
    if (type === "start") left = start.work;
    if (type === "back") cameBack += buffers.length;
    if (type === "stop") return parentPort.postMessage({ type: "done" }), parentPort.close();
    next();
  });`;

let scripts = 0;
let pool: WorkerPool<number, Result> | undefined;
afterEach(() => pool?.end());

async function started(threads: number, stallTimeout?: number) {
  const path = join(folder.path, `${scripts++}.mjs`);
  await writeFile(path, SENDER);
  pool = await WorkerPool.start<number, Result>(threads, { script: pathToFileURL(path), stallTimeout });
  return pool;
}

function runOf(work: number, onResult: PoolRun<number, Result>["onResult"]): PoolRun<number, Result> {
  const scheduler = new SharedScheduler([work], 1024, 2);
  const source = { kind: "memory", name: "none" } as const;
  return { work, source, sourceVersion: undefined, scheduler, onResult };
}

it("results of a worker pool come with buffers that go back to whoever sent them", async () => {
  const seen: number[] = [];
  const workers = await started(3);
  await workers.run(
    runOf(4, ({ number, buffer, cameBack }, giveBack) => {
      expect(cameBack).toBe(number);
      seen.push(number);
      giveBack([{ number, buffer }]);
    }),
  );
  expect(seen.sort()).toEqual([0, 0, 1, 1, 2, 2, 3, 3]);
});

it("a worker pool fails with what taking a result throws", async () => {
  const full = new Error("the disk is full");
  const workers = await started(2);
  const running = workers.run(runOf(4, async () => Promise.reject(full)));
  expect(await rejection(running)).toBe(full);
});

it("workers that are asked to stop end by themselves, while this thread takes its time, too", async () => {
  const stopped = await started(2);
  await stopped.run(runOf(1, () => stopped.stop()));
  await stopped.end();
  const workers = await started(2, 300);
  await workers.run(runOf(0, () => {}));
  await sleep(500);
  await workers.end();
});

it("workers that were given no work end with the pool", async () => {
  const workers = await started(3);
  await workers.end();
  expect(workers.threads).toBe(1);
});
