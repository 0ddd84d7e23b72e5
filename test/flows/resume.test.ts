// @module-tag slow
import { cpSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { copy, rechunk, sliceTo } from "../../src/flows/copy.ts";
import type { FlowEvent, RunReport } from "../../src/flows/events.ts";
import type { FlowOptions } from "../../src/flows/request/flow-options.ts";
import { BUCKET, type S3Server } from "../stores/s3-server.ts";
import { temporaryFolder } from "../stores/temporary-folder.ts";
import { given } from "../support/given.ts";
import { withoutPauses } from "../support/no-pauses.ts";
import { serveReachableBucket } from "../support/s3-environment.ts";
import { withParts } from "../support/small-parts.ts";

/** Bytes that writing to S3 takes: in place of 8 MiB. */
const PART = 64 * 1024;
withoutPauses();
withParts(PART);

const folder = temporaryFolder();
let source = "";

beforeAll(async () => {
  source = join(folder.path, "source.zarr");
  await given({
    at: source,
    shape: [24, 12, 12],
    chunks: [1, 12, 12],
    dataType: "int32",
    zarrFormat: "v2",
    values: (i) => (i * 2654435761) % 1000,
  });
});

/** What decides windows, beside the memory budget. */
const SERIAL = { threads: 1, concurrency: 1, storeProfile: "5ms" };

/** A rechunk of which each task reads some of the first chunks. */
const BY_STEPS = { chunks: [8, 3, 3], strategy: "direct" } as const;

type Flow = (target: string, options: FlowOptions) => Promise<RunReport>;

const FLOWS: Readonly<Record<string, Flow>> = {
  copy: (target, options) => copy(source, target, options),
  "copy with another codec": (target, options) => copy(source, target, { codec: "zstd", ...options }),
  "rechunk, direct": (target, options) => rechunk(source, target, { ...BY_STEPS, ...options }),
  "rechunk, staged": (target, options) =>
    rechunk(source, target, { chunks: [24, 2, 2], strategy: "staged", ...options }),
  "rechunk into shards": (target, options) =>
    rechunk(source, target, {
      chunks: [4, 3, 3],
      shards: [8, 6, 6],
      to: "v3",
      ...options,
    }),
  "slice to zarr": (target, options) =>
    sliceTo(source, target, { slice: [[3, 21], null, [1, 9]], ...options }),
};

/** Runs a flow that is stopped after so many tasks or keys; what came of it. */
async function stoppedAfter(
  flow: Flow,
  target: string,
  steps: number,
  options: FlowOptions,
): Promise<{
  readonly ended: RunReport | Error;
  readonly unfinished: FlowEvent | undefined;
}> {
  const stopping = new AbortController();
  const events: FlowEvent[] = [];
  let done = 0;
  const onEvent = (event: FlowEvent) => {
    events.push(event);
    if (event.type === "task-end" || event.type === "progress") done++;
    if (done >= steps) stopping.abort(new Error("enough"));
  };
  const ended = await flow(target, { ...SERIAL, ...options, stop: stopping.signal, onEvent }).catch(
    (error) => error,
  );
  return { ended, unfinished: events.find(({ type }) => type === "unfinished") };
}

/** Every file below a folder, with what is in it. */
function filesBelow(path: string): Map<string, string> {
  if (statSync(path).isFile()) return new Map([["", readFileSync(path).toString("base64")]]);
  return new Map(
    readdirSync(path, { recursive: true, encoding: "utf8" })
      .filter((name) => statSync(join(path, name)).isFile())
      .sort()
      .map((name) => [name, readFileSync(join(path, name)).toString("base64")]),
  );
}

/** A kind of target. */
interface Place {
  /** What makes some tasks of a rechunk, beside what writing takes. */
  readonly maxMemory: number;
  /** A place where nothing is. */
  next(): string;
  /** What is at a target, hidden keys too; of zips, whose entries may come in another order, no more than their size. */
  contents(target: string): ReadonlyMap<string, string>;
  /** What a run left beside its target. */
  besides(target: string): readonly string[];
}

const besides = (target: string) => readdirSync(dirname(target)).filter((name) => name !== basename(target));
let bucket: S3Server;
let places = 0;

const PLACES: Readonly<Record<string, Place>> = {
  "a folder": { maxMemory: 60e3, next: () => folder.next("out.zarr"), contents: filesBelow, besides },
  "a zip file": {
    maxMemory: 60e3,
    next: () => folder.next("out.zarr.zip"),
    contents: (target) => new Map([["bytes", String(statSync(target).size)]]),
    besides,
  },
  S3: {
    maxMemory: 60e3 + PART,
    next: () => `s3://${BUCKET}/${places++}.zarr`,
    contents(target) {
      const prefix = `${target.slice(`s3://${BUCKET}/`.length)}/`;
      const objects = [...bucket.objects].filter(([key]) => key.startsWith(prefix)).sort();
      return new Map(objects.map(([key, bytes]) => [key.slice(prefix.length), bytes.toString("base64")]));
    },
    besides: () => [],
  },
};

it("goes on when a chunk of the source that could not be read has been put right", async () => {
  const damaged = folder.next("source.zarr");
  await copy(source, damaged);
  const chunk = join(damaged, "23.0.0");
  const bytes = readFileSync(chunk);
  writeFileSync(chunk, bytes.subarray(0, 20));
  const target = folder.next("out.zarr");
  const options = { ...BY_STEPS, maxMemory: "60kB", resume: true, ...SERIAL };
  const events: FlowEvent[] = [];
  const run = rechunk(damaged, target, {
    ...options,
    stop: new AbortController().signal,
    onEvent: (event) => events.push(event),
  });
  await expect(run).rejects.toMatchObject({ code: "corrupt-chunk" });
  const done = events.filter(({ type }) => type === "task-end").length;
  expect(done).toBeGreaterThan(0);
  expect(events).toContainEqual({ type: "unfinished", tasks: done, keys: expect.any(Number) });
  writeFileSync(chunk, bytes);
  expect((await rechunk(damaged, target, options)).tasksResumed).toBe(done);
  expect(besides(target)).toEqual([]);
});

it("leaves nothing of runs that were killed before they had written their ledgers, beside the one it goes on with", async () => {
  const target = folder.next("out.zarr");
  const options = { ...BY_STEPS, maxMemory: "60kB", resume: true, ...SERIAL };
  const flow: Flow = (to, more) => rechunk(source, to, { ...options, ...more });
  const { unfinished } = await stoppedAfter(flow, target, 1, {});
  expect(unfinished).toBeDefined();
  const [name = ""] = besides(target);
  const kept = join(dirname(target), name);
  for (let number = 0; number < 8; number++) {
    const killed = kept.replace(/-[\da-f]{12}/, `-${number.toString(16).repeat(12)}`);
    cpSync(kept, killed, { recursive: true, preserveTimestamps: true });
    writeFileSync(join(killed, "ledger.jsonl"), "");
  }
  expect((await rechunk(source, target, options)).tasksResumed).toBeGreaterThan(0);
  expect(besides(target)).toEqual([]);
});

describe.each(Object.entries(FLOWS))("%s", (_name, flow) => {
  beforeEach(async () => {
    bucket = await serveReachableBucket();
  });
  afterEach(() => bucket.close());

  it.each(Object.entries(PLACES))(
    "to %s goes on after each of its first stops, and gives what an undisturbed run gives",
    async (_kind, place) => {
      const undisturbed = place.next();
      const { maxMemory } = place;
      const { tasks, keysWritten } = await flow(undisturbed, { ...SERIAL, maxMemory });
      const target = place.next();
      let kept = 0;
      let report: RunReport | undefined;
      for (let stops = 0; report === undefined; stops++) {
        const steps = stops < 3 ? stops + 1 : Number.POSITIVE_INFINITY;
        const { ended, unfinished } = await stoppedAfter(flow, target, steps, {
          maxMemory,
          resume: true,
          verify: true,
        });
        if (!(ended instanceof Error)) report = ended;
        else {
          expect(ended).toMatchObject({ code: "aborted" });
          expect(unfinished).toBeDefined();
          kept++;
        }
      }
      expect(kept).toBeGreaterThan(0);
      expect((report.tasksResumed ?? 0) + (report.keysResumed ?? 0)).toBeGreaterThan(0);
      expect(report.tasks + (report.tasksResumed ?? 0)).toBe(tasks);
      expect(report.keysWritten).toBeLessThanOrEqual(keysWritten);
      expect(place.contents(target)).toEqual(place.contents(undisturbed));
      expect(place.besides(target)).toEqual([]);
    },
  );
});
