import { describe, expect, it } from "vitest";
import { eventAdvance, flowProgress } from "../../../src/cli/progress/flow-progress.ts";
import type { Plan } from "../../../src/flows/plan/plan.ts";

const plan = (...jobs: { chunksRead: number; chunksWritten: number }[]) => ({ jobs }) as unknown as Plan;
const progress = (chunksRead: number, chunksWritten: number) => ({
  tasks: 0,
  chunksRead,
  chunksWritten,
  bytesRead: 2000 * chunksRead,
  bytesWritten: 1000 * chunksWritten,
});

describe("flowProgress", () => {
  it("takes reading and writing for half of the work each", () => {
    const advance = flowProgress(
      plan({ chunksRead: 10, chunksWritten: 1000 }, { chunksRead: 0, chunksWritten: 0 }),
    );
    expect(advance(progress(0, 0)).fraction).toBe(0);
    expect(advance(progress(5, 0))).toEqual({
      fraction: 0.25,
      bytes: 10_000,
      words: ["10 kB in", "0 B out", "0/1,000 chunks"],
    });
    expect(advance(progress(10, 500)).fraction).toBe(0.75);
    expect(advance(progress(10, 1000)).fraction).toBe(1);
  });

  it("stays at its end when keys are copied that no plan counts", () => {
    const advance = flowProgress(plan({ chunksRead: 2, chunksWritten: 2 }));
    expect(advance(progress(3, 3))).toMatchObject({
      fraction: 1,
      words: ["6.0 kB in", "3.0 kB out", "2/2 chunks"],
    });
  });

  it("takes keys that an update finds to be right for done", () => {
    const advance = flowProgress(plan({ chunksRead: 10, chunksWritten: 10 }));
    expect(advance({ ...progress(1, 1), keysKept: 4 })).toMatchObject({
      fraction: 0.5,
      words: ["2.0 kB in", "1.0 kB out", "5/10 chunks"],
    });
  });

  it("knows no end of a plan without chunks", () => {
    expect(flowProgress(plan())(progress(1, 1)).fraction).toBeUndefined();
  });
});

describe("eventAdvance", () => {
  it("goes by progress, then by what is read back, and passes over the rest", () => {
    const advance = eventAdvance(plan({ chunksRead: 2, chunksWritten: 2 }));
    expect(advance({ type: "task-start", task: 0 })).toBeUndefined();
    const told = advance({ type: "progress", progress: { ...progress(1, 1), expectedBytes: 7 } });
    expect(told).toMatchObject({ fraction: 0.5, bytes: 3000 });
    expect(advance({ type: "verify", keys: 3, allKeys: 1200 })).toEqual({
      bytes: 3000,
      words: ["reading back", "3/1,200 keys"],
    });
  });
});
