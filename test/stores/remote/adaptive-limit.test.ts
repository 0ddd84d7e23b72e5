// @module-tag alone
// @module-tag slow
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { AdaptiveLimit, limitOf } from "../../../src/stores/remote/adaptive-limit.ts";
import {
  counterThread,
  leaveCounters,
  limitRequests,
  requestsNow,
} from "../../../src/stores/remote/server-counters.ts";
import {
  isSlowDown,
  keepAsking,
  requestTo,
  ServerLog,
  type SimulatedServer,
  SLOW_DOWN,
  VirtualClock,
} from "./simulated-server.ts";

let clock: VirtualClock;
let stops: (() => void)[];
beforeEach(() => {
  clock = new VirtualClock();
  stops = [];
  vi.spyOn(performance, "now").mockImplementation(() => clock.now());
  vi.spyOn(Date, "now").mockImplementation(() => clock.now());
  vi.stubGlobal("setTimeout", (call: () => void, ms: number) => void clock.pause(ms).then(call));
});
afterEach(async () => {
  for (const stop of stops) stop();
  await clock.advance(100_000);
  vi.restoreAllMocks();
  vi.unstubAllGlobals();
});

/** Asks a server for more than it answers; what it sees. */
function ask(server: SimulatedServer, limit = new AdaptiveLimit(isSlowDown)): ServerLog {
  const log = new ServerLog(clock);
  stops.push(keepAsking(limit, requestTo(clock, server, log)));
  return log;
}

/** A random number of a mean, by how a queue of unknown length waits. */
function waits(mean: number): () => number {
  let seed = 1;
  return () => {
    seed = (seed * 16_807) % 2_147_483_647;
    return -mean * Math.log(seed / 2_147_483_647);
  };
}

describe("requests in flight that find themselves", () => {
  it.each([
    [8, 20],
    [16, 20],
    [50, 4],
    [100, 4],
    [200, 2],
  ])("settle at what a server with %i slots gains from, after %i s", async (slots, seconds) => {
    const log = ask({ slots, ms: 30 });
    await clock.advance(seconds * 1000);
    const { inFlight, perSecond } = await log.over(slots < 50 ? 10_000 : 3000);
    expect(inFlight).toBeGreaterThan(slots * 0.9);
    expect(inFlight).toBeLessThan(slots * 1.5);
    expect(perSecond).toBeGreaterThan(0.9 * slots * (1000 / 30));
  });

  it("settle there where each request takes another time", async () => {
    const log = ask({ slots: 50, ms: 15, jitter: waits(15) });
    await clock.advance(5000);
    const { inFlight, perSecond } = await log.over(5000);
    expect(inFlight).toBeGreaterThan(45);
    expect(inFlight).toBeLessThan(85);
    expect(perSecond).toBeGreaterThan(0.9 * 50 * (1000 / 30));
  });

  it("are 256 within a few rounds where a server takes any number, and never more", async () => {
    const log = ask({ slots: 10_000, ms: 100, jitter: waits(20) });
    await clock.advance(600);
    expect(log.answered).toBeGreaterThan(512);
    expect(log.inFlight).toBe(256);
    const { inFlight } = await log.over(3000);
    expect(log.most).toBe(256);
    expect(inFlight).toBeGreaterThan(240);
  });

  it("follow a server that takes more, or fewer, than before", async () => {
    const server = { slots: 20, ms: 30 };
    const log = ask(server);
    await clock.advance(20_000);
    expect((await log.over(1000)).inFlight).toBeLessThan(32);
    server.slots = 120;
    await clock.advance(5000);
    expect((await log.over(2000)).perSecond).toBeGreaterThan(0.85 * 120 * (1000 / 30));
    server.slots = 20;
    await clock.advance(30_000);
    expect((await log.over(1000)).inFlight).toBeLessThan(50);
  });

  it("stay about what a server does not refuse", async () => {
    const log = ask({ slots: 40, ms: 30, refuses: true });
    const { inFlight } = await log.over(20_000);
    expect(inFlight).toBeGreaterThan(24);
    expect(inFlight).toBeLessThanOrEqual(43);
    expect(log.refused).toBeLessThan(0.06 * log.answered + 64);
  });

  it("are shared by two runs within a fifth", async () => {
    const request = requestTo(clock, { slots: 8, ms: 20 }, new ServerLog(clock));
    const answered = [0, 0];
    for (const run of [0, 1]) {
      const count = () => request().then(() => answered.splice(run, 1, (answered[run] ?? 0) + 1));
      stops.push(keepAsking(new AdaptiveLimit(isSlowDown), count));
    }
    await clock.advance(2000);
    const [a = 0, b = 0] = answered;
    expect(a + b).toBeGreaterThan(0.9 * 8 * (2000 / 20));
    expect(Math.abs(a - b) / (a + b)).toBeLessThan(0.2);
  });

  it("are judged by the bytes that they move as well", async () => {
    // each second value is 64 times as long, and takes as much longer
    const log = new ServerLog(clock);
    const [short, long] = [4, 256].map((ms) => requestTo(clock, { slots: 10_000, ms }, log));
    const [few, many] = [new Uint8Array(0), new Uint8Array(63 * 2 ** 16)];
    const limit = new AdaptiveLimit(isSlowDown);
    let calls = 0;
    const either = () => (calls++ % 40 < 20 ? short?.().then(() => few) : long?.().then(() => many));
    stops.push(keepAsking(limit, async () => either()));
    await clock.advance(8000);
    expect((await log.over(2000)).inFlight).toBeGreaterThan(200);
  });
});

describe("AdaptiveLimit", () => {
  it("is not much lower where a server refuses one request of fifty, whatever there are", async () => {
    let calls = 0;
    const limit = new AdaptiveLimit(isSlowDown);
    const log = new ServerLog(clock);
    const request = requestTo(clock, { slots: 10_000, ms: 30 }, log);
    stops.push(keepAsking(limit, () => (++calls % 50 === 0 ? Promise.reject(SLOW_DOWN) : request())));
    await clock.advance(2000);
    expect((await log.over(3000)).inFlight).toBeGreaterThan(50);
  });

  it("takes one round of complaints as one", async () => {
    const limit = new AdaptiveLimit(isSlowDown);
    const fail = () => limit.run(() => clock.pause(1).then(() => Promise.reject(SLOW_DOWN))).catch(() => {});
    const failed = Promise.all(Array.from({ length: 64 }, fail));
    await clock.advance(1);
    await failed;
    const log = ask({ slots: 1000, ms: 10 }, limit);
    await clock.advance(1);
    expect(log.inFlight).toBe(32);
  });

  it("makes less than one call at one time where one is too many, and more again when it is not", async () => {
    const limit = new AdaptiveLimit(isSlowDown);
    for (let i = 0; i < 12; i++) {
      const call = limit.run(() => clock.pause(10).then(() => Promise.reject(SLOW_DOWN)));
      const failed = expect(call).rejects.toBe(SLOW_DOWN);
      await clock.advance(1010);
      await failed;
    }
    const started: number[] = [];
    for (let i = 0; i < 40; i++) {
      await Promise.all([limit.run(async () => void started.push(clock.now())), clock.advance(1000)]);
    }
    expect(started).toHaveLength(40);
    const log = ask({ slots: 1000, ms: 10 }, limit);
    await clock.advance(1000);
    expect(log.inFlight).toBeGreaterThan(5);
  });

  it("passes other errors by", async () => {
    const limit = new AdaptiveLimit(isSlowDown);
    const fail = () => limit.run(() => Promise.reject(new Error("no"))).catch(() => {});
    await Promise.all(Array.from({ length: 9 }, fail));
    const log = ask({ slots: 1000, ms: 10 }, limit);
    await clock.advance(1);
    expect(log.inFlight).toBe(64);
  });

  it("makes calls first come, first served, and none whose signal is aborted while it waits", async () => {
    const limit = new AdaptiveLimit(isSlowDown);
    const busy = Array.from({ length: 64 }, () => limit.run(() => clock.pause(10)));
    const order: number[] = [];
    const controller = new AbortController();
    const waiting = Array.from({ length: 4 }, (_, i) =>
      limit.run(async () => void order.push(i), i === 1 ? { signal: controller.signal } : {}),
    );
    controller.abort(new Error("enough"));
    await expect(waiting[1]).rejects.toMatchObject({ code: "aborted" });
    await clock.advance(20);
    await Promise.all([...busy, waiting[0], waiting[2], waiting[3]]);
    expect(order).toEqual([0, 2, 3]);
  });

  it("holds to the number that a flow states, which that of another one is added to", async () => {
    const end = limitRequests({ most: 5, isFixed: true });
    const log = ask({ slots: 1000, ms: 10 });
    expect((await log.over(2000)).inFlight).toBe(5);
    expect(log.most).toBe(5);
    const endOther = limitRequests({ most: 3, isFixed: true });
    await clock.advance(100);
    expect(log.most).toBe(8);
    endOther();
    await clock.advance(20);
    expect((await log.over(100)).inFlight).toBe(5);
    end();
    await clock.advance(1000);
    expect(log.most).toBeGreaterThan(60);
  });

  it("finds no more than a flow plans for", async () => {
    stops.push(limitRequests({ most: 80, isFixed: false }));
    const log = ask({ slots: 1000, ms: 10 });
    await clock.advance(1000);
    expect(log.most).toBe(80);
  });
});

describe("a limit that no other thread shares", () => {
  it("waits for none, though others count together", async () => {
    const counters = counterThread();
    const limit = new AdaptiveLimit(isSlowDown);
    const calls = Array.from({ length: 80 }, () => limit.run(() => clock.pause(10)));
    await clock.advance(30);
    await Promise.all(calls);
    expect(counters?.thread).toBe(1);
    if (counters) leaveCounters(counters);
  });
});

describe("limitOf", () => {
  it("gives one limit to all stores of a server, and counts what is under way there", async () => {
    const limit = limitOf("server:one", isSlowDown);
    expect(limitOf("server:one", isSlowDown)).toBe(limit);
    expect(limitOf("server:two", isSlowDown)).not.toBe(limit);
    const before = requestsNow();
    const log = ask({ slots: 1000, ms: 100 }, limit);
    await clock.advance(10);
    expect(log.inFlight).toBe(64);
    expect((requestsNow()?.inFlight ?? 0) - (before?.inFlight ?? 0)).toBe(64);
    expect(requestsNow()?.allowed).toBeGreaterThanOrEqual(64);
  });
});
