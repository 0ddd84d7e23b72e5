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
import { emitRetry } from "../../src/stores/remote/retry-requests.ts";
import { bytesOf, drain } from "../support/consume.ts";
import { given } from "../support/given.ts";

let source: MemoryStore;
beforeAll(async () => {
  const grid = { shape: [64, 64], chunks: [8, 64], dimensionNames: ["y", "x"] };
  source = await given({ ...grid, dataType: "int32" });
});

const chunks = { y: 64, x: 8 };
const into = () => new MemoryStore();

describe("memory", () => {
  /** Runs `count` calls at one time, and gives the most that these held together. */
  async function mostHeldBy(count: number, shared: ReturnType<typeof context>): Promise<number> {
    const held: number[] = [];
    const onEvent = () => held.push(shared.memoryInUse);
    const options = { context: shared, maxMemory: 60_000, chunks, threads: 1, onEvent };
    const calls = Array.from({ length: count }, () => rechunk(source, into(), options));
    for (const { tasks } of await Promise.all(calls)) expect(tasks).toBeGreaterThan(0);
    expect(shared.memoryInUse).toBe(0);
    return Math.max(...held);
  }

  test("of calls at one time is no exceeds the memory of the context, and calls that fit run side by side", async () => {
    const small = context({ maxMemory: 100_000 });
    expect(await mostHeldBy(6, small)).toBeGreaterThan(0);
    expect(small.peakMemory).toBeLessThanOrEqual(100_000);
    const { plan: planned, close } = await plan(source, into(), { maxMemory: 60_000, chunks });
    await close();
    const most = await mostHeldBy(3, context({ maxMemory: 200_000 }));
    expect(most).toBeGreaterThanOrEqual(2 * planned.totals.predictedPeak);
  });

  test("of slices is shared by their chunks", async () => {
    const shared = context({ maxMemory: 40_000 });
    const array = await openArray(source);
    const reads = Array.from({ length: 8 }, () => slice(array, {}, { context: shared }).read());
    expect(new Set((await Promise.all(reads)).map(({ data }) => String(data))).size).toBe(1);
    expect(shared.peakMemory).toBeGreaterThan(0);
    expect(shared.peakMemory).toBeLessThanOrEqual(40_000);
    expect(shared.memoryInUse).toBe(0);
  });

  test("is given back by all that read, and by what fails or is dropped", async () => {
    const shared = context({ maxMemory: "1MB" });
    const how = { context: shared };
    await drain(digest(source, how));
    await drain(diff(source, source, how));
    await drain(validate(source, { ...how, deep: true }));
    await bytesOf(slice(source, {}, how).bytes());
    for await (const _ of slice(source, {}, how).chunks()) break;
    await expect(drain(diff(source, into(), how))).rejects.toMatchObject({ code: "not-found" });
    const aborted = copy(source, into(), { ...how, signal: AbortSignal.abort() });
    await expect(aborted).rejects.toMatchObject({ code: "aborted" });
    const other = await given({ shape: [1], dataType: "int8" });
    await expect(copy(source, other, how)).rejects.toMatchObject({ code: "target-exists" });
    expect(shared.memoryInUse).toBe(0);
  });

  test("of what stays open is taken until that is closed, and never waited for", async () => {
    const shared = context({ maxMemory: "1MB" });
    await expect(asStore(source, { context: shared })).rejects.toThrow("need their own `maxMemory`");
    const large = { context: shared, maxMemory: "600kB" };
    const store = await asStore(source, { ...large, chunks });
    expect(shared.memoryInUse).toBe(600_000);
    await expect(asStore(source, large)).rejects.toMatchObject({ code: "budget-too-small" });
    await copy(store, into(), { context: shared, maxMemory: "300kB" });
    await store.close?.();
    expect(shared.memoryInUse).toBe(0);
  });
});

describe("events", () => {
  test("of all calls reach the context, once each, besides the call's own listener", async () => {
    const [heard, own]: [string[], string[]] = [[], []];
    const shared = context({ onEvent: ({ type }) => heard.push(type) });
    await copy(source, into(), { context: shared, onEvent: ({ type }) => own.push(type) });
    await rechunk(source, into(), { context: shared, chunks });
    expect(own.filter((type) => type === "done")).toHaveLength(1);
    expect(heard.filter((type) => type === "done")).toHaveLength(2);
    expect(heard.slice(0, own.length)).toEqual(own);
  });

  test("of a request that is made again come once, whatever is at work", async () => {
    const heard: string[] = [];
    const shared = context({ onEvent: ({ type }) => heard.push(type) });
    const retry = { store: "s", operation: "GET", key: "k", error: new Error(), attempt: 1, wait: 0 };
    let isTold = false;
    const onEvent = ({ type }: FlowEvent) => {
      if (type !== "plan" || isTold) return;
      isTold = true;
      emitRetry(retry as never);
    };
    await Promise.all([1, 2].map(() => copy(source, into(), { context: shared, onEvent })));
    expect(heard.filter((type) => type === "retry")).toHaveLength(1);
  });
});

describe("what a call states itself", () => {
  test("counts for it in place of the context's", async () => {
    const asked = new Set<string>();
    const fetchBy = (name: string) =>
      (async () => {
        asked.add(name);
        return new Response("", { status: 404 });
      }) as typeof fetch;
    const how = { context: context({ fetch: fetchBy("shared") }) };
    const url = "http://127.0.0.1:9/a.zarr";
    await expect(open(url, how)).rejects.toMatchObject({ code: "not-found" });
    expect([...asked]).toEqual(["shared"]);
    asked.clear();
    await expect(open(url, { ...how, fetch: fetchBy("own") })).rejects.toMatchObject({ code: "not-found" });
    expect([...asked]).toEqual(["own"]);
  });

  test("may not be a limit that all calls have together", async () => {
    const shared = context({ concurrency: 4, requestsPerSecond: 100, maxMemory: "1MB" });
    for (const [options, words] of [
      [{ concurrency: 8 }, "`concurrency` is a limit of the context"],
      [{ requestsPerSecond: 1 }, "`requestsPerSecond` is a limit of the context"],
      [{ maxMemory: "2MB" }, "exceeds the memory of the context"],
    ] as const)
      await expect(copy(source, into(), { context: shared, ...options })).rejects.toThrow(words);
    const appended = append(source, source, { dim: "y", context: shared });
    await expect(appended).rejects.toThrow("cannot obey the `requestsPerSecond`");
  });

  test("may not be something else than a context", async () => {
    const other = { maxMemory: 1 } as never;
    await expect(copy(source, into(), { context: other })).rejects.toMatchObject({
      code: "invalid-option",
      details: { expected: "what `context` returns" },
    });
    expect(() => context({ maxMemry: 1 } as object)).toThrow("unknown option");
    expect(() => context({ maxMemory: "lots" })).toThrow("lots");
    expect(() => context({ requestsPerSecond: 0 })).toThrow("requestsPerSecond");
  });

  test("does not include how a source is opened that is open", async () => {
    const shared = context({ headers: { authorization: "x" } });
    const { data } = await slice(await openArray(source), "0:1", { context: shared }).read();
    expect(data).toHaveLength(64);
  });
});
