// @module-tag sampled
// @module-tag slow
import { spawnSync } from "node:child_process";
import { readdirSync, rmSync } from "node:fs";
import { mkdir, mkdtemp, readdir, rm, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from "vitest";
import { WORTH_A_HEAP } from "../../../src/codecs/kernels/kernels.ts";
import { rechunk } from "../../../src/flows/copy.ts";
import { type PlannedFlow, planFlow } from "../../../src/flows/request/flow.ts";
import { runFlow } from "../../../src/flows/run-flow.ts";
import { slice } from "../../../src/flows/slice.ts";
import type { ZarrArray } from "../../../src/hierarchy/node.ts";
import { openArray } from "../../../src/hierarchy/open/open.ts";
import type { FlowEvent } from "../../../src/run/events.ts";
import type { RunOptions } from "../../../src/run/run-options.ts";
import { openScratch } from "../../../src/run/scratch/open-scratch.ts";
import { asyncFileCalls } from "../../../src/stores/files/file-calls.ts";
import { processTag, thisProcess } from "../../../src/stores/files/process-record.node.ts";
import { MemoryStore, namedMemoryStore, nameMemoryStore } from "../../../src/stores/memory.ts";
import { product } from "../../../src/util/shape.ts";
import { temporaryFolder } from "../../stores/temporary-folder.ts";
import { contentsOf, keysOf } from "../../support/consume.ts";
import { given } from "../../support/given.ts";
import { withBucket } from "../../support/s3-environment.ts";
import { drawsAll, samples } from "../../support/samples.ts";

const places = temporaryFolder();
let scratch = "";

beforeEach(async () => {
  scratch = await mkdtemp(join(tmpdir(), "zarrflow-staged-"));
});

afterEach(async () => {
  expect(await readdir(scratch)).toEqual([]);
  await rm(scratch, { recursive: true });
  nameMemoryStore("staged", undefined);
});

/** Rows in memory, each a chunk; item `i` in C order is the number `i`. */
async function rowsOf(n: number): Promise<{ array: ZarrArray; items: Float64Array }> {
  const items = Float64Array.from({ length: n * n }, (_, i) => i);
  const store = await given({ shape: [n, n], dataType: "float64", chunks: [1, n], values: items });
  return { array: await openArray(store), items };
}

async function itemsOf(url: string): Promise<Float64Array> {
  return (await slice(url).read()).data as Float64Array;
}

const columns = (n: number) => ({ chunks: [n, 1], strategy: "staged" as const, scratch });

test("passes are one where pieces are large, and more where they would be tiny", async () => {
  const { array, items } = await rowsOf(250);
  const found: number[] = [];
  for (const maxMemory of [60_000, 1e6]) {
    const planned = await planFlow(array, "memory:staged", { ...columns(250), maxMemory });
    const { plan } = planned;
    const passes = plan.jobs[0]?.passes ?? [];
    found.push(passes.length);
    expect(plan.stages).toHaveLength(passes.length + 1);
    const foldersLeft: string[][] = [];
    const onEvent = (event: FlowEvent) => {
      if (event.type === "task-start" && event.task === plan.totals.tasks - 1) {
        const [folder = ""] = readdirSync(scratch);
        foldersLeft.push(readdirSync(join(scratch, folder)));
      }
    };
    const report = await runFlow(planned, { onEvent });
    expect(report.tasks).toBe(plan.totals.tasks);
    expect(report.chunksRead).toBe(250);
    expect(report.peakBuffers).toBeLessThanOrEqual(plan.totals.predictedPeak);
    expect(plan.totals.predictedPeak).toBeLessThanOrEqual(maxMemory);
    expect(foldersLeft).toEqual([[String(passes.length - 1), "owner.json"]]);
    expect(await itemsOf("memory:staged")).toEqual(items);
    nameMemoryStore("staged", undefined);
  }
  expect(found[0]).toBeGreaterThan(1);
  expect(found[1]).toBe(1);
});

test("as many items as are worth the kernels' heap are gathered and scattered in it", async () => {
  const n = 1500;
  const [rows, staged] = [places.next(), places.next()];
  const items = Float64Array.from({ length: n * n }, (_, i) => i);
  expect(items.byteLength).toBeGreaterThan(WORTH_A_HEAP);
  await given({ at: rows, shape: [n, n], dataType: "float64", chunks: [41, n], values: items });
  const options = { chunks: [n, 32], strategy: "staged", scratch, threads: 1 } as const;
  const planned = await planFlow(rows, staged, { ...options, maxMemory: 12e6 });
  expect(planned.plan.stages[1]).toBeGreaterThan(1);
  await runFlow(planned, {});
  const found = await itemsOf(staged);
  expect(found.length).toBe(items.length);
  expect(found.findIndex((item, i) => item !== items[i])).toBe(-1);
});

test("strings go through scratch objects, of any shape, and missing ones stay missing", async () => {
  const axis = fc.record({
    n: fc.integer({ min: 1, max: 14 }),
    from: fc.integer({ min: 1, max: 5 }),
    to: fc.integer({ min: 1, max: 6 }),
  });
  const words = fc.array(fc.oneof(fc.constant("empty"), fc.string({ unit: "grapheme", maxLength: 9 })), {
    minLength: 1,
    maxLength: 20,
  });
  let stagedRuns = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(axis, { minLength: 1, maxLength: 3 }), words, async (axes, some) => {
      const shape = axes.map(({ n }) => n);
      const values = Array.from({ length: product(shape) }, (_, i) => some[(i * i) % some.length] ?? "");
      const chunks = axes.map(({ from }) => from);
      const store = await given({ shape, dataType: "string", chunks, fillValue: "empty", values });
      const options = { chunks: axes.map(({ to }) => to), scratch, maxMemory: 2e6 };
      const array = await openArray(store);
      await rechunk(array, "memory:direct", { ...options, strategy: "direct" });
      const planned = await planFlow(array, "memory:staged", { ...options, strategy: "staged" });
      if (planned.plan.jobs[0]?.strategy === "staged") stagedRuns++;
      await runFlow(planned, {});
      const stores = ["direct", "staged"].map((name) => namedMemoryStore(name) ?? new MemoryStore());
      const [expected, found] = await Promise.all(stores.map((store) => contentsOf(store)));
      expect(found).toEqual(expected);
      expect([...(await slice("memory:staged").read()).data]).toEqual(values);
      for (const name of ["direct", "staged"]) nameMemoryStore(name, undefined);
    }),
    { numRuns: samples(60) },
  );
  // of a few, chance may choose none
  if (drawsAll) expect(stagedRuns).toBeGreaterThan(20);
});

describe("nothing is left", () => {
  async function failing(options: (planned: PlannedFlow, source: MemoryStore) => RunOptions) {
    const { array } = await rowsOf(200);
    const planned = await planFlow(array, "memory:staged", { ...columns(200), maxMemory: 400_000 });
    expect(planned.plan.stages).toHaveLength(2);
    const running = runFlow(planned, options(planned, array.store as MemoryStore));
    const error: unknown = await running.catch((thrown: unknown) => thrown);
    expect(namedMemoryStore("staged")).toBeUndefined();
    return error;
  }

  test.each(["written", "read"])("when a run is aborted while objects are %s", async (when) => {
    const stop = new AbortController();
    const reason = new Error("enough");
    const error = await failing(({ plan }) => {
      const first = when === "read" ? (plan.stages[0] ?? 0) + 1 : 1;
      const onEvent = (event: FlowEvent) =>
        void (event.type === "task-start" && event.task === first && stop.abort(reason));
      return { signal: stop.signal, onEvent };
    });
    expect(error).toMatchObject({ code: "aborted", cause: reason });
  });

  test("when scratch objects are taken away", async () => {
    const error = await failing(({ plan }) => ({
      onEvent: (event) => {
        if (event.type !== "task-start" || event.task !== (plan.stages[0] ?? 0)) return;
        for (const name of readdirSync(scratch)) rmSync(join(scratch, name, "0"), { recursive: true });
      },
    }));
    expect(error).toMatchObject({ code: "corrupt-store", details: { key: expect.stringMatching(/^0\//) } });
  });

  test("when the source is taken away", async () => {
    const error = await failing((_, source) => ({
      onEvent: (event) => {
        if (event.type !== "task-end" || event.task !== 0) return;
        void keysOf(source).then((keys) => Promise.all(keys.map((key) => source.delete(key))));
      },
    }));
    expect(error).toMatchObject({ code: "source-changed", details: { key: "zarr.json" } });
  });

  test("when the disk is full amid the run", async () => {
    const { write } = asyncFileCalls;
    let writes = 0;
    const full = vi.spyOn(asyncFileCalls, "write").mockImplementation(async (...args) => {
      if (++writes > 1) throw Object.assign(new Error("ENOSPC"), { code: "ENOSPC", syscall: "write" });
      return write(...args);
    });
    onTestFinished(() => full.mockRestore());
    const details = { path: "", store: expect.stringContaining(scratch) };
    expect(await failing(() => ({}))).toMatchObject({ code: "no-space", details });
  });

  test("when the disk is too small, which is reported before anything is read", async () => {
    const opened = openScratch({ place: { kind: "directory", path: scratch }, bytes: 1e18 });
    const details = { hint: expect.stringContaining("--scratch"), found: expect.stringContaining("free") };
    await expect(opened).rejects.toMatchObject({ code: "no-space", details });
  });
});

test("scratch objects may lie in memory, and nowhere that cannot be written", async () => {
  const { array, items } = await rowsOf(100);
  const options = { ...columns(100), maxMemory: 400_000 };
  await rechunk(array, "memory:staged", { ...options, scratch: "memory:anywhere" });
  expect(await itemsOf("memory:staged")).toEqual(items);
  nameMemoryStore("staged", undefined);
  const refused = rechunk(array, "memory:staged", { ...options, scratch: "https://example.org/x" });
  await expect(refused).rejects.toMatchObject({ code: "invalid-option" });
  expect(namedMemoryStore("staged")).toBeUndefined();
});

test("scratch objects may lie in a bucket, of which nothing stays", async () => {
  const { array, items } = await rowsOf(100);
  await withBucket(async ({ objects, requests }, bucket) => {
    const options = { ...columns(100), maxMemory: 60_000, scratch: `s3://${bucket}/some/where` };
    const fetch = vi.fn(globalThis.fetch);
    await rechunk(array, "memory:staged", { ...options, fetch });
    expect(await itemsOf("memory:staged")).toEqual(items);
    expect(fetch).toHaveBeenCalledTimes(requests.length);
    const put = requests
      .filter(({ method, key }) => method === "PUT" && !key.endsWith("-lock"))
      .map(({ key }) => key);
    expect(put.length).toBeGreaterThan(1);
    expect(put.every((key) => /^some\/where\/zarrflow-scratch-[0-9a-f]{12}\/0\/\d+$/.test(key))).toBe(true);
    expect(new Set(put).size).toBe(put.length);
    expect([...objects.keys()]).toEqual([]);
  });
});

test("scratch folders of other runs are removed where the run was killed, and left where it may go on", async () => {
  const make = async (name: string, owner?: object | "") => {
    await mkdir(join(scratch, name, "0"), { recursive: true });
    await writeFile(join(scratch, name, "0", "0"), "an object");
    if (owner === undefined) return;
    const text = owner && JSON.stringify({ keptBy: "", isJoint: false, ...owner });
    await writeFile(join(scratch, name, "owner.json"), text);
  };
  const { pid } = spawnSync(process.execPath, ["--version"]);
  const here = thisProcess();
  const ended = { ...here, pid };
  const [, tag = ""] = processTag().split(/^\d+x/);
  await make(".scratch.zarrflow-00000000000a", ended);
  // a number that another process has got since
  await make(".scratch.zarrflow-000000000003", { ...here, started: "1" });
  await make(".scratch.zarrflow-00000000000b");
  await utimes(join(scratch, ".scratch.zarrflow-00000000000b"), 1e9, 1e9);
  await make(`.scratch.zarrflow-00000000000f-${pid}x${tag}0`);
  await make(`.scratch.zarrflow-000000000004-${pid}x${tag}0`, "");
  await make(".scratch.zarrflow-000000000001", { ...ended, keptBy: "ledger in s3://bucket/mine" });
  const others = [
    [".scratch.zarrflow-00000000000c", here],
    [".scratch.zarrflow-00000000000d", { pid, host: "another-machine" }],
    [".scratch.zarrflow-00000000000e"],
    [`.scratch.zarrflow-00000000000e-${processTag()}0`],
    [".scratch.zarrflow-000000000002", { ...ended, keptBy: "ledger in s3://bucket/other" }],
    [".scratch.zarrflow-000000000005", { isJoint: true }],
    ["scratch.zarrflow", ended],
  ] as const;
  for (const [name, owner] of others) await make(name, owner);
  const place = { kind: "directory", path: scratch } as const;
  const opened = await openScratch({ place, bytes: 1, keptBy: "ledger in s3://bucket/mine" });
  await opened.remove();
  expect((await readdir(scratch)).sort()).toEqual(others.map(([name]) => name).sort());
  for (const [name] of others) await rm(join(scratch, name), { recursive: true });
});
