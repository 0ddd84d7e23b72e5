import { describe, expect, it } from "vitest";
import { AdaptiveLimit } from "../../../src/stores/remote/adaptive-limit.ts";
import { overloadsOf } from "../../../src/stores/remote/throttle-signals.ts";

/** A server that takes `capacity` calls at once and refuses others; how many it had at once, in each round. */
async function serve(limit: AdaptiveLimit, capacity: () => number, calls: number) {
  let running = 0;
  let refused = 0;
  const seen: number[] = [];
  const call = async () => {
    seen.push(++running);
    const isOver = running > capacity();
    await new Promise(setImmediate);
    running--;
    if (!isOver) return;
    refused++;
    throw new Error("SlowDown");
  };
  const untilDone = async () => {
    while ((await limit.run(call).catch(() => "again")) === "again");
  };
  await Promise.all(Array.from({ length: calls }, untilDone));
  return { seen, refused };
}

const isSlowDown = (error: unknown) => error instanceof Error && error.message === "SlowDown";

describe("AdaptiveLimit", () => {
  it("limits nothing while nobody complains", async () => {
    const { seen } = await serve(new AdaptiveLimit(isSlowDown), () => 1000, 100);
    expect(Math.max(...seen)).toBe(100);
  });

  it("halves the calls at once for each round of complaints, and lets them grow again", async () => {
    const limit = new AdaptiveLimit(isSlowDown);
    const { seen, refused } = await serve(limit, () => 8, 400);
    expect(seen[0]).toBe(1);
    expect(seen.slice(-100).every((running) => running <= 10)).toBe(true);
    expect(Math.max(...seen.slice(-200))).toBeGreaterThan(4);
    // 780 until it is down to 8, and few later; without a limit there were 10,000
    expect(refused).toBeLessThan(1000);
    const { seen: later } = await serve(limit, () => 1000, 400);
    expect(Math.max(...later)).toBeGreaterThan(12);
  });

  it("takes one round of complaints as one", async () => {
    const limit = new AdaptiveLimit(isSlowDown);
    const fail = () => limit.run(() => Promise.reject(new Error("SlowDown"))).catch(() => {});
    await Promise.all(Array.from({ length: 64 }, fail));
    const { seen } = await serve(limit, () => 64, 64);
    expect(Math.max(...seen)).toBeGreaterThanOrEqual(32);
    expect(Math.max(...seen)).toBeLessThanOrEqual(34);
  });

  it("goes on with one call at a time at least, and passes other errors by", async () => {
    const limit = new AdaptiveLimit(isSlowDown);
    for (let i = 0; i < 5; i++) {
      await expect(limit.run(() => Promise.reject(new Error("SlowDown")))).rejects.toThrow("SlowDown");
    }
    expect(await limit.run(async () => 1)).toBe(1);
    const other = new AdaptiveLimit(isSlowDown);
    await Promise.all(
      Array.from({ length: 9 }, () => other.run(() => Promise.reject(new Error("no"))).catch(() => {})),
    );
    const { seen } = await serve(other, () => 1000, 9);
    expect(Math.max(...seen)).toBe(9);
  });
});

describe("limits that share overloads", () => {
  it("are halved by those of each other, once for each", async () => {
    const overloads = overloadsOf("a server of this test");
    const [here, there] = [
      new AdaptiveLimit(isSlowDown, overloads),
      new AdaptiveLimit(isSlowDown, overloads),
    ];
    const waiting: (() => void)[] = [];
    const calls = Array.from({ length: 16 }, () =>
      here.run(() => new Promise<void>((done) => waiting.push(done))),
    );
    await expect(there.run(() => Promise.reject(new Error("SlowDown")))).rejects.toThrow("SlowDown");
    const later = here.run(async () => {});
    for (const done of waiting) done();
    await Promise.all([...calls, later]);
    const { seen } = await serve(here, () => 24, 24);
    expect(Math.max(...seen)).toBeGreaterThanOrEqual(8);
    expect(Math.max(...seen)).toBeLessThan(16);
  });
});
