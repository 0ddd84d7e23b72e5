// @module-tag slow
import { readdir, stat, truncate } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { copy, digest, type FlowEvent, rechunk } from "../../src/index.ts";
import { testFolder } from "../support/cli.ts";
import { drain } from "../support/consume.ts";
import { writeV2Array } from "../support/v2-store.ts";

/** An array in a folder, a path beside it, and a listener with what it has heard. */
async function setUp() {
  const folder = join(await testFolder(), "a.zarr");
  await writeV2Array(folder, { shape: [60, 100], chunks: [6, 10] });
  const events: FlowEvent[] = [];
  const of = <T extends FlowEvent["type"]>(type: T) =>
    events.filter((event): event is Extract<FlowEvent, { type: T }> => event.type === type);
  const onEvent = (event: FlowEvent) => void events.push(event);
  return { folder, target: `${folder}.out`, events, of, onEvent };
}

const maxMemory = 400_000;

it("a run reports its plan, each task's start and end, progress, verification, and its end, in order", async () => {
  const { folder, target, events, of, onEvent } = await setUp();
  const report = await rechunk(folder, target, { chunks: [30, 20], maxMemory, verify: true, onEvent });
  expect(events[0]?.type).toBe("plan");
  expect(events.at(-1)).toEqual({ type: "done", report });
  const { tasks } = of("plan")[0]?.plan.totals ?? { tasks: 0 };
  expect(of("task-start").map(({ task }) => task)).toEqual(Array.from({ length: tasks }, (_, i) => i));
  expect(of("task-end")).toHaveLength(tasks);
  expect(of("task-end").reduce((sum, { bytes }) => sum + bytes, 0)).toBe(24_000);
  for (const { ms } of of("task-end")) expect(ms).toBeGreaterThanOrEqual(0);
  expect(of("verify").at(-1)).toEqual({ type: "verify", keys: 11, allKeys: 11 });
  expect(of("progress").at(-1)?.progress).toMatchObject({ tasks, bytesRead: 24_000, chunksWritten: 10 });
  for (const { progress } of of("progress"))
    expect(progress.bufferedBytes).toBeLessThanOrEqual(report.peakBuffers);
});

it.each([1, 3])(
  "%i threads name each value once that they write, before the end of its task",
  async (threads) => {
    const { folder, target, events, of, onEvent } = await setUp();
    await rechunk(folder, target, { chunks: [30, 20], maxMemory, threads, onEvent });
    const sizeOf = async (key: string) => [key, (await stat(join(target, key))).size];
    const sizes = await Promise.all((await readdir(target)).map(sizeOf));
    const written = of("written");
    expect(written.map(({ key, size }) => [key, size]).sort()).toEqual(sizes.sort());
    for (const end of of("task-end")) {
      const ofTask = written.filter(({ task }) => task === end.task);
      expect(ofTask.reduce((sum, { size }) => sum + size, 0)).toBe(end.bytes);
      for (const event of ofTask) expect(events.indexOf(event)).toBeLessThan(events.indexOf(end));
    }
  },
);

it.each([1, 3])(
  "%i threads report the task that failed once, with the error that is thrown",
  async (threads) => {
    const { folder, target, of, onEvent } = await setUp();
    for (const key of ["3.4", "8.8"]) await truncate(join(folder, key), 7);
    const run = rechunk(folder, target, { chunks: [60, 5], maxMemory, threads, onEvent });
    const error: unknown = await run.catch((thrown) => thrown);
    expect(error).toMatchObject({ code: "corrupt-chunk" });
    const failed = of("task-failed");
    expect(failed).toMatchObject([{ task: expect.any(Number), error: { code: "corrupt-chunk" } }]);
    expect(of("task-end").map(({ task }) => task)).not.toContain(failed[0]?.task);
    if (threads === 1) expect(failed[0]?.error).toBe(error);
  },
);

it("a run that is aborted reports no failed task", async () => {
  const { folder, target, of, onEvent } = await setUp();
  const aborting = new AbortController();
  const run = rechunk(folder, target, {
    ...{ chunks: [60, 5], maxMemory, signal: aborting.signal },
    onEvent: (event) => {
      onEvent(event);
      if (event.type === "task-start") aborting.abort();
    },
  });
  await expect(run).rejects.toMatchObject({ code: "aborted" });
  expect(of("task-start")).not.toEqual([]);
  expect(of("task-failed")).toEqual([]);
});

it("a run that is skipped reports its plan and its end", async () => {
  const { folder, target, events, onEvent } = await setUp();
  await copy(folder, target);
  const report = await copy(folder, target, { ifExists: "skip", onEvent });
  expect(report).toMatchObject({ skipped: true, keysWritten: 0 });
  expect(events.map(({ type }) => type)).toEqual(["plan", "done"]);
});

it("a digest reports how much it has read of how much", async () => {
  const { folder, events, onEvent } = await setUp();
  await drain(digest(folder, { onEvent }));
  expect(events.at(-1)).toEqual({ type: "read", path: "", bytes: 24_000, allBytes: 24_000 });
});
