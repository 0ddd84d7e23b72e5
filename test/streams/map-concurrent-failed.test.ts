import { describe, expect, it } from "vitest";
import { mapConcurrent } from "../../src/streams/map-concurrent.ts";
import { WritableStream } from "../../src/streams/web.ts";
import { gatedCalls, source } from "./calls.ts";
import { collect, deferred, failOnUnhandledRejections, rejection, settle } from "./support.ts";

failOnUnhandledRejections();

describe("mapConcurrent", () => {
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
        source(3)
          .stream.pipeThrough(mapConcurrent(fn, { concurrency: 3 }))
          .pipeTo(new WritableStream()),
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

    it("reports it to one who cancels while the other calls end", async () => {
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

    it("errors its writable side too, so that a close reports it", async () => {
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
