import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Job } from "bullmq";
import { UnrecoverableError, WaitingChildrenError } from "bullmq";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Connection } from "../../src/bullmq/connection.ts";
import { endRun } from "../../src/bullmq/end-run.ts";
import type { RunData } from "../../src/bullmq/job-data.ts";
import { planFlow } from "../../src/flows/request/flow.ts";
import { type RunReport, ZarrflowError } from "../../src/index.ts";
import { textOf } from "../flows/jobs/plans.ts";
import { given } from "../support/given.ts";

let folder: string;
let target: string;
let data: RunData;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "zarrflow-end-run-"));
  target = join(folder, "out.zarr");
  const rows = { shape: [4, 4], chunks: [1, 4], dataType: "uint8", values: null };
  await given({ at: join(folder, "in.zarr"), zarrFormat: "v2", ...rows });
  const plan = await textOf(planFlow(join(folder, "in.zarr"), target, { chunks: [4, 1] }));
  data = { plan, encoders: { zarrflow: "1", zlib: "1" }, jobs: [2, 3], verify: false };
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const REPORT: RunReport = {
  tasks: 1,
  chunksRead: 1,
  chunksWritten: 1,
  bytesRead: 1,
  bytesWritten: 1,
  seconds: 1,
  keysWritten: 1,
  peakBuffers: 1,
};

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
  const connection = {
    bullmq: { UnrecoverableError, WaitingChildrenError },
    queue: {
      getFailed: async () => dead,
      addBulk: async (jobs: { opts: { jobId?: string } }[]) => {
        added.push(...jobs.map(({ opts }) => opts.jobId));
      },
    },
  } as unknown as Connection;
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
      "tasks-undone: 1 of 2 jobs of stage 1 are dead. The first: codec-error: bad bytes",
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
