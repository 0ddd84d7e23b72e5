import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { type Job, UnrecoverableError, WaitingChildrenError } from "bullmq";
import { beforeAll, describe, expect, test } from "vitest";
import type { Connection } from "../../src/bullmq/connection.ts";
import {
  failureFrom,
  jobCounts,
  RUN,
  type RunData,
  reasonOf,
  runId,
  SHARE,
  shareId,
  shareJobs,
} from "../../src/bullmq/job-data.ts";
import { endRun } from "../../src/bullmq/worker.ts";
import type { PlanFile } from "../../src/flows/jobs/plan-file.ts";
import { planFlow } from "../../src/flows/request/flow.ts";
import { type RunReport, ZarrflowError } from "../../src/index.ts";
import { textOf } from "../flows/jobs/support.ts";
import { temporaryFolder } from "../stores/temporary-folder.ts";
import { given } from "../support/given.ts";

const ID = "00000000-0000-4000-8000-0123456789ab";
const folder = temporaryFolder();
let target: string;
let data: RunData;

beforeAll(async () => {
  target = join(folder.path, "out.zarr");
  const rows = { shape: [4, 4], chunks: [1, 4], dataType: "uint8", values: null };
  const source = await given({ at: join(folder.path, "in.zarr"), zarrFormat: "v2", ...rows });
  const plan = await textOf(planFlow(source, target, { chunks: [4, 1] }));
  data = { plan, encoders: { zarrflow: "1", zlib: "1" }, jobs: [2, 3], verify: false };
});

const COUNTS = { tasks: 1, chunksRead: 1, chunksWritten: 1, bytesRead: 1, bytesWritten: 1 };
const REPORT: RunReport = { ...COUNTS, seconds: 1, keysWritten: 1, peakBuffers: 1 };

/** The parent of a run, as BullMQ would hand it over, and what is done with it. */
function runAt(progress: number, { waits = [false], dead = [] as object[] } = {}) {
  const added: (string | undefined)[] = [];
  const job = {
    id: "run",
    data,
    progress,
    queueQualifiedName: "bull:zarrflow",
    moveToWaitingChildren: async () => waits.shift() ?? false,
    updateProgress: async (now: number) => {
      job.progress = now;
    },
    getChildrenValues: async () => ({ a: REPORT, b: REPORT }),
  };
  const addBulk = async (jobs: { opts: { jobId?: string } }[]) => {
    added.push(...jobs.map(({ opts }) => opts.jobId));
  };
  const queue = { getFailed: async () => dead, addBulk };
  const connection = { bullmq: { UnrecoverableError, WaitingChildrenError }, queue } as unknown as Connection;
  const end = (perform: () => Promise<RunReport>) =>
    endRun(job as unknown as Job<RunData>, "token", { connection, perform });
  return { job, added, end };
}

describe("the parent of a run", () => {
  test("adds the next stage and waits for it", async () => {
    const { job, added, end } = runAt(0, { waits: [false, true] });
    await expect(end(async () => REPORT)).rejects.toBeInstanceOf(WaitingChildrenError);
    expect(added).toEqual(["run-1-0", "run-1-1", "run-1-2"]);
    expect(job.progress).toBe(1);
  });

  test("publishes after the last stage, and adds up what all did", async () => {
    const { job, added, end } = runAt(1);
    expect(await end(async () => REPORT)).toMatchObject({ tasks: 3, bytesWritten: 3 });
    expect(added).toEqual([]);
    expect(job.progress).toBe(2);
  });

  test("is dead with the reason of the first job that is", async () => {
    const share = { run: "run", stage: 0, index: 1, count: 2 };
    const other = { name: "share", data: { ...share, run: "another" }, failedReason: "of another run" };
    const dead = [other, { name: "share", data: share, failedReason: "codec-error: bad bytes" }];
    const { end } = runAt(0, { dead });
    const failure = await end(async () => REPORT).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(UnrecoverableError);
    expect((failure as Error).message).toBe(
      "tasks-undone: 1 of 2 jobs of stage 1 failed for good. The first: codec-error: bad bytes",
    );
  });

  test("whose worker was lost when it had published counts as done, if the target is there", async () => {
    const gone = async () => {
      throw new ZarrflowError("not-found", "no work is left");
    };
    await expect(runAt(2).end(gone)).rejects.toMatchObject({ code: "not-found" });
    await mkdir(target);
    await writeFile(join(target, ".zarray"), "{}");
    expect(await runAt(2).end(gone)).toMatchObject({ tasks: 2 });
    // but not if it had not begun to publish
    await expect(runAt(1).end(gone)).rejects.toMatchObject({ code: "not-found" });
  });
});

describe("jobs of a run", () => {
  test.each<[stages: number[], totals: object, asked: number | undefined, jobs: number[]]>([
    [[1000], { predictedSeconds: 600 }, undefined, [60]],
    [[1000, 500], { predictedSeconds: 600 }, undefined, [30, 30]],
    [[7], { predictedSeconds: 600 }, undefined, [7]],
    [[7], { decodedBytes: 1e6 }, undefined, [1]],
    [[1e6], { decodedBytes: 1e15 }, undefined, [10_000]],
    [[40, 8], { decodedBytes: 1 }, 16, [16, 8]],
    // keys that are copied without tasks
    [[], { decodedBytes: 1e12 }, undefined, [1]],
    [[0], { decodedBytes: 0 }, 4, [4]],
  ])("of %j tasks, %j, of which %s are asked for, are %j", (stages, totals, asked, jobs) => {
    expect(jobCounts({ plan: { stages, totals } } as unknown as PlanFile, asked)).toEqual(jobs);
  });

  test("have ids that follow from the plan", () => {
    const jobs = shareJobs(ID, 1, { jobs: [4, 2] });
    expect(jobs.map(({ opts }) => opts.jobId)).toEqual([`${ID}-1-0`, `${ID}-1-1`]);
    expect(jobs.map(({ data }) => shareId(data))).toEqual(jobs.map(({ opts }) => opts.jobId));
    expect(new Set(jobs.map(({ name }) => name))).toEqual(new Set([SHARE]));
    expect(RUN).not.toBe(SHARE);
    expect(runId(ID)).toBe(ID);
    expect(() => runId("{}")).toThrow(expect.objectContaining({ code: "plan-mismatch" }));
  });

  test("keep why they failed", () => {
    const error = new ZarrflowError("no-space", "the disk is full", { hint: "Make room." });
    expect(reasonOf(error)).toBe("no-space: the disk is full; Make room.");
    const read = failureFrom(reasonOf(error));
    expect(read).toMatchObject({ code: "no-space", message: "the disk is full; Make room." });
    for (const message of ["job stalled more than allowable limit", "odd: words"])
      expect(failureFrom(message)).toMatchObject({ code: "transient", message });
  });
});
