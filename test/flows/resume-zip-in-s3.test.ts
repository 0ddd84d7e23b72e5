// @module-tag slow
import { afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { copy, rechunk } from "../../src/flows/copy.ts";
import { diff } from "../../src/flows/diff.ts";
import type { FlowEvent, RunReport } from "../../src/flows/events.ts";
import { clean, open } from "../../src/index.ts";
import { MemoryStore } from "../../src/stores/memory.ts";
import { openZipValue } from "../../src/stores/zip.ts";
import { BUCKET, type S3Server } from "../stores/s3-server.ts";
import { temporaryFolder } from "../stores/temporary-folder.ts";
import { all } from "../support/consume.ts";
import { given } from "../support/given.ts";
import { withoutPauses } from "../support/no-pauses.ts";
import { serveReachableBucket } from "../support/s3-environment.ts";
import { withParts } from "../support/small-parts.ts";

const folder = temporaryFolder();
const TARGET = `s3://${BUCKET}/deep/out.zarr.zip`;
const KEY = "deep/out.zarr.zip";
const LEDGER = "deep/.out.zarr.zip.zarrflow-ledger-0";
const LOCK = "deep/.out.zarr.zip.zarrflow-lock";
/** In place of 8 MiB. */
const PART = 256 * 1024;
/** 1 MiB, in tasks of 128 KiB: two fill a part. */
const SHAPE = [32, 64, 128] as const;
const HOW = { chunks: [2, 64, 128], codec: "none", maxMemory: "550kB", threads: 1, concurrency: 1 } as const;

type Options = Partial<Parameters<typeof rechunk>[2]>;

let source = "";
let bucket: S3Server;

beforeAll(async () => {
  const items = SHAPE[1] * SHAPE[2];
  const values = (i: number) => (i % items) * 7 + Math.floor(i / items) * items;
  const rows = { shape: SHAPE, chunks: [1, SHAPE[1], SHAPE[2]], dataType: "int32", codec: "none" };
  source = await given({ at: folder.next("source.zarr"), ...rows, values });
});
withoutPauses();
withParts(PART);
beforeEach(async () => {
  bucket = await serveReachableBucket({ leastPart: PART });
});
afterEach(() => bucket.close());

/** A rechunk that is stopped after so many of its tasks. */
async function stopped(tasks = 5, options: Options = {}): Promise<void> {
  const stop = new AbortController();
  let ended = 0;
  const onEvent = ({ type }: FlowEvent) => {
    if (type === "task-end" && ++ended === tasks) stop.abort();
  };
  const run = rechunk(source, TARGET, { ...HOW, ...options, stop: stop.signal, onEvent });
  await expect(run).rejects.toMatchObject({ code: "aborted" });
}

const resumed = (options: Options = {}): Promise<RunReport> =>
  rechunk(source, TARGET, { ...HOW, ...options, resume: true });

const keys = () => [...bucket.objects.keys()];
const partsSent = () =>
  bucket.requests.filter(({ method, query }) => method === "PUT" && query.has("partNumber")).length;

/** The target holds what the source does, and nothing else of runs is there. */
async function expectWhole(): Promise<void> {
  expect(keys()).toEqual([KEY]);
  expect(bucket.uploads.size).toBe(0);
  for await (const difference of diff(source, TARGET)) expect(difference.counts).toBe(false);
  const store = new MemoryStore();
  await store.set("out.zip", new Uint8Array(bucket.objects.get(KEY) ?? []));
  const zip = await openZipValue(store, "out.zip");
  expect(zip.findings).toEqual([]);
  await zip.close();
}

describe("an unfinished zip in S3", () => {
  it("is gone on with after the last part that holds a whole entry", async () => {
    await stopped();
    expect(keys()).toEqual(expect.arrayContaining([LEDGER, LOCK]));
    expect(bucket.uploads.size).toBe(1);
    const sent = partsSent();
    expect(sent).toBeGreaterThan(1);
    const report = await resumed({ verify: "values" });
    expect(report.tasksResumed).toBe(2 * sent - 1);
    expect(report.tasks + 2 * sent - 1).toBe(8);
    expect(partsSent()).toBe(5);
    await expectWhole();
  });

  it("is gone on with again and again", async () => {
    await stopped(1);
    for (const tasks of [1, 1]) await stopped(tasks, { resume: true });
    const report = await resumed();
    expect(report.tasksResumed).toBeGreaterThan(3);
    await expectWhole();
  });

  it("is seen by no reader and in no listing", async () => {
    await stopped();
    await expect(open(TARGET)).rejects.toMatchObject({ code: "not-found" });
    const copied = folder.next("copied.zarr");
    await copy(source, `s3://${BUCKET}/deep/other.zarr`);
    const { keysWritten } = await copy(`s3://${BUCKET}/deep`, copied);
    expect(keysWritten).toBe(SHAPE[0] + 1);
  });

  it("stands in the way of another run, which names the ways out", async () => {
    await stopped();
    const before = new Map(bucket.objects);
    await expect(rechunk(source, TARGET, HOW)).rejects.toMatchObject({
      code: "target-not-empty",
      details: { hint: expect.stringContaining("--resume") },
    });
    expect(new Map(bucket.objects)).toEqual(before);
    expect((await resumed()).tasksResumed).toBeGreaterThan(0);
    await expectWhole();
  });

  it("is replaced where that is asked for, with a warning, and its parts are removed", async () => {
    await stopped();
    const warnings: FlowEvent[] = [];
    const onEvent = (event: FlowEvent) => event.type === "warning" && warnings.push(event);
    const report = await rechunk(source, TARGET, { ...HOW, ifExists: "replace", onEvent });
    expect(report.tasksResumed).toBeUndefined();
    expect(warnings).toMatchObject([{ message: expect.stringContaining("unfinished run") }]);
    await expectWhole();
  });

  it("is removed with its parts by clean", async () => {
    await stopped();
    const found = await all(clean(TARGET));
    expect(found).toMatchObject([{ kind: "half-target", isRemoved: true }]);
    expect(keys()).toEqual([]);
    expect(bucket.uploads.size).toBe(0);
  });

  it("is begun again where its upload is gone", async () => {
    await stopped();
    bucket.uploads.clear();
    expect((await resumed()).tasksResumed).toBe(0);
    await expectWhole();
  });

  it("is gone on with before a part that somebody has changed", async () => {
    await stopped();
    const [upload] = bucket.uploads.values();
    upload?.set(2, Buffer.alloc(PART));
    expect((await resumed()).tasksResumed).toBe(1);
    await expectWhole();
  });

  it("is not gone on with in parts of an earlier run that another one has left behind", async () => {
    await stopped();
    const [upload] = bucket.uploads.values();
    const second = upload?.get(2) ?? Buffer.alloc(0);
    upload?.set(2, Buffer.alloc(PART));
    await stopped(1, { resume: true });
    upload?.set(2, second);
    expect((await resumed()).tasksResumed).toBe(1);
    await expectWhole();
  });

  it.each([
    ["an entry that is longer", (line: string) => line.replace(/"size":\d+/, '"size":9999999')],
    ["an entry that lies elsewhere", (line: string) => line.replace(/"offset":\d+/, '"offset":17')],
    ["an entry of another name", (line: string) => line.replace(/"entry":"[^"]+"/, '"entry":"../../x"')],
    ["a line that was cut", (line: string) => line.slice(0, 20)],
  ])("gives what it should when its ledger is edited: %s", async (_what, edited) => {
    await stopped();
    const ledger = bucket.objects.get(LEDGER)?.toString() ?? "";
    const lines = ledger.split("\n");
    const third = lines.findIndex((line, i) => i > 5 && line.includes('"entry"'));
    lines[third] = edited(lines[third] ?? "");
    bucket.objects.set(LEDGER, Buffer.from(lines.join("\n")));
    await resumed();
    await expectWhole();
  });

  it("is refused to another run while one writes it", async () => {
    let other: Promise<unknown> | undefined;
    const onEvent = ({ type }: FlowEvent) => {
      if (type === "task-end") other ??= rechunk(source, TARGET, HOW).catch((error: unknown) => error);
    };
    await rechunk(source, TARGET, { ...HOW, onEvent });
    expect(await other).toMatchObject({ code: "locked" });
    await expectWhole();
  });

  it("is removed when it is whole, and cannot be read back", async () => {
    let isBroken = false;
    bucket.fault = (response, { method, key }) => {
      isBroken ||= bucket.objects.has(KEY);
      if (!isBroken || method === "DELETE" || key !== KEY) return false;
      response.writeHead(403).end("<Error><Code>AccessDenied</Code></Error>");
      return true;
    };
    const stop = new AbortController().signal;
    const run = rechunk(source, TARGET, { ...HOW, verify: true, stop });
    await expect(run).rejects.toMatchObject({ code: "access-denied" });
    bucket.fault = undefined;
    expect(keys()).toEqual([]);
    await rechunk(source, TARGET, { ...HOW, resume: true });
    await expectWhole();
  });

  it("leaves nothing where its run fails, and was not to be resumed", async () => {
    bucket.fault = (response, { query }) => {
      if (query.get("partNumber") !== "3") return false;
      response.writeHead(403).end("<Error><Code>AccessDenied</Code></Error>");
      return true;
    };
    await expect(rechunk(source, TARGET, HOW)).rejects.toMatchObject({ code: "access-denied" });
    expect(keys()).toEqual([]);
    expect(bucket.uploads.size).toBe(0);
  });
});
