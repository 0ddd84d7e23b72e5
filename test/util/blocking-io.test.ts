import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { BlockingIo } from "../../src/util/blocking-io.ts";

let now = 0;
beforeEach(() => {
  now = 1000;
  vi.spyOn(performance, "now").mockImplementation(() => now);
});
afterEach(() => vi.restoreAllMocks());

function call(concurrency: BlockingIo, ms: number, bytes = 0) {
  const take = (time: number) => {
    now += time;
    return bytes;
  };
  expect(concurrency.attempt(take, ms, (moved) => moved)).toBe(bytes);
}

it("calls that take long are not made for a while, and for longer where it goes on so", () => {
  const concurrency = new BlockingIo();
  const slowFor = () => {
    const began = now;
    while (concurrency.isSlow) now++;
    return now - began;
  };
  call(concurrency, 60);
  const first = slowFor();
  call(concurrency, 60);
  const second = slowFor();
  expect(first).toBeGreaterThan(0);
  expect(second).toBe(2 * first);
  call(concurrency, 0.1);
  call(concurrency, 60);
  expect(slowFor()).toBe(first);
});

it("one call that takes a little longer among many is let pass", () => {
  const concurrency = new BlockingIo();
  for (let i = 0; i < 100; i++) {
    call(concurrency, 15);
    for (let quick = 0; quick < 20; quick++) call(concurrency, 0.1);
    expect(concurrency.isSlow).toBe(false);
  }
});

it("large values may take longer", () => {
  const concurrency = new BlockingIo();
  for (let i = 0; i < 10; i++) call(concurrency, 60, 64 * 2 ** 20);
  expect(concurrency.isSlow).toBe(false);
});

it("others run every 15 ms of calls that block", async () => {
  const concurrency = new BlockingIo();
  expect(concurrency.yield()).toBeUndefined();
  now += 15;
  const turn = concurrency.yield();
  expect(turn).toBeInstanceOf(Promise);
  await turn;
  expect(concurrency.yield()).toBeUndefined();
});
