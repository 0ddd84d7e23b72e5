import { getEventListeners } from "node:events";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { forEachConcurrent } from "../../src/streams/for-each-concurrent.ts";
import { mapConcurrent } from "../../src/streams/map-concurrent.ts";
import { streamFrom, WritableStream } from "../../src/util/web-streams.ts";
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
  return { calls, fn, running: () => running, reasons: () => calls.map(({ signal }) => signal.reason) };
}

/** A reader of what `fn` makes of `count` items. */
function mapped<T>(count: number, fn: Parameters<typeof mapConcurrent<number, T>>[0], concurrency: number) {
  const { state, stream } = source(count);
  return { state, reader: stream.pipeThrough(mapConcurrent(fn, { concurrency })).getReader() };
}

const identity = async (n: number) => n;

describe("mapConcurrent", () => {
  it("passes every result on once, also undefined ones, and then closes", async () => {
    for (const [count, fn] of [
      [100, async (n: number) => n * 2] as const,
      [5, () => undefined] as const,
      [0, identity] as const,
    ]) {
      const results = await collect(
        source(count).stream.pipeThrough(mapConcurrent<number, number | undefined>(fn, { concurrency: 7 })),
      );
      const expected = await Promise.all(Array.from({ length: count }, (_, n) => fn(n)));
      expect(results.sort((a, b) => (a ?? 0) - (b ?? 0))).toEqual(expected);
    }
  });

  it("keeps exactly `concurrency` items between start and reader, however slow that is", async () => {
    let [started, consumed, most] = [0, 0, 0];
    const work = async () => {
      most = Math.max(most, ++started - consumed);
      await settle(2);
    };
    const { reader } = mapped(40, work, 4);
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
        let [started, running] = [0, 0];
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
    const { calls, fn } = gatedCalls();
    const { state, reader } = mapped(100, fn, 3);
    await settle();
    expect(calls.length).toBe(0);
    const read = reader.read();
    await settle();
    expect([calls.length, state.given]).toEqual([3, 2]);
    await reader.cancel();
    expect(await read).toEqual({ done: true, value: undefined });
  });

  it("gives results in the order in which they come", async () => {
    const { calls, fn } = gatedCalls();
    const { reader } = mapped(3, fn, 3);
    const reads = [reader.read()];
    await settle();
    for (const i of [2, 0, 1]) {
      calls[i]?.resolve(`result ${i}`);
      await settle();
    }
    for (let i = 0; i < 3; i++) reads.push(reader.read());
    const results = (await Promise.all(reads)).map(({ value }) => value);
    expect(results).toEqual(["result 2", "result 0", "result 1", undefined]);
  });

  it("answers several reads that wait at the same time", async () => {
    const { reader } = mapped(4, identity, 2);
    const reads = await Promise.all(Array.from({ length: 5 }, () => reader.read()));
    expect(reads.map(({ value }) => value)).toEqual([0, 1, 2, 3, undefined]);
  });

  it.each([0, -1, Number.NaN])("refuses a concurrency of %s", (concurrency) => {
    expect(() => mapConcurrent((n: number) => n, { concurrency })).toThrow(
      expect.objectContaining({ code: "invalid-option" }),
    );
  });

  describe("canceled", () => {
    it("closes the source and ends the calls in flight before it is done", async () => {
      const { calls, fn, running } = gatedCalls();
      const { state, reader } = mapped(100, fn, 4);
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
      const { calls, fn, running, reasons } = gatedCalls();
      const { reader } = mapped(3, fn, 8);
      const read = reader.read();
      await settle();
      expect(calls.length).toBe(3);
      await reader.cancel("enough");
      expect(running()).toBe(0);
      expect(reasons()).toEqual(["enough", "enough", "enough"]);
      expect((await read).done).toBe(true);
    });

    it("discards results that were not read and those that come late, each once", async () => {
      const discarded: number[] = [];
      const late = deferred();
      const fn = async (n: number) => {
        if (n === 3) await late.promise;
        return n;
      };
      const discard = (n: number) => void discarded.push(n);
      const reader = source(9)
        .stream.pipeThrough(mapConcurrent(fn, { concurrency: 4, discard }))
        .getReader();
      expect((await reader.read()).value).toBe(0);
      await settle();
      const canceled = reader.cancel();
      expect(discarded).toEqual([1, 2, 4]);
      late.resolve();
      await canceled;
      expect(discarded).toEqual([1, 2, 4, 3]);
    });

    it("by a loop that is left early it ends as well", async () => {
      const { state, stream } = source(100);
      const { fn, calls, running } = gatedCalls();
      const zeroFirst = async (item: number, context: { signal: AbortSignal }) =>
        item === 0 ? "zero" : fn(item, context);
      for await (const result of stream.pipeThrough(mapConcurrent(zeroFirst, { concurrency: 4 }))) {
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

  describe("when a call fails", () => {
    it("errors with that very error when the other calls have ended, and starts no more", async () => {
      const { state, stream } = source(100);
      const { calls, fn, running, reasons } = gatedCalls();
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
      expect(reasons()).toEqual([failure, failure, failure, failure]);
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
      const results = source(3).stream.pipeThrough(
        mapConcurrent((n) => gates[n]?.promise, { concurrency: 3 }),
      );
      const piped = rejection(results.pipeTo(new WritableStream()));
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
      expect(await rejection(mapped(count, fn, 4).reader.read())).toBe(failure);
      expect(calls).toBe(1);
    });

    it("reports it to one who cancels while the other calls end", async () => {
      const failure = new Error("first");
      const slow = deferred<string>();
      const gates = [deferred<never>(), slow];
      const { reader } = mapped(2, (n) => gates[n]?.promise, 2);
      const read = reader.read();
      await settle();
      gates[0]?.reject(failure);
      await settle();
      const canceled = rejection(reader.cancel("enough"));
      slow.resolve("late");
      expect(await canceled).toBe(failure);
      expect((await read).done).toBe(true);
    });

    it.each([true, false])(
      "errors both sides before more is written or read, and a close (%s)",
      async (closes) => {
        const failure = new Error("first");
        const gate = deferred<never>();
        const { readable, writable } = mapConcurrent(() => gate.promise, { concurrency: 4 });
        const reader = readable.getReader();
        const read = rejection(reader.read());
        const writer = writable.getWriter();
        await writer.write(0);
        const closed = closes ? rejection(writer.close()) : undefined;
        await settle();
        gate.reject(failure);
        expect(await (closed ?? rejection(writer.closed))).toBe(failure);
        expect(await rejection(reader.closed)).toBe(failure);
        expect(await read).toBe(failure);
      },
    );
  });

  describe("aborted", () => {
    const reason = new Error("stop");

    it.each([3, 100])("by `pipeTo` it ends all calls in flight (%s items)", async (count) => {
      const { state, stream } = source(count);
      const { calls, fn, running, reasons } = gatedCalls();
      const stop = new AbortController();
      let aborted: unknown;
      const sink = new WritableStream({
        abort(reason) {
          aborted = reason;
        },
      });
      const piped = stream
        .pipeThrough(mapConcurrent(fn, { concurrency: 3 }))
        .pipeTo(sink, { signal: stop.signal });
      await settle();
      expect(calls.length).toBe(3);
      stop.abort(reason);
      expect(await rejection(piped)).toBe(reason);
      expect(aborted).toBe(reason);
      expect(running()).toBe(0);
      expect(reasons()).toEqual([reason, reason, reason]);
      await settle();
      expect(state.closed).toBe(true);
      expect(calls.length).toBe(3);
    });

    it("from within a call it ends, and that call is aborted", async () => {
      const stop = new AbortController();
      const signals: AbortSignal[] = [];
      const fn = async (item: number, { signal }: { readonly signal: AbortSignal }) => {
        signals.push(signal);
        if (item === 2) stop.abort("enough");
        await settle();
      };
      const results = streamFrom([1, 2, 3]).pipeThrough(
        mapConcurrent(fn, { concurrency: 2, signal: stop.signal }),
      );
      expect(await rejection(collect(results))).toMatchObject({ code: "aborted", cause: "enough" });
      expect(signals.map(({ aborted }) => aborted)).toEqual([true, true]);
    });

    it.each([false, true])(
      "on its writable side it errors the readable one and ends calls, if read: %s",
      async (isRead) => {
        const { fn, running, reasons } = gatedCalls();
        const { readable, writable } = mapConcurrent(fn, { concurrency: 2 });
        const reader = readable.getReader();
        const read = isRead ? rejection(reader.read()) : undefined;
        const writer = writable.getWriter();
        const outcomes = Promise.allSettled([0, 1, 2].map((n) => writer.write(n)));
        await settle();
        await writer.abort(reason);
        expect(running()).toBe(0);
        expect(reasons()).toEqual(isRead ? [reason, reason] : []);
        expect(await (read ?? rejection(reader.read()))).toBe(reason);
        expect((await outcomes).at(-1)).toEqual({ status: "rejected", reason });
      },
    );

    it("by its source it ends the calls and errors with the source's error", async () => {
      async function* items() {
        yield* [0, 1];
        throw reason;
      }
      const { fn, running, reasons } = gatedCalls();
      const results = streamFrom(items()).pipeThrough(mapConcurrent(fn, { concurrency: 4 }));
      expect(await rejection(collect(results))).toBe(reason);
      expect(running()).toBe(0);
      expect(reasons()).toEqual([reason, reason]);
    });

    it.each([2, 100])(
      "by a signal it errors with the reason when the calls have ended (%s items)",
      async (count) => {
        const { state, stream } = source(count);
        const { fn, running, reasons } = gatedCalls();
        const stop = new AbortController();
        const read = rejection(
          collect(stream.pipeThrough(mapConcurrent(fn, { concurrency: 3, signal: stop.signal }))),
        );
        await settle();
        stop.abort(reason);
        const error = await read;
        expect(error).toMatchObject({ code: "aborted", cause: reason });
        expect(running()).toBe(0);
        expect(reasons()).toEqual(new Array(Math.min(count, 3)).fill(error));
        await settle();
        expect(state.closed).toBe(true);
      },
    );

    it("by a signal between calls, or before any, it errors with the reason", async () => {
      const { state, stream } = source(100);
      const stop = new AbortController();
      const reader = stream
        .pipeThrough(mapConcurrent(identity, { concurrency: 3, signal: stop.signal }))
        .getReader();
      await reader.read();
      await settle();
      stop.abort(reason);
      expect(await rejection(reader.read())).toMatchObject({ code: "aborted", cause: reason });
      await settle();
      expect(state.closed).toBe(true);
      const { calls, fn } = gatedCalls();
      const options = { concurrency: 3, signal: AbortSignal.abort("no") };
      const results = collect(source(5).stream.pipeThrough(mapConcurrent(fn, options)));
      expect(await rejection(results)).toMatchObject({ code: "aborted", cause: "no" });
      expect(calls).toEqual([]);
    });

    it("lets many calls listen for it without a warning", async () => {
      const warnings: Error[] = [];
      const note = (warning: Error) => void warnings.push(warning);
      process.on("warning", note);
      const { calls, fn } = gatedCalls();
      const { reader } = mapped(40, fn, 30);
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
      await collect(source(5).stream.pipeThrough(mapConcurrent(identity, options)));
      await source(5).stream.pipeThrough(mapConcurrent(identity, options)).cancel();
      const fail = () => Promise.reject(new Error("broken"));
      await rejection(collect(source(5).stream.pipeThrough(mapConcurrent(fail, options))));
      await settle();
      expect(getEventListeners(signal, "abort")).toEqual([]);
    });
  });
});

describe("forEachConcurrent", () => {
  it("calls for each item, so many at a time, and resolves when all have ended", async () => {
    let [running, most] = [0, 0];
    const ended: number[] = [];
    const call = async (item: number) => {
      most = Math.max(most, ++running);
      await settle(2);
      running--;
      ended.push(item);
    };
    await forEachConcurrent([1, 2, 3, 4, 5, 6, 7], call, { concurrency: 3 });
    expect(ended.sort()).toEqual([1, 2, 3, 4, 5, 6, 7]);
    expect(most).toBe(3);
  });

  it("fails with the first failure, draws no more items, and aborts the calls under way", async () => {
    const failure = new Error("third");
    const { state, stream } = source(100);
    let aborted: unknown;
    const call = async (item: number, { signal }: { readonly signal: AbortSignal }) => {
      if (item === 3) throw failure;
      await untilAborted(signal).catch((reason) => {
        aborted = reason;
      });
    };
    await expect(forEachConcurrent(stream, call, { concurrency: 4 })).rejects.toBe(failure);
    expect(aborted).toBe(failure);
    expect(state.given).toBeLessThan(10);
  });

  it("ends after a failure once what draws its items has ended, too", async () => {
    const failure = new Error("second");
    let isAtWork = false;
    async function* items() {
      yield* [1, 2];
      isAtWork = true;
      await settle(20);
      isAtWork = false;
      yield 3;
    }
    const call = async (item: number) => {
      await settle(item);
      if (item === 2) throw failure;
    };
    await expect(forEachConcurrent(items(), call, { concurrency: 4 })).rejects.toBe(failure);
    expect(isAtWork).toBe(false);
  });
});
