import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { MemoryStore } from "../../../src/stores/memory.ts";
import type { Store } from "../../../src/stores/store.ts";
import { withRateLimit } from "../../../src/stores/with/rate-limit.ts";
import { keysOf } from "../../support/consume.ts";
import { writableStoreChecks } from "../writable-store-checks.ts";

// time passes as fast as those who wait for it
beforeEach(() => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] });
  vi.setTimerTickMode("nextTimerAsync");
});
afterEach(() => void vi.useRealTimers());

const plenty = { requestsPerSecond: 1e6, bytesPerSecond: 1e12 };

/** A store of values of `length` bytes; tells when it was asked, in milliseconds from the first time. */
function timed(length: number): { store: Store; times: number[] } {
  const calls: number[] = [];
  const times: number[] = [];
  const get = async () => {
    calls.push(performance.now());
    times.push(performance.now() - (calls[0] ?? 0));
    return new Uint8Array(length);
  };
  return { store: { description: "timed", get, size: async () => length }, times };
}

describe("withRateLimit", () => {
  for (const { name, run } of writableStoreChecks(async () => withRateLimit(new MemoryStore(), plenty)))
    it(name, () => run());

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
    times.forEach((time, i) => {
      expect(time).toBeGreaterThan(i * 50 - 20);
    });
    expect(times.at(-1)).toBeLessThan(2000);
  });

  it("writes no more bytes a second than it may, at once or piece by piece", async () => {
    const limited = withRateLimit(new MemoryStore(), { bytesPerSecond: 1e6 });
    const started = performance.now();
    await limited.set("a", new Uint8Array(60_000));
    const writer = await limited.openWriter("b");
    await writer.write(new Uint8Array(60_000));
    await writer.write(new Uint8Array(1));
    await writer.commit();
    expect(performance.now() - started).toBeGreaterThan(115);
    expect(await limited.size("b")).toBe(60_001);
  });

  it("counts a listing, and a value written piece by piece, as one request", async () => {
    const memory = new MemoryStore();
    for (let i = 0; i < 50; i++) await memory.set(`${i}`, new Uint8Array(1));
    const limited = withRateLimit(memory, { requestsPerSecond: 20 });
    const started = performance.now();
    const keys = await keysOf(limited);
    const writer = await limited.openWriter("b");
    for (let i = 0; i < 50; i++) await writer.write(new Uint8Array(1));
    await writer.commit();
    expect(keys).toHaveLength(50);
    expect(performance.now() - started).toBeLessThan(1000);
  });

  it("does not make a call that is aborted while it waits", async () => {
    const { store, times } = timed(1);
    const limited = withRateLimit(store, { requestsPerSecond: 2 });
    await limited.get("0");
    const controller = new AbortController();
    const waiting = limited.get("1", { signal: controller.signal });
    const reason = { why: "enough" };
    controller.abort(reason);
    await expect(waiting).rejects.toMatchObject({ code: "aborted", cause: reason });
    expect(times).toHaveLength(1);
  });

  it.each([0, -1, Number.NaN, Number.POSITIVE_INFINITY])("refuses %s at once", (rate) => {
    for (const limits of [{ requestsPerSecond: rate }, { bytesPerSecond: rate }]) {
      expect(() => withRateLimit(new MemoryStore(), limits)).toThrow(
        expect.objectContaining({ code: "invalid-option" }),
      );
    }
  });
});
