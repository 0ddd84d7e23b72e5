// @module-tag slow
import { afterEach, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { copy, rechunk } from "../../src/flows/copy.ts";
import { diff } from "../../src/flows/diff.ts";
import { setAttributes } from "../../src/hierarchy/edit/metadata.ts";
import { clean, open } from "../../src/index.ts";
import type { FlowEvent } from "../../src/run/events.ts";
import { MemoryStore } from "../../src/stores/memory.ts";
import { openZipValue } from "../../src/stores/zip.ts";
import { checkedLine } from "../../src/targets/journal.ts";
import * as pauses from "../../src/util/pause.ts";
import { BUCKET, type S3Fault, type S3Server } from "../stores/s3-server.ts";
import { temporaryFolder } from "../stores/temporary-folder.ts";
import { all, digestOf } from "../support/consume.ts";
import { editLedger } from "../support/edit-ledger.ts";
import { given } from "../support/given.ts";
import { withoutPauses } from "../support/no-pauses.ts";
import { serveReachableBucket } from "../support/s3-environment.ts";
import { withParts } from "../support/small-parts.ts";
import { stoppedAfter } from "../support/stopped-run.ts";
import { until } from "../support/until.ts";

/** In place of 8 MiB. */
const PART = 256 * 1024;
withoutPauses();
withParts(PART);

const folder = temporaryFolder();
const SERIAL = { threads: 1, concurrency: 1 } as const;

type Options = Partial<Parameters<typeof rechunk>[2]>;

let bucket: S3Server;
beforeEach(async () => {
  bucket = await serveReachableBucket({ leastPart: PART });
});
afterEach(() => bucket.close());

interface Subject {
  readonly target: string;
  readonly ledger: string;
  readonly how: Parameters<typeof rechunk>[2];
  readonly array: { readonly shape: readonly number[]; readonly chunks: readonly number[] };
  /** How many tasks end before it is stopped. */
  readonly tasks: number;
}

/** A source, and a target that a run takes several tasks to write. */
function subject(of: Subject) {
  const { target, ledger, how, array } = of;
  const self = {
    ...of,
    source: "",
    /** Writes an array in which no chunk is like another. */
    write: (at: string, factor = 7) => {
      const values = (i: number) => i * factor;
      return given({ at, ...array, dataType: "int32", codec: "none", zarrFormat: "v2", values });
    },
    run: (options: Options = {}) => rechunk(self.source, target, { ...how, ...options }),
    resumed: (options: Options = {}) => self.run({ ...options, resume: true }),
    stopped: async (options: Options = {}, tasks = of.tasks) => {
      await stoppedAfter(tasks, (stop) => self.run({ ...options, ...stop }));
      expect(keys()).toContain(ledger);
    },
    /** The target holds what the source does, and nothing else of runs is there. */
    expectWhole: async () => {
      expect(await digestOf(target)).toBe(await digestOf(self.source));
      expect(keys().filter((key) => key.includes(".zarrflow-"))).toEqual([]);
      expect(bucket.uploads.size).toBe(0);
    },
    expectGoesOn: async (options: Options = {}) => {
      expect((await self.resumed(options)).tasksResumed).toBeGreaterThan(0);
      await self.expectWhole();
    },
  };
  return self;
}

const keys = () => [...bucket.objects.keys()];
const refuse = (isMeant: (...of: Parameters<S3Fault>) => boolean): S3Fault => {
  return (response, request) => {
    const isRefused = isMeant(response, request);
    if (isRefused) response.writeHead(403).end("<Error><Code>AccessDenied</Code></Error>");
    return isRefused;
  };
};

const TARGET = `s3://${BUCKET}/out.zarr`;
const LEDGER = "out.zarr/.zarrflow-ledger-0";
const IN_PLACE: Subject = {
  target: TARGET,
  ledger: LEDGER,
  how: { chunks: [10, 3, 3], strategy: "direct", maxMemory: PART + 111_000, ...SERIAL },
  array: { shape: [10, 6, 6], chunks: [1, 6, 6] },
  tasks: 1,
};
const inPlace = subject(IN_PLACE);

const KEY = "deep/out.zarr.zip";
/** 1 MiB, in tasks of 128 KiB: two fill a part. */
const zip = subject({
  target: `s3://${BUCKET}/${KEY}`,
  ledger: "deep/.out.zarr.zip.zarrflow-ledger-0",
  how: { chunks: [2, 64, 128], codec: "none", maxMemory: "550kB", ...SERIAL },
  array: { shape: [32, 64, 128], chunks: [1, 64, 128] },
  tasks: 5,
});

beforeAll(async () => {
  for (const run of [inPlace, zip]) run.source = await run.write(folder.next("source.zarr"));
});

describe.each([
  ["directory", inPlace],
  ["zip", zip],
])("an unfinished %s in S3", (_kind, run) => {
  it("is seen by no reader, and listed as no value", async () => {
    await run.stopped();
    await expect(open(run.target)).rejects.toMatchObject({ code: "not-found" });
    const root = `s3://${BUCKET}/${run === zip ? "deep" : "other"}`;
    await run.write(`${root}/other.zarr`);
    bucket.objects.set(`${root.slice(5 + BUCKET.length + 1)}/.zarrflow-ledger-0`, Buffer.from("{}"));
    const { keysWritten } = await copy(root, folder.next("bucket.zarr"));
    expect(keysWritten).toBe((run.array.shape[0] ?? 0) + 1);
  });

  it("stands in the way of another, which names the ways out", async () => {
    await run.stopped();
    const before = new Map(bucket.objects);
    const hint = expect.stringContaining("--resume");
    await expect(run.run()).rejects.toMatchObject({ code: "target-not-empty", details: { hint } });
    expect(new Map(bucket.objects)).toEqual(before);
    await run.expectGoesOn();
  });

  it("is replaced where that is asked for, with a warning", async () => {
    await run.stopped();
    const warnings: FlowEvent[] = [];
    const onEvent = (event: FlowEvent) => event.type === "warning" && warnings.push(event);
    const report = await run.run({ ifExists: "replace", onEvent });
    expect(report.tasksResumed).toBeUndefined();
    expect(warnings).toMatchObject([{ message: expect.stringContaining("unfinished run") }]);
    await run.expectWhole();
  });

  it("is found by clean, and removed with its ledger and its parts", async () => {
    await run.stopped();
    expect(await all(clean(run.target))).toMatchObject([{ kind: "half-target", isRemoved: true }]);
    expect(keys()).toEqual([]);
    expect(bucket.uploads.size).toBe(0);
  });
});

describe("an unfinished run in S3", () => {
  const chunks = () => keys().filter((key) => /^out\.zarr\/\d/.test(key));

  it("is named where a node is looked for", async () => {
    await inPlace.stopped();
    await expect(open(TARGET)).rejects.toMatchObject({
      message: expect.stringContaining("a run there has not finished"),
      details: { hint: expect.stringMatching(/--resume.*zarrflow clean/) },
    });
  });

  it("goes on where its attributes are written, and no array", async () => {
    const run = subject(IN_PLACE);
    run.source = await run.write(folder.next("attributes.zarr"));
    await setAttributes(run.source, { units: "K" });
    bucket.fault = refuse((_, { method, key }) => method === "PUT" && key === "out.zarr/.zarray");
    const cut = run.run({ stop: new AbortController().signal });
    await expect(cut).rejects.toMatchObject({ code: "access-denied" });
    expect(keys()).toContain("out.zarr/.zattrs");
    bucket.fault = undefined;
    await expect(open(TARGET)).rejects.toMatchObject({ code: "not-found" });
    expect((await run.resumed()).tasks).toBe(0);
    await run.expectWhole();
    expect((await open(TARGET)).attributes).toEqual({ units: "K" });
  });

  const FAILING = [
    ["while it takes the lock", (key: string) => key.endsWith(".zarrflow-lock") && "PUT"],
    ["while it looks for the ledger", (key: string) => key === LEDGER && "GET"],
  ] as const;
  it.each(FAILING)("is still one after another run that failed %s", async (_when, failing) => {
    await inPlace.stopped();
    bucket.fault = refuse((_, { method, key }) => failing(key) === method);
    await expect(inPlace.resumed()).rejects.toMatchObject({ code: "access-denied" });
    bucket.fault = undefined;
    await inPlace.expectGoesOn();
  });

  it.each(["with its lock", "without its lock"])(
    "is replaced %s by a run like any other after one that failed",
    async (how) => {
      await inPlace.stopped();
      if (how === "without its lock") bucket.objects.delete("out.zarr/.zarrflow-lock");
      const abort = new AbortController();
      bucket.fault = (_response, { method, key }) => {
        if (method === "GET" && key === LEDGER) abort.abort();
        return false;
      };
      await expect(inPlace.resumed({ signal: abort.signal })).rejects.toMatchObject({ code: "aborted" });
      bucket.fault = undefined;
      await inPlace.run({ ifExists: "replace" });
      await inPlace.expectWhole();
    },
  );

  it("goes on in a replacement, too", async () => {
    await inPlace.write(TARGET, 3);
    await inPlace.stopped({ ifExists: "replace" });
    await inPlace.expectGoesOn({ ifExists: "replace" });
  });

  it("of another plan is refused, names the option that differs and both its values, and stays as it is", async () => {
    await inPlace.stopped();
    const values = () => new Map([...bucket.objects].filter(([key]) => !key.endsWith("lock")));
    const before = values();
    for (const [options, setting, expected, found] of [
      [{ codec: "zstd:3" }, "--codec", "none", "zstd:3"],
      [{ chunks: [10, 2, 2] }, "--chunks", "[10,3,3]", "[10,2,2]"],
      [{ writeEmptyChunks: true }, "--write-empty-chunks", "none", "given"],
    ] as const)
      await expect(inPlace.resumed(options)).rejects.toMatchObject({
        code: "plan-mismatch",
        message: expect.stringContaining(`${setting} differs`),
        details: { setting, expected, found },
      });
    expect(values()).toEqual(before);
    await inPlace.expectGoesOn();
  });

  it.each<[Options, Options]>([
    [{}, { bytesPerSecond: "50MB" }],
    [{}, { requestsPerSecond: 5000 }],
    [{}, { concurrency: 3 }],
    [{}, { threads: 1 }],
    [{}, { maxMemory: "1GB" }],
    [{}, { storeProfile: "90ms" }],
    [{ bytesPerSecond: "50MB", threads: 2, maxMemory: "300MB" }, {}],
  ])("begun with %j goes on with %j", async (begun, pace) => {
    await inPlace.stopped(begun);
    await inPlace.expectGoesOn(pace);
  });

  it("is resumed by one of two at once", async () => {
    await inPlace.stopped();
    // who has taken the lock looks whose it is when the other has taken it from there, or was refused
    const refused: unknown[] = [];
    const settling = vi.mocked(pauses.pause).mockImplementation(async () => {
      await until(() => settling.mock.calls.length === 2 || refused.length > 0);
    });
    await Promise.all([1, 2].map(() => inPlace.resumed().catch((error) => refused.push(error))));
    expect(refused).toMatchObject([{ code: "locked" }]);
    await inPlace.expectWhole();
  });

  it("does again what is gone, or has another size", async () => {
    await inPlace.stopped();
    const [first = "", second = ""] = chunks();
    bucket.objects.delete(first);
    bucket.objects.set(second, Buffer.from("cut"));
    await inPlace.resumed();
    await inPlace.expectWhole();
  });

  it("is verified whole: what was changed between the runs is found", async () => {
    await inPlace.stopped();
    const [first = ""] = chunks();
    const value = Buffer.from(bucket.objects.get(first) ?? "");
    value[0] = (value[0] ?? 0) ^ 1;
    bucket.objects.set(first, value);
    await expect(inPlace.resumed({ verify: true })).rejects.toMatchObject({ code: "differs" });
    expect(keys()).toEqual([]);
  });

  it("that was killed after its target was whole is cleaned of its ledger, without a lock too", async () => {
    await inPlace.stopped();
    const ledger = bucket.objects.get(LEDGER) ?? Buffer.alloc(0);
    await inPlace.resumed();
    bucket.objects.set(LEDGER, ledger);
    expect(await all(clean(TARGET))).toMatchObject([{ kind: "lock", isRemoved: true }]);
    await inPlace.expectWhole();
  });

  const ledger = () => String(bucket.objects.get(LEDGER));
  const rewrite = (text: string) => bucket.objects.set(LEDGER, Buffer.from(text));
  const tasks = Array.from({ length: 99 }, (_, end) => `{"end":${end},"keys":0}\n`);
  const NEXT = LEDGER.replace(/0$/, "1");
  const FOREIGN = `{"journal":"aaaaaaaaaaaa"}\n${tasks[0]}${tasks[1]}`;

  it.each([
    ["cut in half", () => rewrite(ledger().slice(0, ledger().length >> 1))],
    [
      "with sizes that lie",
      () => rewrite(editLedger(ledger(), (line) => line.replace(/"size":\d+/, '"size":1'))),
    ],
    ["with tasks that somebody wrote into it", () => rewrite(ledger() + tasks.join(""))],
    ["with keys outside", () => rewrite(ledger().replaceAll('"key":"', '"key":"../../'))],
    ["of another run, that goes on after it", () => bucket.objects.set(NEXT, Buffer.from(FOREIGN))],
  ])("gives the right result where its ledger is one %s", async (_name, change) => {
    await inPlace.stopped();
    change();
    await inPlace.resumed({ verify: true });
    bucket.objects.delete(NEXT);
    await inPlace.expectWhole();
  });

  it.each([
    "",
    "no ledger",
    `${checkedLine('{"journal":"0123456789ab"}')}${checkedLine('{"format":"zarrflow-ledger/3"}')}`,
  ])("is refused where its ledger is %j, and nothing is changed", async (text) => {
    await inPlace.stopped();
    rewrite(text);
    const code = expect.stringMatching(/^(target-exists|plan-mismatch)$/);
    await expect(inPlace.resumed()).rejects.toMatchObject({ code });
    expect(chunks()).not.toEqual([]);
    await inPlace.run({ ifExists: "replace" });
    expect(await digestOf(TARGET)).toBe(await digestOf(inPlace.source));
  });
});

describe("an unfinished zip in S3", () => {
  const partsSent = () =>
    bucket.requests.filter(({ method, query }) => method === "PUT" && query.has("partNumber")).length;

  async function expectWhole(): Promise<void> {
    expect(keys()).toEqual([KEY]);
    expect(bucket.uploads.size).toBe(0);
    for await (const difference of diff(zip.source, zip.target)) expect(difference.counts).toBe(false);
    const store = new MemoryStore();
    await store.set("out.zip", new Uint8Array(bucket.objects.get(KEY) ?? []));
    const opened = await openZipValue(store, "out.zip");
    expect(opened.findings).toEqual([]);
    await opened.close();
  }

  it("is gone on with after the last part that holds a whole entry", async () => {
    await zip.stopped();
    expect(keys()).toContain("deep/.out.zarr.zip.zarrflow-lock");
    expect(bucket.uploads.size).toBe(1);
    const sent = partsSent();
    expect(sent).toBeGreaterThan(1);
    const report = await zip.resumed({ verify: "values" });
    expect(report.tasksResumed).toBe(2 * sent - 1);
    expect(report.tasks + 2 * sent - 1).toBe(8);
    expect(partsSent()).toBe(5);
    await expectWhole();
  });

  it("is gone on with again and again", async () => {
    await zip.stopped({}, 1);
    for (const tasks of [1, 1]) await zip.stopped({ resume: true }, tasks);
    expect((await zip.resumed()).tasksResumed).toBeGreaterThan(3);
    await expectWhole();
  });

  const parts = () => [...bucket.uploads.values()][0] ?? new Map<number, Buffer>();
  const spoil = () => parts().set(2, Buffer.alloc(PART));

  it.each([
    ["is begun again where its upload is gone", () => bucket.uploads.clear(), 0],
    ["is gone on with before a part that somebody has changed", spoil, 1],
    [
      "is not gone on with in parts of an earlier run that another one has left behind",
      async () => {
        const second = parts().get(2) ?? Buffer.alloc(0);
        spoil();
        await zip.stopped({ resume: true }, 1);
        parts().set(2, second);
      },
      1,
    ],
  ])("%s", async (_, change, tasksResumed) => {
    await zip.stopped();
    await change();
    expect((await zip.resumed()).tasksResumed).toBe(tasksResumed);
    await expectWhole();
  });

  it.each([
    ["an entry that is longer", (line: string) => line.replace(/"size":\d+/, '"size":9999999')],
    ["an entry that lies elsewhere", (line: string) => line.replace(/"offset":\d+/, '"offset":17')],
    ["an entry of another name", (line: string) => line.replace(/"entry":"[^"]+"/, '"entry":"../../x"')],
    ["a line that was cut", (line: string) => line.slice(0, 20)],
  ])("gives what it should when its ledger is edited: %s", async (_what, edited) => {
    await zip.stopped();
    const lines = String(bucket.objects.get(zip.ledger)).split("\n");
    const third = lines.findIndex((line, i) => i > 5 && line.includes('"entry"'));
    lines[third] = edited(lines[third] ?? "");
    bucket.objects.set(zip.ledger, Buffer.from(lines.join("\n")));
    await zip.resumed();
    await expectWhole();
  });

  it("is refused to another run while one writes it", async () => {
    let other: Promise<unknown> | undefined;
    const onEvent = ({ type }: FlowEvent) => {
      if (type === "task-end") other ??= zip.run().catch((error: unknown) => error);
    };
    await zip.run({ onEvent });
    expect(await other).toMatchObject({ code: "locked" });
    await expectWhole();
  });

  it("is removed when it is whole, and cannot be read back", async () => {
    let isBroken = false;
    bucket.fault = refuse((_, { method, key }) => {
      isBroken ||= bucket.objects.has(KEY);
      return isBroken && method !== "DELETE" && key === KEY;
    });
    const run = zip.run({ verify: true, stop: new AbortController().signal });
    await expect(run).rejects.toMatchObject({ code: "access-denied" });
    bucket.fault = undefined;
    expect(keys()).toEqual([]);
    await zip.resumed();
    await expectWhole();
  });

  it("leaves nothing where its run fails, and was not to be resumed", async () => {
    bucket.fault = refuse((_, { query }) => query.get("partNumber") === "3");
    await expect(zip.run()).rejects.toMatchObject({ code: "access-denied" });
    expect(keys()).toEqual([]);
    expect(bucket.uploads.size).toBe(0);
  });
});
