// @module-tag slow
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { HttpStore, type HttpStoreOptions } from "../../../src/stores/http.ts";
import { onRetry, type Retry } from "../../../src/stores/remote/retry-requests.ts";
import { S3Store } from "../../../src/stores/s3.ts";

const SECOND = 1000;
const VALUE = new Uint8Array(64);

type Answer = (method: string) => {
  readonly ms: number;
  readonly status?: number;
  readonly isReset?: boolean;
};

let servers = 0;
let retries: Retry[];
let endWatch: () => void;
beforeEach(() => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "Date", "performance"] });
  retries = [];
  endWatch = onRetry((retry) => retries.push(retry));
});
afterEach(() => {
  endWatch();
  vi.restoreAllMocks();
  vi.useRealTimers();
});

/** A server that no test has asked before, whose time is the test's. */
function serve(answer: Answer) {
  const seen = { requests: 0, url: `http://server-${servers++}.test`, fetch: globalThis.fetch };
  seen.fetch = (_url, { method = "GET", signal } = {}) => {
    seen.requests++;
    const { ms, status = 200, isReset = false } = answer(method);
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        if (isReset) reject(new TypeError("fetch failed"));
        else resolve(new Response(status === 200 && method === "GET" ? VALUE : null, { status }));
      }, ms);
      signal?.addEventListener("abort", () => {
        clearTimeout(timer);
        reject(signal.reason);
      });
    });
  };
  return seen;
}

function open(server: ReturnType<typeof serve>, options: HttpStoreOptions = {}): HttpStore {
  return new HttpStore(server.url, { fetch: server.fetch, ...options });
}

/** Virtual milliseconds until work is done, in steps. */
async function timeOf(work: Promise<unknown>, step = 10): Promise<number> {
  const begun = performance.now();
  let isDone = false;
  void work.catch(() => {}).finally(() => (isDone = true));
  while (!isDone) await vi.advanceTimersByTimeAsync(step);
  return performance.now() - begun;
}

/** Reads so many values, up to 64 at one time. */
async function readAll(store: Pick<HttpStore, "get">, count: number): Promise<void> {
  let next = 0;
  const read = async () => {
    while (next < count) {
      const value = await store.get(`${next++}`);
      if (value === undefined || Buffer.compare(value, VALUE) !== 0) throw new Error("another value");
    }
  };
  await Promise.all(Array.from({ length: 64 }, read));
}

/** Numbers from 0 to 1, in no regular order. */
function chance(): () => number {
  let seed = 4711;
  return () => {
    seed = (seed * 16_807) % 2_147_483_647;
    return seed / 2_147_483_647;
  };
}

describe("a request whose answer is late", () => {
  it("is made again, reported, and answered by the second", async () => {
    let calls = 0;
    const server = serve(() => ({ ms: ++calls === 41 ? 20 * SECOND : 30 }));
    let asked = 0;
    const store = open(server, { beforeRequest: async () => void asked++ });
    await timeOf(readAll(store, 40));
    expect(await timeOf(store.get("late"))).toBeLessThan(SECOND);
    expect([server.requests, asked]).toEqual([42, 42]);
    const error = { code: "transient", reason: "the response takes much longer than usual" };
    expect(retries).toMatchObject([{ operation: "GET", key: "/late", attempt: 1, wait: 0, error }]);
  });

  it("is waited for no longer than any, where it never comes", async () => {
    let isSilent = false;
    const server = serve(() => ({ ms: isSilent ? 1e9 : 30 }));
    const store = open(server, { retry: { timeout: 10, attempts: 1 } });
    await timeOf(readAll(store, 40));
    isSilent = true;
    const reading = expect(store.get("never")).rejects.toMatchObject({
      reason: "the server did not respond in time",
    });
    expect(await timeOf(reading, 50)).toBeLessThan(10.1 * SECOND);
    expect(server.requests).toBe(43);
  });

  it("is not made again where a server is slow as a whole, but for a few", async () => {
    let ms = 30;
    const server = serve(() => ({ ms }));
    const store = open(server);
    await timeOf(readAll(store, 200));
    ms = 3 * SECOND;
    await timeOf(readAll(store, 1000), 100);
    expect(server.requests - 1200).toBeGreaterThan(0);
    expect(server.requests - 1200).toBeLessThan(16 + 0.05 * 1000);
  });

  it("is not made again where it writes", async () => {
    const server = serve((method) => ({ ms: method === "PUT" ? 20 * SECOND : 30 }));
    const { url: endpoint, fetch } = server;
    const store = new S3Store({ bucket: "bucket", endpoint, fetch, credentials: "anonymous" });
    await timeOf(readAll(store, 40));
    expect(await timeOf(store.set("a", VALUE), 100)).toBeGreaterThan(20 * SECOND - 10);
    expect(server.requests).toBe(41);
    expect(retries).toEqual([]);
  });
});

describe("with one request of twenty failing, and one of a hundred late by 5 s", () => {
  it("reading takes at most one and a half times as long, and 1.15 times the requests", async () => {
    const [count, latency] = [1200, 100];
    const sound = serve(() => ({ ms: latency }));
    const usual = await timeOf(readAll(open(sound), count));
    const random = chance();
    vi.spyOn(Math, "random").mockImplementation(chance());
    const faulty = serve(() => {
      const [kind, at] = [random(), random()];
      if (kind < 0.01) return { ms: latency + 5 * SECOND };
      if (kind > 0.06) return { ms: latency };
      return at < 1 / 3 ? { ms: latency, isReset: true } : { ms: latency, status: at < 2 / 3 ? 500 : 503 };
    });
    const disturbed = await timeOf(readAll(open(faulty), count));
    expect(disturbed).toBeLessThan(1.5 * usual);
    expect(faulty.requests).toBeGreaterThan(1.03 * count);
    expect(faulty.requests).toBeLessThan(1.15 * count);
  }, 60_000);
});
