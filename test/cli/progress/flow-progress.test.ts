import { describe, expect, it } from "vitest";
import { eventAdvance } from "../../../src/cli/progress/flow-progress.ts";
import type { ArrayProgress, Progress } from "../../../src/flows/events.ts";

const totals = { arrays: 1, tasks: 4, chunksRead: 10, chunksWritten: 10, bytes: 10_000 };

function progress(bytesDone: number, more: Partial<Progress> = {}) {
  const counts = { tasks: 0, chunksRead: 0, chunksWritten: 0, bytesRead: 3000, bytesWritten: 1000 };
  return {
    type: "progress",
    progress: { ...counts, totals, arraysDone: 0, bytesDone, arrays: [], expectedBytes: 7, ...more },
  } as const;
}

const array = (path: string, bytesDone: number, bytes = 100): ArrayProgress => ({ path, bytesDone, bytes });

describe("eventAdvance", () => {
  it("goes by bytes of items, then by what is read back, and passes over the rest", () => {
    const advance = eventAdvance();
    expect(advance({ type: "task-start", task: 0 })).toBeUndefined();
    expect(advance(progress(2500))).toEqual({
      fraction: 0.25,
      bytes: 4000,
      words: ["3.0 kB in", "1.0 kB out", "2.5 kB of 10 kB"],
    });
    expect(advance({ type: "verify", keys: 3, allKeys: 1200 })).toEqual({
      bytes: 4000,
      words: ["reading back", "3/1,200 keys"],
    });
  });

  it("counts the arrays of a hierarchy, and has a line for each at work, which keeps its place", () => {
    const advance = eventAdvance();
    const of = (arrays: readonly ArrayProgress[], arraysDone = 0) =>
      advance(progress(0, { totals: { ...totals, arrays: 7 }, arraysDone, arrays }));
    expect(of([array("b", 7), array("a", 50)])).toMatchObject({
      words: ["3.0 kB in", "1.0 kB out", "0/7 arrays"],
      lines: ["    7%  b  7 B of 100 B", "   50%  a  50 B of 100 B"],
    });
    expect(of([array("a", 60)])?.lines?.map((line) => line.trim())).toEqual([
      "7%  b  7 B of 100 B",
      "60%  a  60 B of 100 B",
    ]);
    const later = of([array("b", 100), array("c", 1), array("d", 1), array("e", 1), array("f", 1)], 1);
    expect(later?.words.at(-1)).toBe("1/7 arrays");
    expect(later?.lines?.map((line) => line.split("  ").at(-2))).toEqual(["c", "d", "e", "f"]);
  });

  it("knows no end of a plan without items", () => {
    const none = progress(0, { totals: { ...totals, bytes: 0 } });
    expect(eventAdvance()(none)?.fraction).toBeUndefined();
  });
});
