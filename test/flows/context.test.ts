import { beforeAll, describe, expect, test } from "vitest";
import {
  append,
  asStore,
  context,
  copy,
  diff,
  digest,
  type FlowEvent,
  open,
  openArray,
  plan,
  rechunk,
  slice,
  validate,
} from "../../src/index.ts";
import { MemoryStore } from "../../src/stores/memory.ts";
import { emitRetry } from "../../src/stores/remote/retry-events.ts";
import { all } from "../support/consume.ts";
import { given } from "../support/given.ts";

let source: MemoryStore;

beforeAll(async () => {
  source = await given({
    shape: [64, 64],
    chunks: [8, 64],
    dataType: "int32",
    dimensionNames: ["y", "x"],
    values: (index) => index,
  });
});

const chunks = { y: 64, x: 8 };

describe("memory", () => {
  test("of calls at one time is no more than the context has", async () => {
    const shared = context({ maxMemory: 100_000 });
    const held: number[] = [];
    const onEvent = () => held.push(shared.memoryInUse);
    const calls = Array.from({ length: 6 }, () =>
      rechunk(source, new MemoryStore(), { context: shared, maxMemory: 60_000, chunks, threads: 1, onEvent }),
    );
    const reports = await Promise.all(calls);
    expect(reports.map(({ tasks }) => tasks > 0)).not.toContain(false);
    expect(Math.max(...held)).toBeGreaterThan(0);
    expect(shared.peakMemory).toBeLessThanOrEqual(100_000);
    expect(shared.memoryInUse).toBe(0);
  });

  test("lets calls run side by side that fit", async () => {
    const shared = context({ maxMemory: 200_000 });
    const { plan: planned, close } = await plan(source, new MemoryStore(), { maxMemory: 60_000, chunks });
    await close();
    const at: Promise<unknown>[] = [];
    let most = 0;
    const onEvent = () => {
      most = Math.max(most, shared.memoryInUse);
    };
    for (let i = 0; i < 3; i++) {
      at.push(
        rechunk(source, new MemoryStore(), {
          context: shared,
          maxMemory: 60_000,
          chunks,
          threads: 1,
          onEvent,
        }),
      );
    }
    await Promise.all(at);
    expect(most).toBeGreaterThanOrEqual(2 * planned.totals.predictedPeak);
  });

  test("of slices is shared by their chunks", async () => {
    const shared = context({ maxMemory: 40_000 });
    const array = await openArray(source);
    const read = await Promise.all(
      Array.from({ length: 8 }, () => slice(array, {}, { context: shared }).read()),
    );
    expect(new Set(read.map(({ data }) => String(data))).size).toBe(1);
    expect(shared.peakMemory).toBeGreaterThan(0);
    expect(shared.peakMemory).toBeLessThanOrEqual(40_000);
    expect(shared.memoryInUse).toBe(0);
  });

  test("is given back by all that read, and by what fails or is dropped", async () => {
    const shared = context({ maxMemory: "1MB" });
    const how = { context: shared };
    await all(digest(source, how));
    await all(diff(source, source, how));
    await all(validate(source, { ...how, deep: true }));
    await new Response(slice(source, {}, how).bytes()).arrayBuffer();
    for await (const _ of slice(source, {}, how).chunks()) break;
    await expect(all(diff(source, new MemoryStore(), how))).rejects.toMatchObject({ code: "not-found" });
    const aborted = { ...how, signal: AbortSignal.abort() };
    await expect(copy(source, new MemoryStore(), aborted)).rejects.toMatchObject({ code: "aborted" });
    await expect(copy(source, await given({ shape: [1], dataType: "int8" }), how)).rejects.toThrow();
    expect(shared.memoryInUse).toBe(0);
  });

  test("of what stays open is taken until that is closed, and never waited for", async () => {
    const shared = context({ maxMemory: "1MB" });
    await expect(asStore(source, { context: shared })).rejects.toThrow("needs a `maxMemory` of its own");
    const store = await asStore(source, { context: shared, maxMemory: "600kB", chunks });
    expect(shared.memoryInUse).toBe(600_000);
    await expect(asStore(source, { context: shared, maxMemory: "600kB" })).rejects.toMatchObject({
      code: "budget-too-small",
    });
    await copy(store, new MemoryStore(), { context: shared, maxMemory: "300kB" });
    await store.close?.();
    expect(shared.memoryInUse).toBe(0);
  });
});

describe("events", () => {
  test("of all calls reach the context, once each, besides the call's own listener", async () => {
    const heard: FlowEvent["type"][] = [];
    const own: FlowEvent["type"][] = [];
    const shared = context({ onEvent: ({ type }) => heard.push(type) });
    await copy(source, new MemoryStore(), { context: shared, onEvent: ({ type }) => own.push(type) });
    await rechunk(source, new MemoryStore(), { context: shared, chunks });
    expect(own.filter((type) => type === "done")).toHaveLength(1);
    expect(heard.filter((type) => type === "done")).toHaveLength(2);
    expect(heard.slice(0, own.length)).toEqual(own);
  });

  test("of a request that is made again come once, whatever is at work", async () => {
    const retries: FlowEvent[] = [];
    const retry = { store: "s", operation: "GET", key: "k", error: new Error(), attempt: 1, wait: 0 };
    const onEvent = (event: FlowEvent) => {
      if (event.type === "retry") retries.push(event);
    };
    const shared = context({ onEvent });
    let isTold = false;
    const tell = ({ type }: FlowEvent) => {
      if (type !== "plan" || isTold) return;
      isTold = true;
      emitRetry(retry as never);
    };
    const calls = [1, 2].map(() => copy(source, new MemoryStore(), { context: shared, onEvent: tell }));
    await Promise.all(calls);
    expect(retries).toHaveLength(1);
  });
});

describe("what a call states itself", () => {
  test("counts for it in place of the context's", async () => {
    const asked: string[] = [];
    const fetchBy = (name: string) => async (url: string | URL | Request) => {
      asked.push(`${name} ${new URL(url instanceof Request ? url.url : url).pathname}`);
      return new Response("", { status: 404 });
    };
    const shared = context({ fetch: fetchBy("shared") as typeof fetch });
    const url = "http://127.0.0.1:9/a.zarr";
    await expect(open(url, { context: shared })).rejects.toMatchObject({ code: "not-found" });
    expect(new Set(asked.map((line) => line.split(" ")[0]))).toEqual(new Set(["shared"]));
    asked.length = 0;
    await expect(open(url, { context: shared, fetch: fetchBy("own") as typeof fetch })).rejects.toMatchObject(
      { code: "not-found" },
    );
    expect(new Set(asked.map((line) => line.split(" ")[0]))).toEqual(new Set(["own"]));
  });

  test("may not be a limit that all calls have together", async () => {
    const shared = context({ concurrency: 4, requestsPerSecond: 100, maxMemory: "1MB" });
    const to = () => new MemoryStore();
    await expect(copy(source, to(), { context: shared, concurrency: 8 })).rejects.toThrow(
      "`concurrency` is a limit of the context",
    );
    await expect(copy(source, to(), { context: shared, requestsPerSecond: 1 })).rejects.toThrow(
      "`requestsPerSecond` is a limit of the context",
    );
    await expect(copy(source, to(), { context: shared, maxMemory: "2MB" })).rejects.toThrow(
      "more than the context has",
    );
    await expect(append(source, source, { dim: "y", context: shared })).rejects.toThrow(
      "cannot keep to the `requestsPerSecond`",
    );
  });

  test("may not be something else than a context", async () => {
    const other = { maxMemory: 1 };
    await expect(copy(source, new MemoryStore(), { context: other as never })).rejects.toMatchObject({
      code: "invalid-option",
      details: { expected: "what `context` returns" },
    });
    expect(() => context({ maxMemry: 1 } as object)).toThrow("unknown option");
    expect(() => context({ maxMemory: "lots" })).toThrow();
    expect(() => context({ requestsPerSecond: 0 })).toThrow();
  });

  test("does not include how a source is opened that is open", async () => {
    const shared = context({ headers: { authorization: "x" } });
    const { data } = await slice(await openArray(source), "0:1", { context: shared }).read();
    expect(data).toHaveLength(64);
  });
});
