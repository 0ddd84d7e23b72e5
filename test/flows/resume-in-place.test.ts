// @module-tag slow
import { afterEach, beforeAll, beforeEach, describe, expect, it, onTestFinished, vi } from "vitest";
import { copy, rechunk } from "../../src/flows/copy.ts";
import type { FlowEvent, RunReport } from "../../src/flows/events.ts";
import { setAttributes } from "../../src/hierarchy/edit/attributes.ts";
import { open } from "../../src/index.ts";
import { leftoversAt } from "../../src/stores/target/leftovers.ts";
import { checkedLine } from "../../src/stores/target/whole-lines.ts";
import * as pauses from "../../src/util/pause.ts";
import { BUCKET, type S3Server } from "../stores/s3-server.ts";
import { temporaryFolder } from "../stores/temporary-folder.ts";
import { digestOf } from "../support/consume.ts";
import { editLedger } from "../support/edit-ledger.ts";
import { given } from "../support/given.ts";
import { withoutPauses } from "../support/no-pauses.ts";
import { serveReachableBucket } from "../support/s3-environment.ts";
import { until } from "../support/until.ts";

withoutPauses();

const folder = temporaryFolder();
const TARGET = `s3://${BUCKET}/out.zarr`;
const LEDGER = "out.zarr/.zarrflow-ledger-0";
const HOW = {
  chunks: [10, 3, 3],
  strategy: "direct",
  maxMemory: "8.5MB",
  threads: 1,
  concurrency: 1,
} as const;

type Options = Partial<Parameters<typeof rechunk>[2]>;

let source = "";
let bucket: S3Server;

beforeAll(async () => {
  source = folder.next("source.zarr");
  await write(source, 7);
});
beforeEach(async () => {
  bucket = await serveReachableBucket();
});
afterEach(() => bucket.close());

/** An array in which no chunk is like another. */
async function write(path: string, factor: number): Promise<void> {
  await given({
    at: path,
    shape: [10, 6, 6],
    chunks: [1, 6, 6],
    dataType: "int32",
    codec: "none",
    zarrFormat: "v2",
    values: (i) => i * factor,
  });
}

/** A rechunk that is stopped after its first tasks. */
async function stopped(options: Options = {}): Promise<void> {
  const stop = new AbortController();
  const onEvent = ({ type }: FlowEvent) => type === "task-end" && stop.abort();
  const run = rechunk(source, TARGET, { ...HOW, ...options, stop: stop.signal, onEvent });
  await expect(run).rejects.toMatchObject({ code: "aborted" });
  expect(keys()).toContain(LEDGER);
}

const resumed = (options: Options = {}): Promise<RunReport> =>
  rechunk(source, TARGET, { ...HOW, ...options, resume: true });

const keys = () => [...bucket.objects.keys()];
const chunks = () => keys().filter((key) => /^out\.zarr\/\d/.test(key));

async function expectWhole(): Promise<void> {
  expect(await digestOf(TARGET)).toBe(await digestOf(source));
  expect(keys().filter((key) => key.includes(".zarrflow-"))).toEqual([]);
}

/** Removes what runs left at the target; what that was. */
async function clean(): Promise<unknown[]> {
  const place = { store: { kind: "s3", bucket: BUCKET, prefix: "out.zarr" }, path: "" } as const;
  const found: unknown[] = [];
  for await (const { kind, isDead, remove } of leftoversAt(place)) {
    found.push({ kind, isDead });
    await remove();
  }
  return found;
}

describe("an unfinished run in S3", () => {
  it("is seen by no reader, and listed as no value", async () => {
    await stopped();
    await expect(open(TARGET)).rejects.toMatchObject({ code: "not-found" });
    const copied = folder.next("bucket.zarr");
    await write(`s3://${BUCKET}/other.zarr`, 1);
    bucket.objects.set("other.zarr/.zarrflow-ledger-0", Buffer.from("{}"));
    const { keysWritten } = await copy(`s3://${BUCKET}/other.zarr`, copied);
    expect(keysWritten).toBe(11);
  });

  it("is named where a node is looked for", async () => {
    await stopped();
    await expect(open(TARGET)).rejects.toMatchObject({
      code: "not-found",
      message: expect.stringContaining("a run that has not ended"),
      details: { hint: expect.stringMatching(/--resume.*zarrflow clean/) },
    });
  });

  it("stands in the way of another, which names the ways out", async () => {
    await stopped();
    const before = new Map(bucket.objects);
    await expect(rechunk(source, TARGET, HOW)).rejects.toMatchObject({
      code: "target-not-empty",
      details: { hint: expect.stringContaining("--resume") },
    });
    expect(new Map(bucket.objects)).toEqual(before);
  });

  it("goes on where its attributes are written, and no array", async () => {
    const usual = source;
    onTestFinished(() => {
      source = usual;
    });
    source = folder.next("attributes.zarr");
    await write(source, 7);
    await setAttributes(source, { units: "K" });
    bucket.fault = (response, { method, key }) => {
      const isArray = method === "PUT" && key === "out.zarr/.zarray";
      if (isArray) response.writeHead(403).end();
      return isArray;
    };
    const cut = rechunk(source, TARGET, { ...HOW, stop: new AbortController().signal });
    await expect(cut).rejects.toMatchObject({ code: "access-denied" });
    expect(keys()).toContain("out.zarr/.zattrs");
    bucket.fault = undefined;
    await expect(open(TARGET)).rejects.toMatchObject({ code: "not-found" });
    const { tasks } = await resumed();
    expect(tasks).toBe(0);
    await expectWhole();
    expect((await open(TARGET)).attributes).toEqual({ units: "K" });
  });

  it("is replaced where that is asked for, with a warning", async () => {
    await stopped();
    const warnings: FlowEvent[] = [];
    const onEvent = (event: FlowEvent) => event.type === "warning" && warnings.push(event);
    const report = await rechunk(source, TARGET, { ...HOW, ifExists: "replace", onEvent });
    expect(report.tasksResumed).toBeUndefined();
    expect(warnings).toMatchObject([{ message: expect.stringContaining("unfinished run") }]);
    await expectWhole();
  });

  it.each([
    ["while it takes the lock", (key: string) => key.endsWith(".zarrflow-lock") && "PUT"],
    ["while it looks for the ledger", (key: string) => key === LEDGER && "GET"],
  ])("is still one after another run that failed %s", async (_when, failing) => {
    await stopped();
    let isFailing = true;
    bucket.fault = (response, { method, key }) => {
      if (!isFailing || failing(key) !== method) return false;
      response.writeHead(403).end("<Error><Code>AccessDenied</Code></Error>");
      return true;
    };
    await expect(resumed()).rejects.toMatchObject({ code: "access-denied" });
    isFailing = false;
    expect(await clean()).toMatchObject([{ isDead: true }]);
    bucket.fault = undefined;
  });

  it.each(["with its lock", "without its lock"])(
    "is replaced %s by a run like any other after one that failed",
    async (how) => {
      await stopped();
      if (how === "without its lock") bucket.objects.delete("out.zarr/.zarrflow-lock");
      const abort = new AbortController();
      bucket.fault = (_response, { method, key }) => {
        if (method === "GET" && key === LEDGER) abort.abort();
        return false;
      };
      await expect(resumed({ signal: abort.signal })).rejects.toMatchObject({ code: "aborted" });
      bucket.fault = undefined;
      await rechunk(source, TARGET, { ...HOW, ifExists: "replace" });
      await expectWhole();
    },
  );

  it("goes on in a replacement, too", async () => {
    await write(TARGET, 3);
    await stopped({ ifExists: "replace" });
    const report = await resumed({ ifExists: "replace" });
    expect(report.tasksResumed).toBeGreaterThan(0);
    await expectWhole();
  });

  it("of another plan is refused, and stays as it is", async () => {
    await stopped();
    const values = new Map([...bucket.objects].filter(([key]) => !key.endsWith("lock")));
    for (const options of [{ chunks: [10, 2, 2] }, { codec: "zstd:3" as const }]) {
      await expect(resumed(options)).rejects.toMatchObject({ code: "plan-mismatch" });
    }
    expect(new Map([...bucket.objects].filter(([key]) => !key.endsWith("lock")))).toEqual(values);
    expect((await resumed()).tasksResumed).toBeGreaterThan(0);
    await expectWhole();
  });

  it.each<Options>([
    { bytesPerSecond: "50MB" },
    { requestsPerSecond: 5000 },
    { concurrency: 3 },
    { threads: 1 },
    { maxMemory: "1GB" },
    { storeProfile: "90ms" },
  ])("goes on at another pace: %j", async (pace) => {
    await stopped();
    expect((await resumed(pace)).tasksResumed).toBeGreaterThan(0);
    await expectWhole();
  });

  it("goes on without the limit that it began with", async () => {
    await stopped({ bytesPerSecond: "50MB", threads: 2, maxMemory: "300MB" });
    expect((await resumed()).tasksResumed).toBeGreaterThan(0);
    await expectWhole();
  });

  it("of another plan names the option that differs, and both its values", async () => {
    await stopped();
    await expect(resumed({ codec: "zstd:3" })).rejects.toMatchObject({
      code: "plan-mismatch",
      message: expect.stringContaining("--codec differs"),
      details: { setting: "--codec", expected: "none", found: "zstd:3" },
    });
    await expect(resumed({ chunks: [10, 2, 2] })).rejects.toMatchObject({
      code: "plan-mismatch",
      details: { setting: "--chunks", expected: JSON.stringify(HOW.chunks), found: "[10,2,2]" },
    });
    await expect(resumed({ writeEmpty: true })).rejects.toMatchObject({
      details: { setting: "--write-empty", expected: "none", found: "given" },
    });
  });

  it("is resumed by one of two at once", async () => {
    await stopped();
    // who has taken the lock looks whose it is when the other has taken it from there, or was refused
    const refused: unknown[] = [];
    const settling = vi.mocked(pauses.pause).mockImplementation(async () => {
      await until(() => settling.mock.calls.length === 2 || refused.length > 0);
    });
    await Promise.all([1, 2].map(() => resumed().catch((error) => refused.push(error))));
    expect(refused).toMatchObject([{ code: "locked" }]);
    await expectWhole();
  });

  it("does again what is gone, or has another size", async () => {
    await stopped();
    const [first = "", second = ""] = chunks();
    bucket.objects.delete(first);
    bucket.objects.set(second, Buffer.from("cut"));
    await resumed();
    await expectWhole();
  });

  it("is verified whole: what was changed between the runs is found", async () => {
    await stopped();
    const [first = ""] = chunks();
    const value = Buffer.from(bucket.objects.get(first) ?? "");
    value[0] = (value[0] ?? 0) ^ 1;
    bucket.objects.set(first, value);
    await expect(resumed({ verify: true })).rejects.toMatchObject({ code: "differs" });
    expect(keys()).toEqual([]);
  });

  it("that was killed after its target was whole is cleaned of its ledger, without a lock too", async () => {
    await stopped();
    const ledger = bucket.objects.get(LEDGER) ?? Buffer.alloc(0);
    await resumed();
    bucket.objects.set(LEDGER, ledger);
    expect(await clean()).toEqual([{ kind: "lock", isDead: true }]);
    await expectWhole();
  });

  it("is found by clean, and removed with its ledger", async () => {
    await stopped();
    expect(await clean()).toEqual([{ kind: "half-target", isDead: true }]);
    expect(keys()).toEqual([]);
  });
});

describe("a ledger in S3 that somebody changed", () => {
  const lines = () => String(bucket.objects.get(LEDGER)).split("\n");
  const rewrite = (text: string) => bucket.objects.set(LEDGER, Buffer.from(text));

  it.each([
    [
      "cut in half",
      () =>
        rewrite(
          lines()
            .join("\n")
            .slice(0, lines().join("\n").length >> 1),
        ),
    ],
    [
      "with sizes that lie",
      () => rewrite(editLedger(lines().join("\n"), (line) => line.replace(/"size":\d+/, '"size":1'))),
    ],
    [
      "with tasks that somebody wrote into it",
      () =>
        rewrite(
          `${lines().join("\n")}${Array.from({ length: 99 }, (_, end) => `{"end":${end},"keys":0}\n`).join("")}`,
        ),
    ],
    ["with keys outside", () => rewrite(lines().join("\n").replaceAll('"key":"', '"key":"../../'))],
    ["of another run, that goes on after it", () => bucket.objects.set(nextOf(LEDGER), foreign())],
  ])("%s gives the right result", async (name, change) => {
    await stopped();
    change();
    await resumed({ verify: true });
    if (!name.startsWith("of another")) return expectWhole();
    bucket.objects.delete(nextOf(LEDGER));
    await expectWhole();
  });

  it.each([
    "",
    "no ledger",
    `${checkedLine('{"journal":"0123456789ab"}')}${checkedLine('{"format":"zarrflow-ledger/3"}')}`,
  ])("into %j is no ledger of this version: the run is refused, and changes nothing", async (text) => {
    await stopped();
    rewrite(text);
    await expect(resumed()).rejects.toMatchObject({
      code: expect.stringMatching(/^(target-exists|plan-mismatch)$/),
    });
    expect(chunks()).not.toEqual([]);
    await rechunk(source, TARGET, { ...HOW, ifExists: "replace" });
    expect(await digestOf(TARGET)).toBe(await digestOf(source));
  });

  const nextOf = (key: string) => key.replace(/0$/, "1");
  const foreign = () => Buffer.from('{"journal":"aaaaaaaaaaaa"}\n{"end":0,"keys":0}\n{"end":1,"keys":0}\n');
});
