import { afterEach, describe, expect, it, vi } from "vitest";
import { MemoryStore } from "../../../src/stores/memory.ts";
import { type Retry, withRetry } from "../../../src/stores/with/retry.ts";
import { ZarrflowError } from "../../../src/util/errors.ts";
import { writableStoreChecks } from "../writable-store-checks.ts";

/** A store whose calls fail with `errors`, one after the other, before they succeed. */
class FailingStore extends MemoryStore {
  readonly errors: ZarrflowError[] = [];
  readonly buffers: Uint8Array[] = [];

  override async get(...[key, options = {}]: Parameters<MemoryStore["get"]>) {
    const buffer = options.allocate?.(3);
    if (buffer) this.buffers.push(buffer);
    this.#fail();
    return super.get(key, { ...options, ...(buffer && { allocate: () => buffer }) });
  }

  override async set(...args: Parameters<MemoryStore["set"]>) {
    this.#fail();
    return super.set(...args);
  }

  #fail() {
    const error = this.errors.shift();
    if (error) throw error;
  }
}

afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

const transient = (details = {}) => new ZarrflowError("transient", "not now", details);

describe("withRetry", () => {
  for (const { name, run } of writableStoreChecks(async () => withRetry(new MemoryStore())))
    it(name, () => run());

  const failing = (options = {}) => {
    const failures = new FailingStore();
    const retries: Retry[] = [];
    const onRetry = (retry: Retry) => void retries.push(retry);
    return { failures, retries, store: withRetry(failures, { firstWait: 4, onRetry, ...options }) };
  };

  it("makes a call again until it succeeds, with the same buffer", async () => {
    const { failures, retries, store } = failing();
    await store.set("a", new Uint8Array(3));
    failures.errors.push(transient(), new ZarrflowError("short-read", "cut"), transient());
    expect(await store.get("a")).toEqual(new Uint8Array(3));
    expect(new Set(failures.buffers).size).toBe(1);
    expect(
      retries.map(({ operation, key, attempt, error }) => [operation, key, attempt, error.code]),
    ).toEqual([
      ["get", "a", 1, "transient"],
      ["get", "a", 2, "short-read"],
      ["get", "a", 3, "transient"],
    ]);
    for (const { wait, attempt } of retries) expect(wait).toBeLessThanOrEqual(4 * 2 ** (attempt - 1));
  });

  it("gives up with the last error", async () => {
    const { failures, retries, store } = failing({ attempts: 3 });
    const errors = [transient(), transient(), transient()];
    failures.errors.push(...errors);
    await expect(store.set("a", new Uint8Array(1))).rejects.toBe(errors[2]);
    expect(retries).toHaveLength(2);
  });

  it("outlives an outage of 10 s, but not that a store is not there from the begin", async () => {
    vi.useFakeTimers();
    const { failures, retries, store } = failing({ firstWait: 200 });
    const failingCall = async () => {
      retries.length = 0;
      failures.errors.push(...Array.from({ length: 20 }, () => transient()));
      const begun = Date.now();
      const outcome = store.set("a", new Uint8Array(1)).catch(({ code }) => code);
      await vi.runAllTimersAsync();
      expect(await outcome).toBe("transient");
      failures.errors.length = 0;
      return Date.now() - begun;
    };
    vi.spyOn(Math, "random").mockReturnValue(0.5);
    expect(await failingCall()).toBeLessThan(3000);
    expect(retries).toHaveLength(4);
    await store.set("a", new Uint8Array(1));
    const outlived = await failingCall();
    expect(outlived).toBeGreaterThan(10_000);
    expect(outlived).toBeLessThan(30_000);
    expect(retries).toHaveLength(8);
  });

  it("does not repeat what will not change", async () => {
    const { failures, retries, store } = failing();
    failures.errors.push(new ZarrflowError("access-denied", "no"));
    await expect(store.get("a")).rejects.toMatchObject({ code: "access-denied" });
    expect(retries).toEqual([]);
  });

  it("waits as long as the server says, unless that is too long", async () => {
    vi.useFakeTimers();
    const { failures, retries, store } = failing({ longestWait: 2000 });
    failures.errors.push(transient({ retryAfter: 1 }), transient({ retryAfter: 3 }));
    const ended = expect(store.get("a")).rejects.toMatchObject({ details: { retryAfter: 3 } });
    await vi.advanceTimersByTimeAsync(999);
    expect(failures.errors).toHaveLength(1);
    await vi.advanceTimersByTimeAsync(1);
    await ended;
    expect(retries.map(({ wait }) => wait)).toEqual([1000]);
  });

  it("stops waiting when it is aborted", async () => {
    const { failures, store } = failing({ firstWait: 1e6, longestWait: 1e6 });
    failures.errors.push(transient({ retryAfter: 500 }));
    const abort = new AbortController();
    const reading = store.get("a", { signal: abort.signal });
    setImmediate(() => abort.abort(new Error("enough")));
    await expect(reading).rejects.toMatchObject({ code: "aborted", cause: new Error("enough") });
  });
});
