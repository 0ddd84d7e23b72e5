// @module-tag slow
import { readFileSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import type { FlowOptions } from "../../src/flows/request/flow-options.ts";
import { convert, copy, open, rechunk, sliceTo } from "../../src/index.ts";
import type { FlowEvent } from "../../src/run/events.ts";
import { MemoryStore } from "../../src/stores/memory.ts";
import type { Store } from "../../src/stores/store.ts";
import { temporaryFolder } from "../stores/temporary-folder.ts";
import { given } from "../support/given.ts";
import { makeHierarchy } from "../support/made-hierarchy.ts";
import { stoppedAfter } from "../support/stopped-run.ts";

const folder = temporaryFolder();

describe("with `verify: values` the values of a target are compared with the source's", () => {
  const verify = "values";

  /** A store that gives another chunk from the second time on that `key` is read. */
  function changedAfterReading(key: string, other: string, store: MemoryStore): Store {
    let reads = 0;
    return new Proxy(store, {
      get(target, property) {
        const value = Reflect.get(target, property);
        if (property !== "get") return typeof value === "function" ? value.bind(target) : value;
        const get: Store["get"] = (asked, options) =>
          target.get(asked === key && reads++ > 0 ? other : asked, options);
        return get;
      },
    });
  }

  const shards = { chunks: "2024/t2m:1,2", shards: "2024/t2m:2,4", codec: "zstd", to: "v3" } as const;
  type Flow = (from: Store, to: MemoryStore | string) => Promise<unknown>;
  describe.each<[string, Flow]>([
    ["copy", (from, to) => copy(from, to, { verify })],
    ["convert", (from, to) => convert(from, to, { to: "v3", verify })],
    ["rechunk into shards", (from, to) => rechunk(from, to, { ...shards, verify })],
  ])("%s", (_, run) => {
    it.each([
      ["a folder", () => folder.next("x.zarr")],
      ["a zip", () => folder.next("x.zarr.zip")],
      ["a store at its place", () => new MemoryStore()],
    ])("into %s", async (_what, target) => {
      const report = (await run(await makeHierarchy("v2"), target())) as { keysWritten: number };
      expect(report).toMatchObject({ keysVerified: report.keysWritten, arraysVerified: 5 });
    });

    it("which differ where the source gave another chunk for them", async () => {
      const target = new MemoryStore();
      const source = changedAfterReading("2024/u10/1.0", "2023/u10/1.0", await makeHierarchy("v2"));
      await expect(run(source, target)).rejects.toMatchObject({
        code: "differs",
        reason: "6 values read back differ from the source, the first at [2, 0]",
        details: { path: "2024/u10", expected: "2038", found: "2039" },
      });
      await expect(open(target)).rejects.toMatchObject({ code: "not-found" });
    });
  });

  it("slice, and update", async () => {
    const source = { store: await makeHierarchy("v3"), path: "2024/t2m" };
    const cut = await sliceTo(source, new MemoryStore(), { slice: [[1, 4, 2], 5], verify });
    expect(cut.arraysVerified).toBe(1);
    const to = await makeHierarchy("v3", { offset: 1 });
    const report = await copy(await makeHierarchy("v3"), to, { ifExists: "update", verify });
    expect(report).toMatchObject({ keysVerified: report.keysWritten, arraysVerified: 5 });
  });

  it("and nothing is read twice where only keys are verified", async () => {
    const types: string[] = [];
    const onEvent = ({ type }: FlowEvent) => types.push(type);
    const report = await copy(await makeHierarchy("v3"), new MemoryStore(), { verify: "written", onEvent });
    expect(report.keysVerified).toBe(report.keysWritten);
    expect(report.arraysVerified).toBeUndefined();
    expect(types).not.toContain("read");
  });
});

describe("a run that verifies its source", () => {
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
  const CHANGES: readonly [string, () => void][] = [
    [
      "a chunk was written again with the same size",
      () => {
        const chunk = join(source, "0.0");
        writeFileSync(chunk, readFileSync(chunk).fill(7));
        utimesSync(chunk, 1, 1);
      },
    ],
    ["a chunk was removed", () => rmSync(join(source, "1.0"))],
    ["a key was added", () => writeFileSync(join(source, "notes.txt"), "new")],
  ];

  const run = (options: FlowOptions) => rechunk(source, target, { ...HOW, ...options });
  const stopped = (options: FlowOptions) => stoppedAfter(1, (stop) => run({ ...options, ...stop }));
  const VERIFIED = { verifySource: true } as const;
  const RESUMED = { ...VERIFIED, resume: true } as const;

  it("ends well where nothing was changed, also when it is resumed", async () => {
    expect(await copy(source, folder.next("t.zarr"), VERIFIED)).toMatchObject({ keysWritten: 41 });
    await stopped(VERIFIED);
    expect((await run(RESUMED)).tasksResumed).toBeGreaterThan(0);
  });

  it.each(CHANGES)("fails where %s meanwhile", async (_, change) => {
    let tasks = 0;
    const onEvent = ({ type }: FlowEvent) => {
      if (type === "task-end" && tasks++ === 0) change();
    };
    const found = expect.stringMatching(/^\d+ keys, \d+ bytes, hash [0-9a-f]{24}$/);
    const error = { code: "source-changed", details: { found } };
    await expect(run({ ...VERIFIED, onEvent })).rejects.toMatchObject(error);
    expect(tasks).toBeGreaterThan(0);
    await expect(open(target)).rejects.toMatchObject({ code: "not-found" });
  });

  it.each(CHANGES)("is refused where %s between two runs, and leaves what was done", async (_, change) => {
    await stopped(VERIFIED);
    change();
    const message = expect.stringContaining("keys of the source have changed since the unfinished run");
    const details = { expected: expect.stringContaining("41 keys, ") };
    for (let i = 0; i < 2; i++)
      await expect(run(RESUMED)).rejects.toMatchObject({ code: "source-changed", message, details });
  });

  it("is refused where the unfinished run recorded no keys, and goes on without", async () => {
    await stopped({});
    await expect(run(RESUMED)).rejects.toMatchObject({ code: "plan-mismatch" });
    expect((await run({ resume: true })).tasksResumed).toBeGreaterThan(0);
  });

  it("needs a source whose keys can be listed", async () => {
    const store = new MemoryStore();
    await copy(source, store);
    const unlisted = { description: "no list", get: store.get.bind(store), size: store.size.bind(store) };
    const refused = copy(unlisted, target, VERIFIED);
    await expect(refused).rejects.toMatchObject({ code: "unsupported-operation" });
  });
});
