import { getEventListeners } from "node:events";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { mapConcurrent } from "../../src/streams/map-concurrent.ts";
import { streamFrom, WritableStream } from "../../src/streams/web.ts";
import {
  collect,
  type Deferred,
  deferred,
  failOnUnhandledRejections,
  rejection,
  settle,
  untilAborted,
} from "./support.ts";

failOnUnhandledRejections();

/** Items 0, 1, 2, ... and whether the one who gave them was told to stop. */
function source(count: number) {
  const state = { given: 0, closed: false };
  async function* items() {
    try {
      for (; state.given < count; state.given++) yield state.given;
    } finally {
      state.closed = true;
    }
  }
  return { state, stream: streamFrom(items()) };
}

/** A function whose calls the test ends one by one, and which ends by itself when aborted. */
function gatedCalls() {
  const calls: (Deferred<string> & { readonly item: number; readonly signal: AbortSignal })[] = [];
  let running = 0;
  const fn = async (item: number, { signal }: { signal: AbortSignal }) => {
    const gate = deferred<string>();
    calls.push({ ...gate, item, signal });
    running++;
    try {
      return await Promise.race([gate.promise, untilAborted(signal)]);
    } finally {
      await settle(1);
      running--;
    }
  };
  return { calls, fn, running: () => running };
}

describe("mapConcurrent", () => {
  it("passes every result on once and then closes", async () => {
    const results = await collect(
      source(100).stream.pipeThrough(mapConcurrent(async (n) => n * 2, { concurrency: 7 })),
    );
    expect(results.sort((a, b) => a - b)).toEqual(Array.from({ length: 100 }, (_, n) => n * 2));
  });

  it("closes when its source is empty", async () => {
    expect(await collect(source(0).stream.pipeThrough(mapConcurrent((n) => n, { concurrency: 2 })))).toEqual([]);
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
    const reader = source(40).stream.pipeThrough(mapConcurrent(work, { concurrency: 4 })).getReader();
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
    const reader = source(3).stream.pipeThrough(mapConcurrent(fn, { concurrency: 3 })).getReader();
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
    const reader = source(4).stream.pipeThrough(mapConcurrent(async (n) => n, { concurrency: 2 })).getReader();
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
      const reader = source(3).stream.pipeThrough(mapConcurrent(fn, { concurrency: 8 })).getReader();
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
      const reader = source(9).stream.pipeThrough(mapConcurrent(fn, { concurrency: 4, discard })).getReader();
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
        mapConcurrent(
          async (item: number, context) => (item === 0 ? "zero" : fn(item, context)),
          { concurrency: 4 },
        ),
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

  describe("aborted", () => {
    it.each([3, 100])("by `pipeTo` it ends all calls in flight (%s items)", async (count) => {
      const { state, stream } = source(count);
      const { calls, fn, running } = gatedCalls();
      const abort = new AbortController();
      const sink = { aborted: undefined as unknown };
      const piped = stream.pipeThrough(mapConcurrent(fn, { concurrency: 3 })).pipeTo(
        new WritableStream({
          abort(reason) {
            sink.aborted = reason;
          },
        }),
        { signal: abort.signal },
      );
      await settle();
      expect(calls.length).toBe(3);
      const reason = new Error("stop");
      abort.abort(reason);
      expect(await rejection(piped)).toBe(reason);
      expect(sink.aborted).toBe(reason);
      expect(running()).toBe(0);
      expect(calls.map(({ signal }) => signal.reason)).toEqual([reason, reason, reason]);
      await settle();
      expect(state.closed).toBe(true);
      expect(calls.length).toBe(3);
    });

    it("on its writable side before anybody reads it errors the readable one", async () => {
      const { calls, fn } = gatedCalls();
      const { readable, writable } = mapConcurrent(fn, { concurrency: 2 });
      const writer = writable.getWriter();
      const outcomes = Promise.allSettled([writer.write(0), writer.write(1)]);
      await settle();
      await writer.abort("stop");
      expect(await rejection(readable.getReader().read())).toBe("stop");
      expect((await outcomes).at(-1)).toEqual({ status: "rejected", reason: "stop" });
      expect(calls).toEqual([]);
    });

    it("on its writable side it ends the calls and errors the readable one", async () => {
      const { calls, fn, running } = gatedCalls();
      const { readable, writable } = mapConcurrent(fn, { concurrency: 2 });
      const read = rejection(readable.getReader().read());
      const writer = writable.getWriter();
      const writes = [0, 1, 2].map((n) => writer.write(n));
      const outcomes = Promise.allSettled(writes);
      await settle();
      const reason = new Error("stop");
      await writer.abort(reason);
      expect(running()).toBe(0);
      expect(calls.map(({ signal }) => signal.reason)).toEqual([reason, reason]);
      expect(await read).toBe(reason);
      expect((await outcomes).at(-1)).toEqual({ status: "rejected", reason });
    });

    it("by its source it ends the calls and errors with the source's error", async () => {
      const reason = new Error("the source broke");
      async function* items() {
        yield* [0, 1];
        throw reason;
      }
      const { calls, fn, running } = gatedCalls();
      const reader = streamFrom(items()).pipeThrough(mapConcurrent(fn, { concurrency: 4 })).getReader();
      expect(await rejection(reader.read())).toBe(reason);
      expect(running()).toBe(0);
      expect(calls.map(({ signal }) => signal.reason)).toEqual([reason, reason]);
    });

    it("by a signal with calls in flight it errors with the reason when they have ended", async () => {
      const { state, stream } = source(100);
      const { calls, fn, running } = gatedCalls();
      const abort = new AbortController();
      const results = stream.pipeThrough(mapConcurrent(fn, { concurrency: 3, signal: abort.signal }));
      const read = rejection(results.getReader().read());
      await settle();
      const reason = new Error("stop");
      abort.abort(reason);
      expect(await read).toBe(reason);
      expect(running()).toBe(0);
      expect(calls.map(({ signal }) => signal.reason)).toEqual([reason, reason, reason]);
      await settle();
      expect(state.closed).toBe(true);
    });

    it("by a signal between calls it errors with the reason", async () => {
      const { state, stream } = source(100);
      const abort = new AbortController();
      const fn = async (n: number) => n;
      const reader = stream.pipeThrough(mapConcurrent(fn, { concurrency: 3, signal: abort.signal })).getReader();
      await reader.read();
      await settle();
      const reason = new Error("stop");
      abort.abort(reason);
      expect(await rejection(reader.read())).toBe(reason);
      await settle();
      expect(state.closed).toBe(true);
    });

    it("by a signal after the last item was given it errors too", async () => {
      const { calls, fn } = gatedCalls();
      const abort = new AbortController();
      const results = source(2).stream.pipeThrough(mapConcurrent(fn, { concurrency: 3, signal: abort.signal }));
      const read = rejection(results.getReader().read());
      await settle();
      expect(calls.length).toBe(2);
      abort.abort("stop");
      expect(await read).toBe("stop");
    });

    it("by a signal that was aborted before it starts nothing", async () => {
      const { calls, fn } = gatedCalls();
      const signal = AbortSignal.abort("no");
      const results = source(5).stream.pipeThrough(mapConcurrent(fn, { concurrency: 3, signal }));
      expect(await rejection(collect(results))).toBe("no");
      expect(calls).toEqual([]);
    });

    it("lets many calls listen for it without a warning", async () => {
      const warnings: Error[] = [];
      const note = (warning: Error) => {
        warnings.push(warning);
      };
      process.on("warning", note);
      const { calls, fn } = gatedCalls();
      const reader = source(40).stream.pipeThrough(mapConcurrent(fn, { concurrency: 30 })).getReader();
      const read = reader.read();
      await settle();
      expect(calls.length).toBe(30);
      await reader.cancel();
      await read;
      process.off("warning", note);
      expect(warnings).toEqual([]);
    });

    it("leaves no listener on the signal, however it ends", async () => {
      const { signal } = new AbortController();
      const options = { concurrency: 2, signal };
      await collect(source(5).stream.pipeThrough(mapConcurrent(async (n) => n, options)));
      await source(5).stream.pipeThrough(mapConcurrent(async (n) => n, options)).cancel();
      const fail = () => Promise.reject(new Error("broken"));
      await rejection(collect(source(5).stream.pipeThrough(mapConcurrent(fail, options))));
      await settle();
      expect(getEventListeners(signal, "abort")).toEqual([]);
    });
  });

  describe("when a call fails", () => {
    it("errors with that very error when the other calls have ended, and starts no more", async () => {
      const { state, stream } = source(100);
      const { calls, fn, running } = gatedCalls();
      const slow = deferred();
      const lastToEnd = async (item: number, context: { signal: AbortSignal }) => {
        try {
          return await fn(item, context);
        } finally {
          if (item === 2) await slow.promise;
        }
      };
      let outcome: unknown = "open";
      const piped = stream
        .pipeThrough(mapConcurrent(lastToEnd, { concurrency: 4 }))
        .pipeTo(new WritableStream())
        .catch((reason) => {
          outcome = reason;
        });
      await settle();
      const failure = new Error("first");
      calls[1]?.reject(failure);
      await settle();
      expect(running()).toBe(0);
      expect(outcome).toBe("open");
      expect(calls.map(({ signal }) => signal.reason)).toEqual([failure, failure, failure, failure]);
      slow.resolve();
      await piped;
      expect(outcome).toBe(failure);
      await settle();
      expect(calls.length).toBe(4);
      expect(state.closed).toBe(true);
    });

    it("leaves later failures aside", async () => {
      const failures = [0, 1, 2].map((n) => new Error(`failure ${n}`));
      const gates = failures.map(() => deferred<never>());
      const fn = (n: number) => gates[n]?.promise;
      const piped = rejection(
        source(3).stream.pipeThrough(mapConcurrent(fn, { concurrency: 3 })).pipeTo(new WritableStream()),
      );
      await settle();
      for (const n of [1, 0, 2]) {
        gates[n]?.reject(failures[n]);
        await settle(1);
      }
      expect(await piped).toBe(failures[1]);
    });

    it.each([1, 100])("keeps the error of a function that throws at once (%s items)", async (count) => {
      const failure = new Error("at once");
      let calls = 0;
      const fn = () => {
        calls++;
        throw failure;
      };
      const results = source(count).stream.pipeThrough(mapConcurrent(fn, { concurrency: 4 }));
      expect(await rejection(collect(results))).toBe(failure);
      expect(calls).toBe(1);
    });

    it("tells it to one who cancels while the other calls end", async () => {
      const failure = new Error("first");
      const slow = deferred<string>();
      const gates = [deferred<never>(), slow];
      const reader = source(2)
        .stream.pipeThrough(mapConcurrent((n) => gates[n]?.promise, { concurrency: 2 }))
        .getReader();
      const read = reader.read();
      await settle();
      gates[0]?.reject(failure);
      await settle();
      const cancelled = rejection(reader.cancel("enough"));
      slow.resolve("late");
      expect(await cancelled).toBe(failure);
      expect((await read).done).toBe(true);
    });

    it("errors its writable side too, so that a close tells of it", async () => {
      const failure = new Error("first");
      const gate = deferred<never>();
      const { readable, writable } = mapConcurrent(() => gate.promise, { concurrency: 4 });
      const read = rejection(readable.getReader().read());
      const writer = writable.getWriter();
      await writer.write(0);
      const closed = rejection(writer.close());
      await settle();
      gate.reject(failure);
      expect(await closed).toBe(failure);
      expect(await read).toBe(failure);
    });

    it("errors both sides before anything more is written or read", async () => {
      const failure = new Error("first");
      const gate = deferred<never>();
      const { writable, readable } = mapConcurrent(() => gate.promise, { concurrency: 4 });
      const reader = readable.getReader();
      const read = rejection(reader.read());
      const writer = writable.getWriter();
      await writer.write(0);
      gate.reject(failure);
      expect(await rejection(writer.closed)).toBe(failure);
      expect(await rejection(reader.closed)).toBe(failure);
      expect(await read).toBe(failure);
    });
  });
});
