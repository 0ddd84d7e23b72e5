import { afterEach, describe, expect, it, vi } from "vitest";
import { MemoryStore } from "../../../src/stores/memory.ts";
import { type Retry, withRetry } from "../../../src/stores/with/retry.ts";
import { ZarrflowError } from "../../../src/util/errors.ts";

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
  const failing = (options = {}) => {
    const failures = new FailingStore();
    const retries: Retry[] = [];
    const onRetry = (retry: Retry) => void retries.push(retry);
    return { failures, retries, store: withRetry(failures, { firstWait: "4ms", onRetry, ...options }) };
  };

  it("makes a call again until it succeeds, with the same buffer", async () => {
    const { failures, retries, store } = failing();
    await store.set("a", new Uint8Array(3));
    failures.errors.push(transient(), new ZarrflowError("short-read", "cut"), transient());
    expect(await store.get("a")).toEqual(new Uint8Array(3));
    expect(new Set(failures.buffers).size).toBe(1);
    const told = retries.map(
      ({ operation, key, attempt, error }) => `${operation} ${key} ${attempt} ${error.code}`,
    );
    expect(told).toEqual(["get a 1 transient", "get a 2 short-read", "get a 3 transient"]);
    for (const { wait, attempt } of retries) expect(wait).toBeLessThanOrEqual(4 * 2 ** (attempt - 1));
  });

  it("gives up with the last error, at once where it will not change", async () => {
    const { failures, retries, store } = failing({ attempts: 3 });
    const errors = [transient(), transient(), transient()];
    failures.errors.push(...errors);
    await expect(store.set("a", new Uint8Array(1))).rejects.toBe(errors[2]);
    expect(retries).toHaveLength(2);
    failures.errors.push(new ZarrflowError("access-denied", "no"));
    await expect(store.get("a")).rejects.toMatchObject({ code: "access-denied" });
    expect(retries).toHaveLength(2);
  });

  it.each([
    ["a second or so", 0.2, [5, 1]],
    ["as long as it may", 1, [5, 3]],
  ])("gives up within a stated time, after pauses of %s", async (_, random, [fewest, seconds]) => {
    vi.useFakeTimers();
    vi.spyOn(Math, "random").mockReturnValue(random);
    const { failures, store } = failing({ firstWait: undefined });
    const failingCall = async () => {
      failures.errors.push(...Array.from({ length: 20 }, () => transient()));
      const begun = Date.now();
      const outcome = store.set("a", new Uint8Array(1)).catch((error) => error);
      await vi.runAllTimersAsync();
      const { code, details, message } = await outcome;
      const passed = (Date.now() - begun) / 1000;
      expect(code).toBe("transient");
      expect(details.seconds).toBeCloseTo(passed, 0);
      expect(message).toContain(`${details.attempts} attempts in ${details.seconds} s`);
      failures.errors.length = 0;
      return { passed, attempts: details.attempts };
    };
    const unknown = await failingCall();
    expect(unknown.passed).toBeLessThanOrEqual(3);
    expect(unknown.passed).toBeGreaterThanOrEqual(seconds ?? 0);
    expect(unknown.attempts).toBeGreaterThanOrEqual(fewest ?? 0);
    await store.set("a", new Uint8Array(1));
    expect((await failingCall()).passed).toBeLessThanOrEqual(15);
    await vi.advanceTimersByTimeAsync(60_000);
    const later = await failingCall();
    expect(later.attempts).toBe(9);
    expect(later.passed).toBeLessThanOrEqual(46);
  });

  it.each([
    [{ found: "503 SlowDown", overload: true }, 10, 15],
    [{ found: "500 Internal Server Error" }, 10, 15],
    [{ found: "ECONNREFUSED" }, 2, 3],
    [{ found: "nothing for 30 s" }, 2, 3],
  ])(
    "gives up a server that has only failed, when it is there, after 15 s: %o",
    async (details, least, most) => {
      vi.useFakeTimers();
      vi.spyOn(Math, "random").mockReturnValue(1);
      for (const earlier of [0, 120_000]) {
        const { failures, store } = failing({ firstWait: undefined });
        failures.errors.push(...Array.from({ length: 40 }, () => transient(details)));
        const failingCall = async () => {
          const begun = Date.now();
          const failed = expect(store.get("a")).rejects.toMatchObject({ code: "transient" });
          await vi.runAllTimersAsync();
          await failed;
          return (Date.now() - begun) / 1000;
        };
        await failingCall();
        await vi.advanceTimersByTimeAsync(earlier);
        const passed = await failingCall();
        expect(passed).toBeGreaterThanOrEqual(least);
        expect(passed).toBeLessThanOrEqual(most);
      }
    },
  );

  it("outlives an outage of 10 s in a run of some minutes, and as many failures as are allowed", async () => {
    vi.useFakeTimers();
    vi.spyOn(Math, "random").mockReturnValue(0.5);
    const { failures, store } = failing({ firstWait: undefined });
    await store.set("a", new Uint8Array(1));
    await vi.advanceTimersByTimeAsync(120_000);
    const begun = Date.now();
    failures.errors.push(...Array.from({ length: 8 }, () => transient()));
    const done = store.set("a", new Uint8Array(1));
    await vi.runAllTimersAsync();
    await done;
    expect(Date.now() - begun).toBeGreaterThan(10_000);
    const allowed = failing({ firstWait: undefined, attempts: 12 });
    allowed.failures.errors.push(...Array.from({ length: 11 }, () => transient()));
    const reading = allowed.store.get("a");
    await vi.runAllTimersAsync();
    expect(await reading).toBeUndefined();
  });

  it("waits for a server that names times, as often as it may", async () => {
    vi.useFakeTimers();
    const { failures, store } = failing();
    failures.errors.push(...Array.from({ length: 9 }, () => transient({ retryAfter: 19 })));
    const details = { attempts: 9, seconds: 152, hint: expect.stringContaining("19 s") };
    const ended = expect(store.get("a")).rejects.toMatchObject({ details });
    await vi.runAllTimersAsync();
    await ended;
  });

  it("waits as long as the server says, unless that is too long", async () => {
    vi.useFakeTimers();
    const { failures, retries, store } = failing({ longestWait: 2 });
    failures.errors.push(transient({ retryAfter: 1 }), transient({ retryAfter: 3 }));
    const ended = expect(store.get("a")).rejects.toMatchObject({ details: { retryAfter: 3 } });
    await vi.advanceTimersByTimeAsync(999);
    expect(failures.errors).toHaveLength(1);
    await vi.advanceTimersByTimeAsync(1);
    await ended;
    expect(retries.map(({ wait }) => wait)).toEqual([1000]);
  });

  it("stops waiting when it is aborted", async () => {
    const { failures, store } = failing({ firstWait: "1h", longestWait: "1h" });
    failures.errors.push(transient({ retryAfter: 500 }));
    const abort = new AbortController();
    const reading = store.get("a", { signal: abort.signal });
    setImmediate(() => abort.abort(new Error("enough")));
    await expect(reading).rejects.toMatchObject({ code: "aborted", cause: new Error("enough") });
  });
});
