import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { pathToFileURL } from "node:url";
import { afterEach, expect, it } from "vitest";
import { SharedScheduler } from "../../../../src/flows/run/executors/shared-scheduler.ts";
import { type PoolRun, WorkerPool } from "../../../../src/flows/run/executors/worker-pool.ts";
import { temporaryFolder } from "../../../stores/temporary-folder.ts";
import { failOnUnhandledRejections, rejection } from "../../../streams/support.ts";

failOnUnhandledRejections();
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

async function started(threads: number, patience?: number) {
  const path = join(folder.path, `${scripts++}.mjs`);
  await writeFile(path, SENDER);
  pool = await WorkerPool.start<number, Result>(threads, { script: pathToFileURL(path), patience });
  return pool;
}

function runOf(work: number, onResult: PoolRun<number, Result>["onResult"]): PoolRun<number, Result> {
  const control = new SharedScheduler([work], 1024, 2);
  const source = { kind: "memory", name: "none" } as const;
  return { work, source, sourceVersion: undefined, control, onResult };
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

it("workers that are asked to stop end by themselves", async () => {
  const workers = await started(2);
  const running = workers.run(runOf(1, () => workers.stop()));
  await running;
});

it("a worker pool does not hang while this thread takes its time with the last result", async () => {
  const workers = await started(2, 300);
  const run = runOf(0, () => {});
  await workers.run(run);
  await sleep(500);
  await workers.end();
});

it("workers that were given no work end with the pool", async () => {
  const workers = await started(3);
  await workers.end();
  expect(workers.threads).toBe(1);
});
