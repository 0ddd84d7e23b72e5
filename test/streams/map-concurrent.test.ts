import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { mapConcurrent } from "../../src/streams/map-concurrent.ts";
import { gatedCalls, source } from "./calls.ts";
import { collect, deferred, failOnUnhandledRejections, settle } from "./support.ts";

failOnUnhandledRejections();

describe("mapConcurrent", () => {
  it("passes every result on once and then closes", async () => {
    const results = await collect(
      source(100).stream.pipeThrough(mapConcurrent(async (n) => n * 2, { concurrency: 7 })),
    );
    expect(results.sort((a, b) => a - b)).toEqual(Array.from({ length: 100 }, (_, n) => n * 2));
  });

  it("closes when its source is empty", async () => {
    expect(await collect(source(0).stream.pipeThrough(mapConcurrent((n) => n, { concurrency: 2 })))).toEqual(
      [],
    );
  });

  it("takes functions that answer at once, and results that are undefined", async () => {
    const results = await collect(
      source(5).stream.pipeThrough(mapConcurrent(() => undefined, { concurrency: 2 })),
    );
    expect(results).toEqual(Array(5).fill(undefined));
  });

  it("keeps exactly `concurrency` items between start and reader, however slow that is", async () => {
    let started = 0;
    let consumed = 0;
    let most = 0;
    const work = async (n: number) => {
      most = Math.max(most, ++started - consumed);
      await settle(2);
      return n;
    };
    const reader = source(40)
      .stream.pipeThrough(mapConcurrent(work, { concurrency: 4 }))
      .getReader();
    while (!(await reader.read()).done) {
      consumed++;
      await settle();
    }
    expect({ started, consumed, most }).toEqual({ started: 40, consumed: 40, most: 4 });
  });

  it("holds the same bounds with any durations", async () => {
    const turns = fc.array(fc.nat(3), { minLength: 1, maxLength: 12 });
    await fc.assert(
      fc.asyncProperty(turns, turns, fc.integer({ min: 1, max: 5 }), async (work, rest, concurrency) => {
        let started = 0;
        let running = 0;
        const results: number[] = [];
        const fn = async (i: number) => {
          expect(++started - results.length).toBeLessThanOrEqual(concurrency);
          running++;
          await settle(work[i]);
          running--;
          return i;
        };
        const { stream } = source(work.length);
        for await (const i of stream.pipeThrough(mapConcurrent(fn, { concurrency }))) {
          results.push(i);
          await settle(rest[i % rest.length]);
        }
        expect(running).toBe(0);
        expect(results.sort((a, b) => a - b)).toEqual(work.map((_, i) => i));
      }),
      { numRuns: 40 },
    );
  });

  it("starts nothing before somebody reads, and takes no more from its source than it starts", async () => {
    const { state, stream } = source(100);
    const { calls, fn } = gatedCalls();
    const reader = stream.pipeThrough(mapConcurrent(fn, { concurrency: 3 })).getReader();
    await settle();
    expect(calls.length).toBe(0);
    const read = reader.read();
    await settle();
    expect(calls.length).toBe(3);
    expect(state.given).toBe(2);
    await reader.cancel();
    expect(await read).toEqual({ done: true, value: undefined });
  });

  it("gives results in the order in which they come", async () => {
    const { calls, fn } = gatedCalls();
    const reader = source(3)
      .stream.pipeThrough(mapConcurrent(fn, { concurrency: 3 }))
      .getReader();
    const order: (string | undefined)[] = [];
    const first = reader.read();
    await settle();
    for (const i of [2, 0, 1]) {
      calls[i]?.resolve(`result ${i}`);
      await settle();
    }
    order.push((await first).value);
    for (let i = 0; i < 2; i++) order.push((await reader.read()).value);
    expect(order).toEqual(["result 2", "result 0", "result 1"]);
    expect((await reader.read()).done).toBe(true);
  });

  it("answers several reads that wait at the same time", async () => {
    const reader = source(4)
      .stream.pipeThrough(mapConcurrent(async (n) => n, { concurrency: 2 }))
      .getReader();
    const reads = await Promise.all(Array.from({ length: 5 }, () => reader.read()));
    expect(reads.map(({ value }) => value)).toEqual([0, 1, 2, 3, undefined]);
  });

  it.each([0, -1, Number.NaN])("refuses a concurrency of %s", (concurrency) => {
    expect(() => mapConcurrent((n: number) => n, { concurrency })).toThrow(
      expect.objectContaining({ code: "invalid-option" }),
    );
  });

  describe("cancelled", () => {
    it("closes the source and ends the calls in flight before it is done", async () => {
      const { state, stream } = source(100);
      const { calls, fn, running } = gatedCalls();
      const reader = stream.pipeThrough(mapConcurrent(fn, { concurrency: 4 })).getReader();
      const first = reader.read();
      await settle();
      calls[1]?.resolve("one");
      await first;
      await settle();
      const reason = new Error("enough");
      await reader.cancel(reason);
      expect(running()).toBe(0);
      expect(calls.map(({ item }) => item)).toEqual([0, 1, 2, 3, 4]);
      const inFlight = calls.filter(({ item }) => item !== 1);
      expect(inFlight.every(({ signal }) => signal.reason === reason)).toBe(true);
      await settle();
      expect(state.closed).toBe(true);
      expect(calls.length).toBe(5);
    });

    it("ends the calls in flight also when the source has none left", async () => {
      const { calls, fn, running } = gatedCalls();
      const reader = source(3)
        .stream.pipeThrough(mapConcurrent(fn, { concurrency: 8 }))
        .getReader();
      const read = reader.read();
      await settle();
      expect(calls.length).toBe(3);
      await reader.cancel("enough");
      expect(running()).toBe(0);
      expect(calls.map(({ signal }) => signal.reason)).toEqual(["enough", "enough", "enough"]);
      expect((await read).done).toBe(true);
    });

    it("discards results that were not read and those that come late, each once", async () => {
      const discarded: number[] = [];
      const late = deferred();
      const fn = async (n: number) => {
        if (n === 3) await late.promise;
        return n;
      };
      const discard = (n: number) => {
        discarded.push(n);
      };
      const reader = source(9)
        .stream.pipeThrough(mapConcurrent(fn, { concurrency: 4, discard }))
        .getReader();
      expect((await reader.read()).value).toBe(0);
      await settle();
      const cancelled = reader.cancel();
      expect(discarded).toEqual([1, 2, 4]);
      late.resolve();
      await cancelled;
      expect(discarded).toEqual([1, 2, 4, 3]);
    });

    it("lets a loop be left early", async () => {
      const { state, stream } = source(100);
      const { fn, calls, running } = gatedCalls();
      const results = stream.pipeThrough(
        mapConcurrent(async (item: number, context) => (item === 0 ? "zero" : fn(item, context)), {
          concurrency: 4,
        }),
      );
      for await (const result of results) {
        expect(result).toBe("zero");
        await settle();
        break;
      }
      await settle();
      expect(state.closed).toBe(true);
      expect(calls.length).toBeGreaterThan(0);
      expect(running()).toBe(0);
    });
  });
});
