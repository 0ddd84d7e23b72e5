// @module-tag slow
import { readFileSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import { copy, rechunk } from "../../src/flows/copy.ts";
import type { FlowEvent } from "../../src/flows/events.ts";
import type { FlowOptions } from "../../src/flows/request/flow-options.ts";
import { MemoryStore } from "../../src/stores/memory.ts";
import type { Store } from "../../src/stores/store.ts";
import { temporaryFolder } from "../stores/temporary-folder.ts";
import { given } from "../support/given.ts";

const folder = temporaryFolder();
const HOW = { chunks: [8, 3], strategy: "direct", maxMemory: "100kB", threads: 1, concurrency: 1 } as const;

let source = "";
let target = "";

beforeEach(async () => {
  source = folder.next("source.zarr");
  target = folder.next("target.zarr");
  const grid = { shape: [40, 12], chunks: [1, 12] };
  await given({ at: source, ...grid, dataType: "int32", codec: "none", zarrFormat: "v2" });
});

/** What may happen to a source, none of which its metadata show. */
const CHANGES: Readonly<Record<string, () => void>> = {
  "a chunk was written again with the same size": () => {
    const chunk = join(source, "0.0");
    writeFileSync(chunk, readFileSync(chunk).fill(7));
    utimesSync(chunk, 1, 1);
  },
  "a chunk was removed": () => rmSync(join(source, "1.0")),
  "a key was added": () => writeFileSync(join(source, "notes.txt"), "new"),
};
const changes = Object.entries(CHANGES);

/** Runs until the first task has ended. */
async function stopped(options: FlowOptions): Promise<void> {
  const stop = new AbortController();
  const onEvent = ({ type }: FlowEvent) => type === "task-end" && stop.abort();
  const run = rechunk(source, target, { ...HOW, ...options, stop: stop.signal, onEvent });
  await expect(run).rejects.toMatchObject({ code: "aborted" });
}

const resumed = (options: FlowOptions) => rechunk(source, target, { ...HOW, ...options, resume: true });

describe("a run that verifies its source", () => {
  it("ends well where nothing was changed", async () => {
    await expect(copy(source, target, { verifySource: true })).resolves.toMatchObject({ keysWritten: 41 });
  });

  it.each(changes)("fails where %s meanwhile", async (_, change) => {
    let areTasks = false;
    const onEvent = ({ type }: FlowEvent) => {
      if (type !== "task-end" || areTasks) return;
      areTasks = true;
      change();
    };
    const run = rechunk(source, target, { ...HOW, verifySource: true, onEvent });
    await expect(run).rejects.toMatchObject({
      code: "source-changed",
      details: { found: expect.stringMatching(/^\d+ keys, \d+ bytes, hash [0-9a-f]{24}$/) },
    });
    expect(areTasks).toBe(true);
    await expect(copy(target, folder.next("copy.zarr"))).rejects.toMatchObject({ code: "not-found" });
  });

  it("needs a source whose keys can be listed", async () => {
    const store = new MemoryStore();
    await copy(source, store);
    const unlisted: Store = {
      description: "no list",
      get: (key, options) => store.get(key, options),
      size: (key, options) => store.size(key, options),
    };
    const run = copy(unlisted, target, { verifySource: true });
    await expect(run).rejects.toMatchObject({ code: "unsupported-operation" });
  });
});

describe("a resumed run that verifies its source", () => {
  it("goes on where nothing was changed", async () => {
    await stopped({ verifySource: true });
    const report = await resumed({ verifySource: true });
    expect(report.tasksResumed).toBeGreaterThan(0);
  });

  it.each(changes)("is refused where %s between the runs, and leaves what was done", async (_, change) => {
    await stopped({ verifySource: true });
    change();
    for (let i = 0; i < 2; i++) {
      await expect(resumed({ verifySource: true })).rejects.toMatchObject({
        code: "source-changed",
        message: expect.stringContaining("keys of the source have changed since the unfinished run"),
        details: { expected: expect.stringContaining("41 keys, ") },
      });
    }
  });

  it("is refused where the unfinished run recorded no keys, and goes on without", async () => {
    await stopped({});
    await expect(resumed({ verifySource: true })).rejects.toMatchObject({ code: "plan-mismatch" });
    const report = await resumed({});
    expect(report.tasksResumed).toBeGreaterThan(0);
  });
});
