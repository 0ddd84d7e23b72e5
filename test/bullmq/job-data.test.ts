import { describe, expect, test } from "vitest";
import {
  failureOf,
  jobCounts,
  RUN,
  reasonOf,
  runId,
  SHARE,
  shareId,
  shareJobs,
} from "../../src/bullmq/job-data.ts";
import type { PlanFile } from "../../src/flows/jobs/plan-file.ts";
import { ZarrflowError } from "../../src/index.ts";

const ID = "00000000-0000-4000-8000-0123456789ab";

function fileOf(stages: readonly number[], totals: object): PlanFile {
  return { plan: { stages, totals } } as unknown as PlanFile;
}

describe("jobs of a run", () => {
  test("have as many seconds of work as is usual, and no more than a task each at most", () => {
    expect(jobCounts(fileOf([1000], { predictedSeconds: 600 }), undefined)).toEqual([60]);
    expect(jobCounts(fileOf([1000, 500], { predictedSeconds: 600 }), undefined)).toEqual([30, 30]);
    expect(jobCounts(fileOf([7], { predictedSeconds: 600 }), undefined)).toEqual([7]);
    expect(jobCounts(fileOf([7], { decodedBytes: 1e6 }), undefined)).toEqual([1]);
    expect(jobCounts(fileOf([1e6], { decodedBytes: 1e15 }), undefined)).toEqual([10_000]);
    expect(jobCounts(fileOf([40, 8], { decodedBytes: 1 }), 16)).toEqual([16, 8]);
    // keys that are copied without tasks
    expect(jobCounts(fileOf([], { decodedBytes: 1e12 }), undefined)).toEqual([1]);
    expect(jobCounts(fileOf([0], { decodedBytes: 0 }), 4)).toEqual([4]);
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
    expect(failureOf(reasonOf(error))).toMatchObject({
      code: "no-space",
      message: "the disk is full; Make room.",
    });
    expect(failureOf("job stalled more than allowable limit")).toMatchObject({
      code: "transient",
      message: "job stalled more than allowable limit",
    });
    expect(failureOf("odd: words")).toMatchObject({ code: "transient", message: "odd: words" });
  });
});
