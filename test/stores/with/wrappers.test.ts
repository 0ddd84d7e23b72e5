import { mkdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, expectTypeOf, it, vi } from "vitest";
import { DirectoryStore } from "../../../src/stores/directory.ts";
import { MemoryStore } from "../../../src/stores/memory.ts";
import {
  type GetOptions,
  isListable,
  isWritable,
  type ListableStore,
  type Store,
  type WritableStore,
} from "../../../src/stores/store.ts";
import { type CacheOptions, withCache } from "../../../src/stores/with/cache.ts";
import { withConcurrencyLimit } from "../../../src/stores/with/concurrency-limit.ts";
import { withFolder, withWritableFolder } from "../../../src/stores/with/folder.ts";
import { type MergeOptions, withMergedRanges } from "../../../src/stores/with/merged-ranges.ts";
import { withRateLimit } from "../../../src/stores/with/rate-limit.ts";
import { type StoreRequest, withRequestLog } from "../../../src/stores/with/request-log.ts";
import { withRetry } from "../../../src/stores/with/retry.ts";
import { ZipWriter } from "../../../src/stores/zip.ts";
import { ZarrflowError } from "../../../src/util/errors.ts";
import { UnlistedStore } from "../../hierarchy/stores.ts";
import { all, drain, keysOf } from "../../support/consume.ts";
import { settled, until } from "../../support/until.ts";
import { MemorySink } from "../memory-sink.ts";
import { keepsPromises } from "../support.ts";
import { temporaryFolder } from "../temporary-folder.ts";

const folders = temporaryFolder();
const ONE = new Uint8Array(1);
const INVALID = { code: "invalid-option" };
const enough = new Error("enough");
const ABORTED = { code: "aborted", cause: enough };
const value = Uint8Array.from({ length: 10_000 }, (_, i) => i * 7 + (i >> 8));
const part = (offset: number, length: number) => value.slice(offset, offset + length);

describe.each<[string, (store: MemoryStore) => WritableStore & ListableStore]>([
  ["withCache", (store) => withCache(store)],
  ["withConcurrencyLimit", (store) => withConcurrencyLimit(store, 2)],
  ["withMergedRanges", (store) => withMergedRanges(store)],
  ["withRateLimit", (store) => withRateLimit(store, { requestsPerSecond: 1e6, bytesPerSecond: 1e12 })],
  ["withRequestLog", (store) => withRequestLog(store, () => {})],
  ["withRetry", (store) => withRetry(store)],
])("%s", (_, wrap) => {
  keepsPromises({ lists: true, empty: async () => wrap(new MemoryStore()) });
});

describe("withCache", () => {
  /** A cache of a store with the values `a`, `b` and `c` of 1000 bytes, and what was asked of that store. */
  const cached = async (options?: CacheOptions) => {
    const inner = new MemoryStore();
    for (const key of ["a", "b", "c"]) await inner.set(key, part(0, 1000));
    const asked: string[] = [];
    const logged = withRequestLog(inner, ({ operation, key }) => asked.push(`${operation} ${key}`));
    return { inner, asked, store: withCache(logged, options) };
  };

  it("asks once for a value, its parts, and a key that is missing, and gives copies, into buffers", async () => {
    const { store, asked } = await cached();
    for (let i = 0; i < 2; i++) {
      expect(await store.get("b", { range: { offset: 5, length: 2 } })).toEqual(part(5, 2));
      expect(await store.get("b", { range: { suffix: 3 } })).toEqual(part(997, 3));
      const whole = await store.get("a");
      expect(whole).toEqual(part(0, 1000));
      whole?.fill(0);
      expect(await store.get("a", { range: { offset: 998 } })).toEqual(part(998, 2));
      expect(await store.get("none")).toBeUndefined();
      expect(await store.get("none", { range: { suffix: 1 } })).toBeUndefined();
    }
    const buffer = new Uint8Array(1000);
    expect(await store.get("a", { allocate: () => buffer })).toBe(buffer);
    expect(buffer).toEqual(part(0, 1000));
    expect(asked).toEqual(["get b", "get b", "get a", "get none"]);
    const aborted = store.get("a", { signal: AbortSignal.abort(enough) });
    await expect(aborted).rejects.toMatchObject(ABORTED);
  });

  it.each([
    [2500, "abacab", "abcb"],
    [999, "aa", "aa"],
  ])("keeps no more than %i bytes: what was not used for longest goes", async (maxBytes, read, expected) => {
    const { store, asked } = await cached({ maxBytes });
    for (const key of read) expect(await store.get(key)).toEqual(part(0, 1000));
    expect(asked).toEqual([...expected].map((key) => `get ${key}`));
  });

  it("forgets what is written through it, in whatever way, and does not see what others write", async () => {
    const { store, inner } = await cached();
    const lengths = async () => {
      const found = [];
      for (const key of ["a", "b", "c", "d"]) found.push((await store.get(key))?.length);
      return found;
    };
    expect(await lengths()).toEqual([1000, 1000, 1000, undefined]);
    await inner.set("a", ONE);
    expect(await lengths()).toEqual([1000, 1000, 1000, undefined]);
    await store.set("a", ONE);
    await store.delete("b");
    const writer = await store.openWriter("c");
    await writer.write(part(0, 2));
    expect(await lengths()).toEqual([1, undefined, 1000, undefined]);
    await writer.commit();
    await store.rename?.("a", "d");
    expect(await lengths()).toEqual([undefined, undefined, 2, 1]);
  });

  it("forgets keys that are deleted together", async () => {
    const memory = new MemoryStore();
    const deleteMany = async (keys: readonly string[]) => {
      for (const key of keys) await memory.delete(key);
    };
    const store = withCache(Object.assign(memory, { deleteMany }));
    for (const key of ["a", "b"]) await store.set(key, ONE);
    expect(await store.get("b")).toEqual(ONE);
    await store.deleteMany(["a", "b"]);
    expect(await store.get("b")).toBeUndefined();
  });

  it("does not keep what was read while it was written", async () => {
    const inner = new MemoryStore();
    await inner.set("a", ONE);
    const waiting: (() => void)[] = [];
    const slow = Object.assign(Object.create(inner) as MemoryStore, {
      set: inner.set.bind(inner),
      async get(...request: Parameters<MemoryStore["get"]>) {
        const value = await inner.get(...request);
        await new Promise<void>((resolve) => waiting.push(resolve));
        return value;
      },
    });
    const store = withCache(slow);
    const letGo = async () => {
      await until(() => waiting.length === 1);
      waiting.shift()?.();
    };
    const before = store.get("a");
    await until(() => waiting.length === 1);
    await store.set("a", part(0, 2));
    await letGo();
    expect(await before).toHaveLength(1);
    const after = store.get("a");
    await letGo();
    expect(await after).toHaveLength(2);
  });

  it("refuses what is no size", () => {
    const make = () => withCache(new MemoryStore(), { maxBytes: "much" });
    expect(make).toThrow(expect.objectContaining(INVALID));
  });
});

describe("withConcurrencyLimit", () => {
  /** Reads take a while; tells how many are under way. */
  function slow() {
    const seen = { now: 0, most: 0, calls: 0 };
    const take = async () => {
      seen.calls++;
      seen.most = Math.max(seen.most, ++seen.now);
      await settled();
      seen.now--;
      return undefined;
    };
    const store: Store = { description: "slow", get: take, size: take };
    return { store, seen };
  }

  it("has no more calls under way than it may, and makes them all", async () => {
    const { store, seen } = slow();
    const limited = withConcurrencyLimit(store, 3);
    const calls = Array.from({ length: 20 }, (_, i) => (i % 2 ? limited.get(`${i}`) : limited.size(`${i}`)));
    await Promise.all(calls);
    expect(seen).toMatchObject({ most: 3, calls: 20 });
  });

  it("does not make calls that are aborted while they wait", async () => {
    const { store, seen } = slow();
    const limited = withConcurrencyLimit(store, 1);
    const controller = new AbortController();
    const first = limited.get("0");
    const waiting = limited.get("1", { signal: controller.signal });
    controller.abort(enough);
    await expect(waiting).rejects.toMatchObject(ABORTED);
    await first;
    expect(seen.calls).toBe(1);
  });

  it("keeps the capabilities of the store, and adds none", () => {
    const bare = withConcurrencyLimit(slow().store, 1);
    expect([isListable(bare), isWritable(bare), "close" in bare]).toEqual([false, false, false]);
    const memory = withConcurrencyLimit(new MemoryStore(), 1);
    expect([isListable(memory), isWritable(memory), memory.description]).toEqual([true, true, "memory"]);
    expectTypeOf(memory).toExtend<ListableStore & WritableStore>();
    const zip = withConcurrencyLimit(new ZipWriter(new MemorySink(), "zip"), 1);
    expect([isListable(zip), zip.singleWriter]).toEqual([false, true]);
  });

  it("lets an open writer of an archive go on while others wait for it", async () => {
    const zip = withConcurrencyLimit(new ZipWriter(new MemorySink(), "zip"), 1);
    const writer = await zip.openWriter("a");
    const other = zip.set("b", ONE);
    await writer.write(ONE);
    await writer.commit();
    await other;
  });

  it.each([0, -1, 1.5, Number.NaN])("refuses %s at once", (concurrency) => {
    const make = () => withConcurrencyLimit(new MemoryStore(), concurrency);
    expect(make).toThrow(expect.objectContaining(INVALID));
  });
});

describe("withMergedRanges", () => {
  /** A store that tells what was asked of it, and fails its next calls. */
  class AskedStore extends MemoryStore {
    readonly asked: string[] = [];
    readonly failures: Error[] = [];
    readonly signals: (AbortSignal | undefined)[] = [];

    override async get(key: string, options: GetOptions = {}) {
      const { range } = options;
      this.asked.push(range && "offset" in range ? `${key} ${range.offset}+${range.length}` : key);
      this.signals.push(options.signal);
      await settled();
      const failure = this.failures.shift();
      if (failure) throw failure;
      return super.get(key, options);
    }
  }
  async function storeOf(options?: MergeOptions) {
    const inner = new AskedStore();
    for (const key of ["a", "b"]) await inner.set(key, value);
    const store = withMergedRanges(inner, options);
    const ask = (offset: number, length = 1, more: GetOptions = {}, key = "a") =>
      store.get(key, { range: { offset, length }, ...more });
    return { inner, store, ask };
  }

  it("reads near ranges of a value in one request, in whatever order, also where they overlap", async () => {
    const { inner, ask } = await storeOf({ mostBetween: 100 });
    const ranges = [
      [500, 50],
      [0, 10],
      [100, 20],
      [105, 5],
      [9990, 100],
      [9000, 10],
    ] as const;
    const read = await Promise.all(ranges.map(([offset, length]) => ask(offset, length)));
    expect(read).toEqual(ranges.map(([offset, length]) => part(offset, length)));
    expect(inner.asked).toEqual(["a 0+120", "a 500+50", "a 9000+10", "a 9990+100"]);
  });

  it("reads no more together than it may", async () => {
    const { inner, ask } = await storeOf({ mostTogether: 1000 });
    await Promise.all([0, 400, 800, 1200].map((offset) => ask(offset, 300)));
    expect(inner.asked).toEqual(["a 0+700", "a 800+700"]);
  });

  it("keeps values apart, does not touch other questions, and finds a missing key missing for all", async () => {
    const { inner, store, ask } = await storeOf();
    const others = [{}, { range: { suffix: 5 } }, { range: { offset: 9000 } }];
    await Promise.all([ask(1, 2), ask(1, 2, {}, "b"), ...others.map((options) => store.get("a", options))]);
    expect(inner.asked.splice(0).sort()).toEqual(["a", "a", "a 1+2", "a 9000+undefined", "b 1+2"]);
    expect(await Promise.all([ask(0, 1, {}, "none"), ask(5, 1, {}, "none")])).toEqual([undefined, undefined]);
    expect(inner.asked).toEqual(["none 0+6"]);
  });

  it("gives each range a buffer of its own, the one that it was given, cut at the end of the value", async () => {
    const { ask } = await storeOf();
    const buffer = new Uint8Array(10);
    const [first, last] = await Promise.all([ask(9980, 10, { allocate: () => buffer }), ask(9985, 100)]);
    expect(first).toBe(buffer);
    expect(first).toEqual(part(9980, 10));
    first?.fill(0);
    expect(last).toEqual(part(9985, 15));
  });

  it("asks for each range alone where they could not be read together", async () => {
    const { inner, ask } = await storeOf();
    inner.failures.push(new ZarrflowError("transient", "not now"), new ZarrflowError("transient", "nor now"));
    const [first, second] = await Promise.allSettled([ask(0), ask(5)]);
    expect(inner.asked).toEqual(["a 0+6", "a 0+1", "a 5+1"]);
    expect(first).toMatchObject({ status: "rejected", reason: { reason: "nor now" } });
    expect(second).toEqual({ status: "fulfilled", value: part(5, 1) });
  });

  it("goes on for the others when one is aborted, and stops when all are", async () => {
    const { inner, ask } = await storeOf();
    const [one, two] = [new AbortController(), new AbortController()];
    const reading = [ask(0, 1, { signal: one.signal }), ask(5, 1, { signal: two.signal })];
    const last = expect(reading[1]).rejects.toMatchObject({ code: "aborted", cause: "all of it" });
    await until(() => inner.signals.length > 0);
    one.abort(enough);
    await expect(reading[0]).rejects.toMatchObject(ABORTED);
    expect(inner.signals[0]?.aborted).toBe(false);
    two.abort("all of it");
    expect(inner.signals[0]?.aborted).toBe(true);
    await last;
    await expect(ask(0, 1, { signal: AbortSignal.abort(enough) })).rejects.toMatchObject(ABORTED);
  });
});

describe("withRateLimit", () => {
  // time passes as fast as those who wait for it
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] });
    vi.setTimerTickMode("nextTimerAsync");
  });
  afterEach(() => void vi.useRealTimers());

  /** A store of values of `length` bytes; tells when it was asked, in milliseconds from the first time. */
  function timed(length: number): { store: Store; times: number[] } {
    const times: number[] = [];
    let first: number | undefined;
    const get = async () => {
      first ??= performance.now();
      times.push(performance.now() - first);
      return new Uint8Array(length);
    };
    return { store: { description: "timed", get, size: async () => length }, times };
  }

  it("begins no more requests a second than it may, evenly, however many are asked for at once", async () => {
    const { store, times } = timed(1);
    const limited = withRateLimit(store, { requestsPerSecond: 50 });
    await Promise.all(Array.from({ length: 10 }, (_, i) => limited.get(`${i}`)));
    expect(times).toEqual(Array.from({ length: 10 }, (_, i) => i * 20));
  });

  it("reads no more bytes a second than it may, though lengths are not known before", async () => {
    const { store, times } = timed(50_000);
    const limited = withRateLimit(store, { bytesPerSecond: 1e6 });
    for (let i = 0; i < 5; i++) await limited.get(`${i}`);
    for (const [i, time] of times.entries()) expect(time).toBeGreaterThan(i * 50 - 20);
    expect(times.at(-1)).toBeLessThan(2000);
  });

  it("writes no more bytes a second than it may, at once or piece by piece", async () => {
    const limited = withRateLimit(new MemoryStore(), { bytesPerSecond: 1e6 });
    const started = performance.now();
    await limited.set("a", new Uint8Array(60_000));
    const writer = await limited.openWriter("b");
    for (const length of [60_000, 1]) await writer.write(new Uint8Array(length));
    await writer.commit();
    expect(performance.now() - started).toBeGreaterThan(115);
    expect(await limited.size("b")).toBe(60_001);
  });

  it("counts a listing, and a value written piece by piece, as one request", async () => {
    const memory = new MemoryStore();
    for (let i = 0; i < 50; i++) await memory.set(`${i}`, ONE);
    const limited = withRateLimit(memory, { requestsPerSecond: 20 });
    const started = performance.now();
    expect(await keysOf(limited)).toHaveLength(50);
    const writer = await limited.openWriter("b");
    for (let i = 0; i < 50; i++) await writer.write(ONE);
    await writer.commit();
    expect(performance.now() - started).toBeLessThan(1000);
  });

  it("does not make a call that is aborted while it waits", async () => {
    const { store, times } = timed(1);
    const limited = withRateLimit(store, { requestsPerSecond: 2 });
    await limited.get("0");
    const controller = new AbortController();
    const waiting = limited.get("1", { signal: controller.signal });
    controller.abort(enough);
    await expect(waiting).rejects.toMatchObject(ABORTED);
    expect(times).toHaveLength(1);
  });

  it.each([0, -1, Number.NaN, Number.POSITIVE_INFINITY])("refuses %s at once", (rate) => {
    for (const limits of [{ requestsPerSecond: rate }, { bytesPerSecond: rate }]) {
      const make = () => withRateLimit(new MemoryStore(), limits);
      expect(make).toThrow(expect.objectContaining(INVALID));
    }
  });
});

it("withRequestLog reports each request that succeeded, with its bytes", async () => {
  const requests: StoreRequest[] = [];
  const store = withRequestLog(new MemoryStore(), (request) => requests.push(request));
  await store.set("a/0", new Uint8Array(10));
  await store.get("a/0");
  await store.get("a/0", { range: { offset: 8 } });
  for (const key of ["none", "a/0"]) await store.size(key);
  await store.get("none");
  await expect(store.get("../x")).rejects.toThrow("`..`");
  const writer = await store.openWriter("b");
  await writer.write(new Uint8Array(4));
  await writer.commit();
  await store.delete("b");
  await drain(store.list("a/"));
  await store.listDirectory("").cancel();
  const seen = requests.map(({ operation, key, bytes }) => `${operation} ${key} ${bytes}`);
  expect(seen.slice(0, 6).join()).toBe(
    "set a/0 10,get a/0 10,get a/0 2,size none undefined,size a/0 0,get none undefined",
  );
  expect(seen.slice(6).join()).toBe("open b 0,write b 4,commit b 0,delete b 0,list a/ 0");
});

describe("withFolder", () => {
  it("is a store of the keys in a folder", async () => {
    const whole = new MemoryStore();
    for (const key of ["a/b", "a/c/d", "ab/c", "e"]) await whole.set(key, Uint8Array.of(key.length));
    const store = withFolder(whole, "a");
    expect([await store.get("c/d"), await store.size("b")]).toEqual([Uint8Array.of(5), 1]);
    expect(await store.get("e")).toBeUndefined();
    expect([store.description, isWritable(store)]).toEqual(["a in memory", false]);
    expect(await keysOf(store)).toEqual(["b", "c/d"]);
    if (!isListable(store)) throw new Error("cannot list");
    expect(await all(store.list("c/"))).toMatchObject([{ key: "c/d", size: 1 }]);
    expect(await all(store.listDirectory(""))).toMatchObject([{ key: "b" }, { prefix: "c/" }]);
  });

  it("reports what cannot be read by its names", async () => {
    const root = folders.next();
    mkdirSync(join(root, "a/b"), { recursive: true });
    symlinkSync("nowhere", join(root, "a/b/link"));
    const store = withFolder(new DirectoryStore(root), "a");
    if (!isListable(store)) throw new Error("cannot list");
    for (const [list, prefix] of [
      [store.list, ""],
      [store.listDirectory, "b/"],
    ] as const) {
      const told: string[] = [];
      await drain(list(prefix, { onUnreadable: (name) => told.push(name) }));
      expect(told).toEqual(["b/link"]);
      await expect(drain(list(prefix))).rejects.toMatchObject({ code: "corrupt-store" });
    }
  });

  it("lists and closes as the whole store does", async () => {
    const close = vi.fn(async () => {});
    const folder = withFolder(Object.assign(new UnlistedStore(new MemoryStore()), { close }), "a");
    expect(isListable(folder)).toBe(false);
    await folder.close?.();
    expect(close).toHaveBeenCalledOnce();
  });

  it("is written too, where that is asked for, and keeps what its store can do", async () => {
    const whole = new MemoryStore();
    await whole.set("b/c", ONE);
    const store = withWritableFolder(whole, "a");
    await store.set("x", ONE);
    const writer = await store.openWriter("y/z");
    await writer.write(ONE);
    await writer.commit();
    await store.rename?.("x", "w");
    await store.delete("c");
    expect(await keysOf(whole)).toEqual(["a/w", "a/y/z", "b/c"]);
    await store.delete("w");
    expect(await whole.get("a/w")).toBeUndefined();
    expect([store.setIfAbsent, store.deleteMany]).toEqual([undefined, undefined]);
  });
});
