// @module-tag slow
import { readdir, stat, truncate } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { ReadEvent } from "../../src/flows/events.ts";
import { copy, digest, type FlowEvent, rechunk, type WarningEvent } from "../../src/index.ts";
import { testFolder } from "../support/cli.ts";
import { writeV2Array } from "../support/v2-store.ts";

async function array(): Promise<string> {
  const folder = join(await testFolder(), "a.zarr");
  await writeV2Array(folder, { shape: [60, 100], chunks: [6, 10] });
  return folder;
}

describe("a run", () => {
  it("reports its plan, each task's start and end, progress, verification, and its end, in order", async () => {
    const folder = await array();
    const events: FlowEvent[] = [];
    const report = await rechunk(folder, `${folder}.out`, {
      chunks: [30, 20],
      maxMemory: 400_000,
      verify: true,
      onEvent: (event) => events.push(event),
    });
    const of = <T extends FlowEvent["type"]>(type: T) =>
      events.filter((event): event is Extract<FlowEvent, { type: T }> => event.type === type);
    expect(events[0]?.type).toBe("plan");
    expect(events.at(-1)).toEqual({ type: "done", report });
    const { tasks } = of("plan")[0]?.plan.totals ?? { tasks: 0 };
    expect(of("task-start").map(({ task }) => task)).toEqual(Array.from({ length: tasks }, (_, i) => i));
    expect(of("task-end")).toHaveLength(tasks);
    expect(of("task-end").reduce((sum, { bytes }) => sum + bytes, 0)).toBe(24_000);
    expect(of("task-end").every(({ ms }) => ms >= 0)).toBe(true);
    expect(of("verify").at(-1)).toEqual({ type: "verify", keys: 11, allKeys: 11 });
    expect(of("progress").at(-1)?.progress).toMatchObject({ tasks, bytesRead: 24_000, chunksWritten: 10 });
    for (const { progress } of of("progress")) {
      expect(progress.expectedBytes).toBeLessThanOrEqual(report.peakBuffers);
    }
  });

  it.each([1, 3])(
    "in %i threads names each value that it writes once, before the end of its task",
    async (threads) => {
      const folder = await array();
      const target = `${folder}.out`;
      const events: FlowEvent[] = [];
      await rechunk(folder, target, {
        ...{ chunks: [30, 20], maxMemory: 400_000, threads },
        onEvent: (event) => events.push(event),
      });
      const written = events.filter((event) => event.type === "written");
      const sizes = await Promise.all(
        (await readdir(target)).map(async (key) => [key, (await stat(join(target, key))).size]),
      );
      expect(written.map(({ key, size }) => [key, size]).sort()).toEqual(sizes.sort());
      for (const [at, end] of events.entries()) {
        if (end.type !== "task-end") continue;
        const ofTask = written.filter(({ task }) => task === end.task);
        expect(ofTask.reduce((sum, { size }) => sum + size, 0)).toBe(end.bytes);
        expect(ofTask.every((event) => events.indexOf(event) < at)).toBe(true);
      }
    },
  );

  it.each([1, 3])(
    "in %i threads reports the task that failed once, with the error that it throws",
    async (threads) => {
      const folder = await array();
      await truncate(join(folder, "3.4"), 7);
      await truncate(join(folder, "8.8"), 7);
      const events: FlowEvent[] = [];
      const run = rechunk(folder, `${folder}.out`, {
        ...{ chunks: [60, 5], maxMemory: 400_000, threads },
        onEvent: (event) => events.push(event),
      });
      const error: unknown = await run.then(
        () => undefined,
        (thrown) => thrown,
      );
      expect(error).toMatchObject({ code: "corrupt-chunk" });
      const failed = events.filter((event) => event.type === "task-failed");
      expect(failed).toMatchObject([{ task: expect.any(Number), error: { code: "corrupt-chunk" } }]);
      const [{ task } = { task: -1 }] = failed;
      expect(events.filter((event) => event.type === "task-end" && event.task === task)).toEqual([]);
      if (threads === 1) expect(failed[0]?.error).toBe(error);
    },
  );

  it("that is aborted reports no failed task", async () => {
    const folder = await array();
    const aborting = new AbortController();
    const types: string[] = [];
    const run = rechunk(folder, `${folder}.out`, {
      ...{ chunks: [60, 5], maxMemory: 400_000, signal: aborting.signal },
      onEvent: ({ type }) => {
        types.push(type);
        if (type === "task-start") aborting.abort();
      },
    });
    await expect(run).rejects.toMatchObject({ code: "aborted" });
    expect(types).toContain("task-start");
    expect(types).not.toContain("task-failed");
  });

  it("that is skipped reports its plan and its end", async () => {
    const folder = await array();
    await copy(folder, `${folder}.out`);
    const types: string[] = [];
    const options = { ifExists: "skip", onEvent: ({ type }: FlowEvent) => types.push(type) } as const;
    expect(await copy(folder, `${folder}.out`, options)).toMatchObject({ skipped: true, keysWritten: 0 });
    expect(types).toEqual(["plan", "done"]);
  });
});

describe("a digest", () => {
  it("reports how much it has read of how much", async () => {
    const events: (ReadEvent | WarningEvent)[] = [];
    for await (const _ of digest(await array(), { onEvent: (event) => events.push(event) }));
    expect(events.at(-1)).toEqual({ type: "read", path: "", bytes: 24_000, allBytes: 24_000 });
  });
});
