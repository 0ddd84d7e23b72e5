// @module-tag slow
import { execFileSync } from "node:child_process";
import fs from "node:fs";
import { mkdir, readdir, readFile, rename, rm, symlink, writeFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { copy, rechunk, sliceTo } from "../../src/flows/copy.ts";
import type { FlowOptions } from "../../src/flows/request/flow-options.ts";
import type { FlowEvent, RunReport } from "../../src/run/events.ts";
import { BUCKET, type S3Server } from "../stores/s3-server.ts";
import { temporaryFolder } from "../stores/temporary-folder.ts";
import { digestOf } from "../support/consume.ts";
import { ofEarlierStart } from "../support/edit-ledger.ts";
import { given } from "../support/given.ts";
import { withoutPauses } from "../support/no-pauses.ts";
import { serveReachableBucket, withBucket } from "../support/s3-environment.ts";
import { oneIn } from "../support/samples.ts";
import { withParts } from "../support/small-parts.ts";
import { endedAfter, stoppedAfter, unfinishedOf } from "../support/stopped-run.ts";

/** Bytes that writing to S3 takes: in place of 8 MiB. */
const PART = 64 * 1024;
withoutPauses();
withParts(PART);

const folder = temporaryFolder();

async function sourceOf(name: string, shape: readonly number[]): Promise<string> {
  const chunks = [1, ...shape.slice(1)];
  const values = (i: number) => (i * 2654435761) % 1000;
  const array = { shape, chunks, dataType: "int32", zarrFormat: "v2", values } as const;
  return given({ at: join(folder.path, name), ...array });
}

const besides = (target: string) =>
  fs.readdirSync(dirname(target)).filter((name) => name !== basename(target));

/** Every file below a folder, with what is in it. */
function filesBelow(path: string): Map<string, string> {
  const names = fs.readdirSync(path, { recursive: true, encoding: "utf8" }).sort();
  const files = names.filter((name) => fs.statSync(join(path, name)).isFile());
  return new Map(files.map((name) => [name, fs.readFileSync(join(path, name)).toString("base64")]));
}

describe("a run that is stopped again and again", () => {
  let source = "";
  let bucket: S3Server;
  let places = 0;
  beforeAll(async () => {
    source = await sourceOf("steps.zarr", [24, 12, 12]);
  });
  beforeEach(async () => {
    bucket = await serveReachableBucket();
  });
  afterEach(() => bucket.close());

  /** What decides windows, beside the memory budget. */
  const SERIAL = { threads: 1, concurrency: 1, storeProfile: "5ms" };
  /** Each task reads some of the first chunks. */
  const BY_STEPS = { chunks: [8, 3, 3], strategy: "direct" } as const;
  const RESUMED = { ...BY_STEPS, maxMemory: "60kB", resume: true, ...SERIAL };

  type Flow = (target: string, options: FlowOptions) => Promise<RunReport>;
  const rechunked = (changes: Parameters<typeof rechunk>[2]): Flow => {
    return (target, options) => rechunk(source, target, { ...changes, ...options });
  };
  const FLOWS: Readonly<Record<string, Flow>> = {
    copy: (target, options) => copy(source, target, options),
    "copy with another codec": (target, options) => copy(source, target, { codec: "zstd", ...options }),
    "rechunk, direct": rechunked(BY_STEPS),
    "rechunk, staged": rechunked({ chunks: [24, 2, 2], strategy: "staged" }),
    "rechunk into shards": rechunked({ chunks: [4, 3, 3], shards: [8, 6, 6], to: "v3" }),
    "slice to zarr": (target, options) =>
      sliceTo(source, target, { slice: [[3, 21], null, [1, 9]], ...options }),
  };

  /** A kind of target: what makes some tasks there, a new one, and what is in one and beside it. */
  interface Place {
    readonly maxMemory: number;
    next(): string;
    contents(target: string): unknown;
    besides(target: string): readonly string[];
  }
  const PLACES: Readonly<Record<string, Place>> = {
    "a folder": { maxMemory: 60e3, next: () => folder.next("out.zarr"), contents: filesBelow, besides },
    // its entries may come in another order
    "a zip file": {
      maxMemory: 60e3,
      next: () => folder.next("out.zarr.zip"),
      contents: (target) => fs.statSync(target).size,
      besides,
    },
    S3: {
      maxMemory: 60e3 + PART,
      next: () => `s3://${BUCKET}/${places++}.zarr`,
      contents(target) {
        const prefix = `${target.slice(`s3://${BUCKET}/`.length)}/`;
        const objects = [...bucket.objects].filter(([key]) => key.startsWith(prefix)).sort();
        return objects.map(([key, bytes]) => [key.slice(prefix.length), bytes.toString("base64")]);
      },
      besides: () => [],
    },
  };

  const cases = Object.entries(FLOWS).flatMap(([name, flow]) =>
    Object.entries(PLACES).map(([kind, place]) => [name, kind, flow, place] as const),
  );
  describe.each(cases.map((one, i) => [...one, oneIn(2, i)] as const))(
    "by %s to %s",
    (_, _kind, flow, place, tags) =>
      it("gives what an undisturbed run gives", tags, async () => {
        const undisturbed = place.next();
        const { maxMemory } = place;
        const { tasks, keysWritten } = await flow(undisturbed, { ...SERIAL, maxMemory });
        const target = place.next();
        let kept = 0;
        let report: RunReport | undefined;
        for (let stops = 0; report === undefined; stops++) {
          const steps = stops < 3 ? stops + 1 : Number.POSITIVE_INFINITY;
          const options = { ...SERIAL, maxMemory, resume: true, verify: true };
          const run = (stop: FlowOptions) => flow(target, { ...options, ...stop });
          const { ended, events } = await endedAfter(steps, run, ["task-end", "progress"]);
          if (!(ended instanceof Error)) report = ended;
          else {
            expect(ended).toMatchObject({ code: "aborted" });
            expect(events.map(({ type }) => type)).toContain("unfinished");
            kept++;
          }
        }
        expect(kept).toBeGreaterThan(0);
        const { tasksResumed = 0, keysResumed = 0 } = report;
        expect(tasksResumed + keysResumed).toBeGreaterThan(0);
        expect(report.tasks + tasksResumed).toBe(tasks);
        expect(report.keysWritten).toBeLessThanOrEqual(keysWritten);
        expect(place.contents(target)).toEqual(place.contents(undisturbed));
        expect(place.besides(target)).toEqual([]);
      }),
  );

  it("goes on when a chunk of the source that could not be read has been put right", async () => {
    const damaged = folder.next("source.zarr");
    await copy(source, damaged);
    const chunk = join(damaged, "23.0.0");
    const bytes = fs.readFileSync(chunk);
    fs.writeFileSync(chunk, bytes.subarray(0, 20));
    const target = folder.next("out.zarr");
    const run = (stop: FlowOptions) => rechunk(damaged, target, { ...RESUMED, ...stop });
    const { ended, events } = await endedAfter(Number.POSITIVE_INFINITY, run);
    expect(ended).toMatchObject({ code: "corrupt-chunk" });
    const done = events.filter(({ type }) => type === "task-end").length;
    expect(done).toBeGreaterThan(0);
    expect(unfinishedOf(events).tasks).toBe(done);
    fs.writeFileSync(chunk, bytes);
    expect((await rechunk(damaged, target, RESUMED)).tasksResumed).toBe(done);
    expect(besides(target)).toEqual([]);
  });

  it("leaves nothing of runs that were killed before they had written their ledgers, beside the one it goes on with", async () => {
    const target = folder.next("out.zarr");
    await stoppedAfter(1, (stop) => rechunk(source, target, { ...RESUMED, ...stop }));
    const kept = join(dirname(target), besides(target)[0] ?? "");
    for (let number = 0; number < 8; number++) {
      const killed = kept.replace(/-[\da-f]{12}/, `-${number.toString(16).repeat(12)}`);
      fs.cpSync(kept, killed, { recursive: true, preserveTimestamps: true });
      fs.writeFileSync(join(killed, "ledger.jsonl"), "");
    }
    expect((await rechunk(source, target, RESUMED)).tasksResumed).toBeGreaterThan(0);
    expect(besides(target)).toEqual([]);
  });
});

describe("a run that is resumed after something happened to what it had left:", () => {
  let source = "";
  let expected = "";
  beforeAll(async () => {
    source = await sourceOf("restart.zarr", [32, 128]);
    expected = await digestOf(source);
  });

  const HOW = {
    chunks: [16, 16],
    maxMemory: "48kB",
    threads: 1,
    concurrency: 1,
    strategy: "direct",
  } as const;
  const resumed = (target: string, options: Partial<Parameters<typeof rechunk>[2]> = {}) =>
    rechunk(source, target, { ...HOW, resume: true, ...options });

  /** What a run has left that was stopped when some tasks had ended, of so many tasks. */
  async function unfinished(name = "out.zarr", options: FlowOptions = {}) {
    const target = folder.next(name);
    const events = await stoppedAfter(1, (stop) => rechunk(source, target, { ...HOW, ...options, ...stop }));
    const { tasks } = unfinishedOf(events);
    expect(tasks).toBeGreaterThan(1);
    const control = join(dirname(target), besides(target)[0] ?? "none");
    return { target, tasks, build: join(control, "build"), ledger: join(control, "ledger.jsonl") };
  }

  type Left = Awaited<ReturnType<typeof unfinished>>;

  /** Says in a ledger that its machine has been started anew since. */
  async function restartMachine({ ledger }: Left): Promise<void> {
    const text = await readFile(ledger, "utf8");
    expect(text).toMatch(/"boot":"[^"]+"/);
    await writeFile(ledger, ofEarlierStart(text));
  }

  const zero = (path: string, from = 0) => writeFile(path, fs.readFileSync(path).fill(0, from));

  describe.runIf(process.platform === "linux")("a loss of power", () => {
    it.each<[string, FlowOptions, (left: Left) => Promise<unknown>, number]>([
      [
        "writes chunks again whose contents were lost, and no others",
        {},
        async (left) => {
          await restartMachine(left);
          await zero(join(left.build, "0.0"));
        },
        1,
      ],
      [
        "does not read back what was put on the disk before it was recorded",
        { fsync: true },
        restartMachine,
        0,
      ],
      [
        "begins with the tasks of which the ledger has lines that got to the disk",
        {},
        ({ ledger }) => zero(ledger, fs.statSync(ledger).size - 10),
        1,
      ],
    ])("%s", async (_, options, lose, again) => {
      const left = await unfinished("out.zarr", options);
      await lose(left);
      expect((await resumed(left.target, options)).tasksResumed).toBe(left.tasks - again);
      expect(await digestOf(left.target)).toBe(expected);
    });

    it("continues a zip before the first entry whose contents were lost", async () => {
      const left = await unfinished("out.zarr.zip");
      await restartMachine(left);
      await zero(left.build, fs.statSync(left.build).size >> 1);
      const { tasksResumed = left.tasks } = await resumed(left.target, { verify: true });
      expect(tasksResumed).toBeLessThan(left.tasks);
      expect(await digestOf(left.target)).toBe(expected);
    });
  });

  it.each([
    ["removed", (chunk: string) => rm(chunk)],
    ["cut", (chunk: string) => writeFile(chunk, "x")],
  ])("writes a chunk again that was %s", async (_what, change) => {
    const { target, build, tasks } = await unfinished();
    await change(join(build, "0.0"));
    expect((await resumed(target)).tasksResumed).toBe(tasks - 1);
    expect(await digestOf(target)).toBe(expected);
  });

  /** 50 times some lines, as nobody but an editor of texts writes them. */
  const lines = (of: (number: number) => readonly unknown[]) =>
    Array.from({ length: 50 }, (_, number) =>
      of(number)
        .map((line) => `${JSON.stringify(line)}\n`)
        .join(""),
    ).join("");
  const chunkIn = (text: string) =>
    JSON.parse(
      text
        .split("\n")
        .find((line) => line.includes('"key":"0.0"'))
        ?.slice(0, -9) ?? "",
    );

  it.each<[string, (text: string) => string]>([
    ["tasks that did not end", (text) => text + lines((end) => [{ end, keys: 0 }])],
    [
      "chunks of other tasks",
      (text) =>
        text +
        lines((task) => [
          { ...chunkIn(text), task },
          { end: task, keys: 1 },
        ]),
    ],
    ["another end of each task", (text) => text.replaceAll(/"end":(\d+)/g, (_, end) => `"end":${50 - end}`)],
    ["other sizes", (text) => text.replaceAll(/"size":\d+/g, '"size":1')],
    ["keys that lead outside", (text) => text.replaceAll(/"key":"[^"]+"/g, '"key":"../../x"')],
  ])("believes nothing that somebody wrote into its ledger: %s", async (_what, edit) => {
    const { target, ledger } = await unfinished();
    await writeFile(ledger, edit(await readFile(ledger, "utf8")));
    await resumed(target);
    expect(await digestOf(target)).toBe(expected);
  });

  it.each([
    ["a folder", (path: string) => mkdir(path)],
    ["a link", (path: string) => symlink("/etc/hostname", path)],
    ["a pipe", async (path: string) => void execFileSync("mkfifo", [path])],
  ])("begins again where its ledger is %s", async (_what, make) => {
    const { target, ledger } = await unfinished();
    await rm(ledger);
    await make(ledger);
    expect((await resumed(target)).tasksResumed).toBeUndefined();
    expect(await digestOf(target)).toBe(expected);
    expect(besides(target)).toEqual([]);
  });

  it("is refused where a link is in the place of what it built, and nothing is removed where that leads", async () => {
    const { target, build } = await unfinished();
    const moved = folder.next("moved");
    await mkdir(dirname(moved), { recursive: true });
    await rename(build, moved);
    await symlink(moved, build);
    const names = await readdir(moved);
    const hint = expect.stringContaining("Replace the link");
    await expect(resumed(target)).rejects.toMatchObject({ code: "target-not-empty", details: { hint } });
    await rechunk(source, target, HOW);
    expect(await digestOf(target)).toBe(expected);
    expect(await readdir(moved)).toEqual(names);
    expect(besides(target)).toEqual([]);
  });

  it("is refused with another plan or other metadata, and leaves what was done to the right one", async () => {
    const { target, tasks } = await unfinished();
    await expect(resumed(target, { chunks: [8, 16] })).rejects.toMatchObject({ code: "plan-mismatch" });
    const attributes = join(source, ".zattrs");
    await writeFile(attributes, '{"changed": true}');
    const code = expect.stringMatching(/source-changed|plan-mismatch/);
    const refused = expect(resumed(target)).rejects.toMatchObject({ code });
    await refused.finally(() => rm(attributes));
    expect((await resumed(target)).tasksResumed).toBe(tasks);
  });

  it("gives the place to one of two that resume it at once", async () => {
    const { target } = await unfinished();
    const both = await Promise.allSettled([1, 2].map(() => resumed(target)));
    const failed = both.flatMap((one) => (one.status === "rejected" ? [one.reason.code] : []));
    expect(["", "locked", "target-exists"]).toContain(failed.join());
    expect(await digestOf(target)).toBe(expected);
  });

  it("is warned of by a run that does not resume it, which removes it in the end", async () => {
    const { target } = await unfinished();
    const warnings: FlowEvent[] = [];
    const onEvent = (event: FlowEvent) => event.type === "warning" && warnings.push(event);
    await rechunk(source, target, { ...HOW, onEvent });
    expect(warnings).toMatchObject([{ message: expect.stringContaining("unfinished run") }]);
    expect(besides(target)).toEqual([]);
  });
});

describe("scratch objects of a run that resumes", () => {
  const scratch = () => join(folder.path, "scratch");
  let source = "";
  /** Tasks of both stages, and those of the first: a scratch object each. */
  const tasks = { all: 0, first: 0 };
  /** What an undisturbed run gives. */
  let undisturbed = new Map<string, string>();

  beforeAll(async () => {
    source = await sourceOf("scratch.zarr", [80, 24, 24]);
    const onEvent = (event: FlowEvent) => {
      if (event.type === "plan") tasks.first = event.plan.stages[0] ?? 0;
    };
    const target = folder.next("out.zarr");
    tasks.all = (await staged(target, { resume: false, onEvent })).tasks;
    undisturbed = filesBelow(target);
    expect(tasks.first).toBeGreaterThan(4);
    expect(tasks.all).toBeGreaterThan(tasks.first + 2);
  });

  /**
   * One task after the other, so that none is in flight beside the one that stops the run; with a limit of bytes that is
   * never reached, each is reported as it ends.
   */
  const STAGED = { chunks: [80, 2, 2], strategy: "staged", maxMemory: "60kB" } as const;
  const SERIAL = { threads: 1, concurrency: 1, bytesPerSecond: "100GB" };
  const staged = (target: string, options: FlowOptions = {}) =>
    rechunk(source, target, { ...STAGED, ...SERIAL, scratch: scratch(), resume: true, ...options });

  const endedIn = (events: readonly FlowEvent[]) =>
    events.flatMap((event) => (event.type === "task-end" ? [event.task] : []));
  /** Runs until so many tasks have ended; which ones did. */
  const stopped = async (count: number, target: string, options: FlowOptions = {}) =>
    endedIn(await stoppedAfter(count, (stop) => staged(target, { ...options, ...stop })));

  /** The scratch objects in the folder for them, by number. */
  function objects(): Map<number, string> {
    const names = fs.readdirSync(scratch(), { recursive: true, encoding: "utf8" });
    const objects = names.filter((name) => /[/\\]0[/\\]\d+$/.test(name));
    return new Map(objects.map((name) => [Number(basename(name)), join(scratch(), name)]));
  }

  function expectUndisturbed(target: string): void {
    expect(filesBelow(target)).toEqual(undisturbed);
    expect(fs.readdirSync(scratch())).toEqual([]);
    expect(besides(target)).toEqual([]);
  }

  it.each([
    ["amid its first stage", () => 3],
    ["amid its last stage", () => tasks.first + 2],
  ])("are those of the run that was stopped %s: no task is run twice", async (_when, count) => {
    const target = folder.next("out.zarr");
    const before = await stopped(count(), target);
    expect(objects().size).toBe(Math.min(before.length, tasks.first));
    const timeOf = (path: string) => fs.statSync(path).mtimeMs;
    const written = new Map([...objects()].map(([number, path]) => [number, timeOf(path)]));
    let stay: number | undefined;
    const events: FlowEvent[] = [];
    const onEvent = (event: FlowEvent) => {
      events.push(event);
      if (event.type === "task-end")
        stay ??= [...objects()].filter(([object, path]) => timeOf(path) === written.get(object)).length;
    };
    expect((await staged(target, { onEvent })).tasksResumed).toBe(before.length);
    expect(stay).toBe(written.size);
    const ended = [...before, ...endedIn(events)].sort((a, b) => a - b);
    expect(ended).toEqual(Array.from({ length: tasks.all }, (_, task) => task));
    expectUndisturbed(target);
  });

  it("in S3 are each written once in both runs", () =>
    withBucket(async (server, bucket) => {
      const target = folder.next("out.zarr");
      const options = { scratch: `s3://${bucket}/scratch` };
      const before = await stopped(3, target, options);
      const { tasksResumed, tasks: run } = await staged(target, options);
      expect([tasksResumed, run]).toEqual([before.length, tasks.all - before.length]);
      const put = server.requests.filter(({ method, key }) => method === "PUT" && /\/0\/\d+$/.test(key));
      expect(put.length).toBe(tasks.first);
      expect(new Set(put.map(({ key }) => key)).size).toBe(tasks.first);
      expect([...server.objects.keys()]).toEqual([]);
      expectUndisturbed(target);
    }));

  it.each([
    ["one is gone: no others are", () => fs.rmSync([...objects().values()][0] ?? ""), () => 1],
    [
      "their folder is gone: nothing in the target is",
      () => fs.rmSync(scratch(), { recursive: true }),
      () => tasks.first,
    ],
  ])("are written again where %s", async (_, lose, again) => {
    const target = folder.next("out.zarr");
    const before = await stopped(tasks.first + 2, target);
    lose();
    const { tasksResumed, tasks: run } = await staged(target);
    expect(tasksResumed).toBe(before.length - again());
    expect(run).toBe(tasks.all - before.length + again());
    expectUndisturbed(target);
  });

  it("that are gone amid a run leave what it has done to one that resumes it", async () => {
    const target = folder.next("out.zarr");
    let ended = 0;
    const onEvent = ({ type }: FlowEvent) => {
      if (type === "task-end" && ++ended === tasks.first + 1)
        for (const path of objects().values()) fs.rmSync(path);
    };
    const run = staged(target, { stop: new AbortController().signal, onEvent });
    const hint = expect.stringContaining("--resume");
    await expect(run).rejects.toMatchObject({ code: "corrupt-store", details: { hint } });
    expect((await staged(target)).tasksResumed).toBe(ended - tasks.first);
    expectUndisturbed(target);
  });

  it("that were cut are an error, whose work stays", async () => {
    const target = folder.next("out.zarr");
    await stopped(tasks.first + 2, target);
    for (const path of objects().values()) fs.truncateSync(path, 20);
    const run = staged(target, { stop: new AbortController().signal });
    await expect(run).rejects.toMatchObject({ code: "corrupt-store" });
    expect(fs.existsSync(target)).toBe(false);
    for (const path of objects().values()) fs.rmSync(path);
    await staged(target);
    expectUndisturbed(target);
  });
});
