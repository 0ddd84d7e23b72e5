// @module-tag slow
import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { mkdir, readdir, readFile, rename, rm, symlink, writeFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { rechunk } from "../../src/flows/copy.ts";
import type { FlowEvent } from "../../src/flows/events.ts";
import type { FlowOptions } from "../../src/flows/request/flow-options.ts";
import { temporaryFolder } from "../stores/temporary-folder.ts";
import { digestOf } from "../support/consume.ts";
import { ofEarlierStart } from "../support/edit-ledger.ts";
import { given } from "../support/given.ts";

const folder = temporaryFolder();
let source = "";
let expected = "";

beforeAll(async () => {
  source = join(folder.path, "source.zarr");
  await given({
    at: source,
    shape: [32, 128],
    chunks: [1, 128],
    dataType: "int32",
    zarrFormat: "v2",
    values: (i) => (i * 2654435761) % 1000,
  });
  expected = await digestOf(source);
});

const HOW = { chunks: [16, 16], maxMemory: "48kB", threads: 1, concurrency: 1, strategy: "direct" } as const;

/** What a run has left that was stopped when some tasks had ended: its control folder, and how many had. */
async function unfinishedAt(
  target: string,
  options: FlowOptions = {},
): Promise<{ readonly control: string; readonly tasks: number }> {
  const stopping = new AbortController();
  let tasks = 0;
  const onEvent = (event: FlowEvent) => {
    if (event.type === "task-end") stopping.abort();
    if (event.type === "unfinished") tasks = event.tasks;
  };
  const stopped = rechunk(source, target, { ...HOW, ...options, stop: stopping.signal, onEvent });
  await expect(stopped).rejects.toMatchObject({ code: "aborted" });
  expect(tasks).toBeGreaterThan(1);
  const names = await readdir(dirname(target));
  return { control: join(dirname(target), names.find((name) => name !== basename(target)) ?? "none"), tasks };
}

/** Says in a ledger that its machine has been started anew since. */
async function restartMachine(control: string): Promise<void> {
  const path = join(control, "ledger.jsonl");
  const text = await readFile(path, "utf8");
  expect(text).toMatch(/"boot":"[^"]+"/);
  await writeFile(path, ofEarlierStart(text));
}

/** Zeroes the contents of files: their names and sizes had got to the disk. */
function loseContents(build: string, isLost: (name: string) => boolean): number {
  const names = readdirSync(build, { recursive: true, encoding: "utf8" });
  const lost = names.filter((name) => statSync(join(build, name)).isFile() && isLost(name));
  for (const name of lost) {
    const path = join(build, name);
    writeFileSync(path, new Uint8Array(statSync(path).size));
  }
  return lost.length;
}

describe.runIf(process.platform === "linux")("a run that is resumed after a loss of power", () => {
  it("writes chunks again whose contents were lost, and no others", async () => {
    const target = folder.next("out.zarr");
    const { control, tasks } = await unfinishedAt(target);
    await restartMachine(control);
    expect(loseContents(join(control, "build"), (name) => name === "0.0")).toBe(1);
    const { tasksResumed } = await rechunk(source, target, { ...HOW, resume: true });
    expect(tasksResumed).toBe(tasks - 1);
    expect(await digestOf(target)).toBe(expected);
  });

  it("does not read back what was put on the disk before it was recorded", async () => {
    const target = folder.next("out.zarr");
    const { control, tasks } = await unfinishedAt(target, { fsync: true });
    await restartMachine(control);
    const { tasksResumed } = await rechunk(source, target, { ...HOW, fsync: true, resume: true });
    expect(tasksResumed).toBe(tasks);
    expect(await digestOf(target)).toBe(expected);
  });

  it("continues a zip before the first entry whose contents were lost", async () => {
    const target = folder.next("out.zarr.zip");
    const { control, tasks } = await unfinishedAt(target);
    await restartMachine(control);
    const build = join(control, "build");
    const bytes = readFileSync(build);
    bytes.fill(0, bytes.length >> 1);
    writeFileSync(build, bytes);
    const { tasksResumed = tasks } = await rechunk(source, target, { ...HOW, resume: true, verify: true });
    expect(tasksResumed).toBeLessThan(tasks);
    expect(await digestOf(target)).toBe(expected);
  });

  it("begins with the tasks of which the ledger has lines that got to the disk", async () => {
    const target = folder.next("out.zarr");
    const { control, tasks } = await unfinishedAt(target);
    const ledger = join(control, "ledger.jsonl");
    const text = await readFile(ledger);
    await writeFile(ledger, Buffer.concat([text.subarray(0, text.length - 10), Buffer.alloc(10)]));
    const { tasksResumed } = await rechunk(source, target, { ...HOW, resume: true });
    expect(tasksResumed).toBe(tasks - 1);
    expect(await digestOf(target)).toBe(expected);
  });
});

/** Lines as nobody but an editor of texts writes them. */
function linesOf(count: number, lines: (number: number) => readonly unknown[]): string {
  return Array.from({ length: count }, (_, number) => lines(number))
    .flat()
    .map((line) => `${JSON.stringify(line)}\n`)
    .join("");
}

describe("a run that is resumed after somebody changed what it had left", () => {
  it.each([
    ["a chunk was removed", (build: string) => rm(join(build, "0.0"))],
    ["a chunk was cut", (build: string) => writeFile(join(build, "0.0"), "x")],
  ])("writes again what is not as it was: %s", async (_what, change) => {
    const target = folder.next("out.zarr");
    const { control, tasks } = await unfinishedAt(target);
    await change(join(control, "build"));
    const { tasksResumed } = await rechunk(source, target, { ...HOW, resume: true });
    expect(tasksResumed).toBe(tasks - 1);
    expect(await digestOf(target)).toBe(expected);
  });

  it.each([
    ["tasks that did not end", (text: string) => text + linesOf(50, (end) => [{ end, keys: 0 }])],
    [
      "chunks of other tasks",
      (text: string) => {
        const chunk = text.split("\n").find((line) => line.includes('"key":"0.0"')) ?? "";
        return (
          text +
          linesOf(50, (task) => [
            { ...JSON.parse(chunk.slice(0, -9)), task },
            { end: task, keys: 1 },
          ])
        );
      },
    ],
    [
      "another end of each task",
      (text: string) => text.replaceAll(/"end":(\d+)/g, (_, end) => `"end":${50 - end}`),
    ],
    ["other sizes", (text: string) => text.replaceAll(/"size":\d+/g, '"size":1')],
    ["keys that lead outside", (text: string) => text.replaceAll(/"key":"[^"]+"/g, '"key":"../../x"')],
  ])("believes nothing that somebody wrote into its ledger: %s", async (_what, edit) => {
    const target = folder.next("out.zarr");
    const { control } = await unfinishedAt(target);
    const ledger = join(control, "ledger.jsonl");
    await writeFile(ledger, edit(await readFile(ledger, "utf8")));
    await rechunk(source, target, { ...HOW, resume: true });
    expect(await digestOf(target)).toBe(expected);
  });

  it.each([
    ["a folder", (path: string) => mkdir(path)],
    ["a link", (path: string) => symlink("/etc/hostname", path)],
    ["a pipe", async (path: string) => void execFileSync("mkfifo", [path])],
  ])("begins again where its ledger is %s", async (_what, make) => {
    const target = folder.next("out.zarr");
    const { control } = await unfinishedAt(target);
    await rm(join(control, "ledger.jsonl"));
    await make(join(control, "ledger.jsonl"));
    const { tasksResumed } = await rechunk(source, target, { ...HOW, resume: true });
    expect(tasksResumed).toBeUndefined();
    expect(await digestOf(target)).toBe(expected);
    expect(await readdir(dirname(target))).toEqual([basename(target)]);
  });

  it("is refused where a link is in the place of what it built, and nothing is removed where that leads", async () => {
    const target = folder.next("out.zarr");
    const { control } = await unfinishedAt(target);
    const moved = folder.next("moved");
    await mkdir(dirname(moved), { recursive: true });
    await rename(join(control, "build"), moved);
    await symlink(moved, join(control, "build"));
    const names = await readdir(moved);
    await expect(rechunk(source, target, { ...HOW, resume: true })).rejects.toMatchObject({
      code: "target-not-empty",
      details: { hint: expect.stringContaining("in its place") },
    });
    await rechunk(source, target, HOW);
    expect(await digestOf(target)).toBe(expected);
    expect(await readdir(moved)).toEqual(names);
    expect(await readdir(dirname(target))).toEqual([basename(target)]);
  });

  it("is refused with another plan, and leaves what was done to the right one", async () => {
    const target = folder.next("out.zarr");
    const { tasks } = await unfinishedAt(target);
    const other = rechunk(source, target, { ...HOW, chunks: [8, 16], resume: true });
    await expect(other).rejects.toMatchObject({ code: "plan-mismatch" });
    const { tasksResumed } = await rechunk(source, target, { ...HOW, resume: true });
    expect(tasksResumed).toBe(tasks);
  });

  it("is refused when the source's metadata are others", async () => {
    const target = folder.next("out.zarr");
    const { tasks } = await unfinishedAt(target);
    const attributes = join(source, ".zattrs");
    await writeFile(attributes, '{"changed": true}');
    try {
      const resumed = rechunk(source, target, { ...HOW, resume: true });
      await expect(resumed).rejects.toMatchObject({
        code: expect.stringMatching(/source-changed|plan-mismatch/),
      });
    } finally {
      await rm(attributes);
    }
    expect((await rechunk(source, target, { ...HOW, resume: true })).tasksResumed).toBe(tasks);
  });

  it("gives the place to one of two that resume it at once", async () => {
    const target = folder.next("out.zarr");
    await unfinishedAt(target);
    const both = await Promise.allSettled(
      [1, 2].map(() => rechunk(source, target, { ...HOW, resume: true })),
    );
    const failed = both.flatMap((one) => (one.status === "rejected" ? [one.reason.code] : []));
    expect(failed.every((code) => code === "locked" || code === "target-exists")).toBe(true);
    expect(failed.length).toBeLessThan(2);
    expect(await digestOf(target)).toBe(expected);
  });

  it("is warned of by a run that does not resume it, which removes it in the end", async () => {
    const target = folder.next("out.zarr");
    await unfinishedAt(target);
    const warnings: string[] = [];
    const onEvent = (event: FlowEvent) => {
      if (event.type === "warning") warnings.push(event.message);
    };
    await rechunk(source, target, { ...HOW, onEvent });
    expect(warnings).toEqual([expect.stringContaining("unfinished run")]);
    expect(await readdir(dirname(target))).toEqual([basename(target)]);
  });
});
