import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { BlockingIo } from "../../src/util/blocking-io.ts";

let now = 0;
beforeEach(() => {
  now = 1000;
  vi.spyOn(performance, "now").mockImplementation(() => now);
});
afterEach(() => vi.restoreAllMocks());

function call(io: BlockingIo, ms: number, bytes = 0) {
  const take = (time: number) => {
    now += time;
    return bytes;
  };
  expect(io.attempt(take, ms, (moved) => moved)).toBe(bytes);
}

it("calls that take long are not made for a while, and for longer where it goes on so", () => {
  const io = new BlockingIo();
  const slowFor = () => {
    const began = now;
    while (io.isSlow) now++;
    return now - began;
  };
  call(io, 60);
  const first = slowFor();
  call(io, 60);
  const second = slowFor();
  expect(first).toBeGreaterThan(0);
  expect(second).toBe(2 * first);
  call(io, 0.1);
  call(io, 60);
  expect(slowFor()).toBe(first);
});

it("one call that takes a little longer among many is let pass", () => {
  const io = new BlockingIo();
  for (let i = 0; i < 100; i++) {
    call(io, 15);
    for (let quick = 0; quick < 20; quick++) call(io, 0.1);
    expect(io.isSlow).toBe(false);
  }
});

it("large values may take longer", () => {
  const io = new BlockingIo();
  for (let i = 0; i < 10; i++) call(io, 60, 64 * 2 ** 20);
  expect(io.isSlow).toBe(false);
});

it("others run every 15 ms of calls that block", async () => {
  const io = new BlockingIo();
  expect(io.yield()).toBeUndefined();
  now += 15;
  const turn = io.yield();
  expect(turn).toBeInstanceOf(Promise);
  await turn;
  expect(io.yield()).toBeUndefined();
});
