// @module-tag slow
import { existsSync, readdirSync, readFileSync, rmSync, statSync, truncateSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { rechunk } from "../../src/flows/copy.ts";
import type { FlowEvent, RunReport } from "../../src/flows/events.ts";
import type { FlowOptions } from "../../src/flows/request/flow-options.ts";
import { temporaryFolder } from "../stores/temporary-folder.ts";
import { given } from "../support/given.ts";
import { withoutPauses } from "../support/no-pauses.ts";
import { withBucket } from "../support/s3-environment.ts";

withoutPauses();
const folder = temporaryFolder();
const scratch = () => join(folder.path, "scratch");
let source = "";
/** Tasks of both stages, and those of the first: a scratch object each. */
const tasks = { all: 0, first: 0 };
/** What an undisturbed run gives. */
let undisturbed = new Map<string, string>();

beforeAll(async () => {
  source = join(folder.path, "source.zarr");
  await given({
    at: source,
    shape: [80, 24, 24],
    chunks: [1, 24, 24],
    dataType: "int32",
    zarrFormat: "v2",
    values: (i) => (i * 2654435761) % 1000,
  });
  const onEvent = (event: FlowEvent) => {
    if (event.type === "plan") tasks.first = event.plan.stages[0] ?? 0;
  };
  const target = folder.next("out.zarr");
  tasks.all = (await staged(target, { resume: false, onEvent })).tasks;
  undisturbed = files(target);
  expect(tasks.first).toBeGreaterThan(4);
  expect(tasks.all).toBeGreaterThan(tasks.first + 2);
});

/**
 * One task after the other, so that none is in flight beside the one that stops the run; with a limit of bytes that is never
 * reached, each is reported as it ends.
 */
function staged(target: string, options: FlowOptions = {}): Promise<RunReport> {
  return rechunk(source, target, {
    chunks: [80, 2, 2],
    strategy: "staged",
    maxMemory: "60kB",
    scratch: scratch(),
    threads: 1,
    concurrency: 1,
    bytesPerSecond: "100GB",
    resume: true,
    ...options,
  });
}

/** The tasks that end in a run, by number. */
function endedTasks(then: (task: number, ended: number) => void = () => {}): {
  readonly ended: number[];
  readonly onEvent: (event: FlowEvent) => void;
} {
  const ended: number[] = [];
  const onEvent = (event: FlowEvent) => {
    if (event.type !== "task-end") return;
    ended.push(event.task);
    then(event.task, ended.length);
  };
  return { ended, onEvent };
}

/** Runs until so many tasks have ended; which ones did. */
async function stoppedAfter(count: number, target: string, options: FlowOptions = {}): Promise<number[]> {
  const stopping = new AbortController();
  const { ended, onEvent } = endedTasks((_, number) => {
    if (number >= count) stopping.abort();
  });
  const run = staged(target, { ...options, stop: stopping.signal, onEvent });
  await expect(run).rejects.toMatchObject({ code: "aborted" });
  return ended;
}

/** The scratch objects in the folder for them, by number. */
function objects(): Map<number, string> {
  const names = readdirSync(scratch(), { recursive: true, encoding: "utf8" });
  const objects = names.filter((name) => /[/\\]0[/\\]\d+$/.test(name));
  return new Map(objects.map((name) => [Number(basename(name)), join(scratch(), name)]));
}

function files(path: string): Map<string, string> {
  const names = readdirSync(path, { recursive: true, encoding: "utf8" }).sort();
  const found = names.filter((name) => statSync(join(path, name)).isFile());
  return new Map(found.map((name) => [name, readFileSync(join(path, name), "base64")]));
}

function assertAsUndisturbed(target: string): void {
  expect(files(target)).toEqual(undisturbed);
  expect(readdirSync(scratch())).toEqual([]);
  expect(readdirSync(dirname(target))).toEqual([basename(target)]);
}

const sorted = (numbers: readonly number[]) => [...numbers].sort((a, b) => a - b);
const allTasks = () => Array.from({ length: tasks.all }, (_, task) => task);

describe("scratch objects of a run that resumes", () => {
  it.each([
    ["amid its first stage", () => 3],
    ["amid its last stage", () => tasks.first + 2],
  ])("are those of the run that was stopped %s: no task is run twice", async (_when, count) => {
    const target = folder.next("out.zarr");
    const before = await stoppedAfter(count(), target);
    expect(objects().size).toBe(Math.min(before.length, tasks.first));
    const written = new Map([...objects()].map(([number, path]) => [number, statSync(path).mtimeMs]));
    let stay = 0;
    const { ended, onEvent } = endedTasks((_task, number) => {
      if (number > 1) return;
      for (const [object, path] of objects()) if (statSync(path).mtimeMs === written.get(object)) stay++;
    });
    const { tasksResumed } = await staged(target, { onEvent });
    expect(tasksResumed).toBe(before.length);
    expect(stay).toBe(written.size);
    expect(sorted([...before, ...ended])).toEqual(allTasks());
    assertAsUndisturbed(target);
  });

  it("in S3 are each written once in both runs", async () => {
    await withBucket(async (server, bucket) => {
      const target = folder.next("out.zarr");
      const options = { scratch: `s3://${bucket}/scratch` };
      const before = await stoppedAfter(3, target, options);
      const { tasksResumed, tasks: run } = await staged(target, options);
      expect([tasksResumed, run]).toEqual([before.length, tasks.all - before.length]);
      const put = server.requests.filter(({ method, key }) => method === "PUT" && /\/0\/\d+$/.test(key));
      expect(put.length).toBe(tasks.first);
      expect(new Set(put.map(({ key }) => key)).size).toBe(tasks.first);
      expect([...server.objects.keys()]).toEqual([]);
      assertAsUndisturbed(target);
    });
  });

  it("are written again where some are gone, and no others", async () => {
    const target = folder.next("out.zarr");
    const before = await stoppedAfter(tasks.first + 2, target);
    const [lost] = objects().values();
    rmSync(lost ?? "");
    const { ended, onEvent } = endedTasks();
    const { tasksResumed } = await staged(target, { onEvent });
    expect(tasksResumed).toBe(before.length - 1);
    expect(ended.length).toBe(tasks.all - before.length + 1);
    assertAsUndisturbed(target);
  });

  it("are all written again where their folder is gone, and what is in the target is not", async () => {
    const target = folder.next("out.zarr");
    const before = await stoppedAfter(tasks.first + 2, target);
    rmSync(scratch(), { recursive: true });
    const { ended, onEvent } = endedTasks();
    const { tasksResumed } = await staged(target, { onEvent });
    expect(tasksResumed).toBe(before.length - tasks.first);
    expect(ended.length).toBe(tasks.all - before.length + tasks.first);
    assertAsUndisturbed(target);
  });

  it("that are gone amid a run leave what it has done to one that resumes it", async () => {
    const target = folder.next("out.zarr");
    const { ended: before, onEvent } = endedTasks((_task, number) => {
      if (number === tasks.first + 1) for (const path of objects().values()) rmSync(path);
    });
    const run = staged(target, { stop: new AbortController().signal, onEvent });
    await expect(run).rejects.toMatchObject({
      code: "corrupt-store",
      details: { hint: expect.stringContaining("--resume") },
    });
    const { tasksResumed } = await staged(target);
    expect(tasksResumed).toBe(before.length - tasks.first);
    assertAsUndisturbed(target);
  });

  it("that were cut are an error, whose work stays", async () => {
    const target = folder.next("out.zarr");
    await stoppedAfter(tasks.first + 2, target);
    for (const path of objects().values()) truncateSync(path, 20);
    const resumed = staged(target, { stop: new AbortController().signal });
    await expect(resumed).rejects.toMatchObject({ code: "corrupt-store" });
    expect(existsSync(target)).toBe(false);
    for (const path of objects().values()) rmSync(path);
    await staged(target);
    assertAsUndisturbed(target);
  });
});
