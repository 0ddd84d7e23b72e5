import { getEventListeners } from "node:events";
import { describe, expect, it } from "vitest";
import { mapConcurrent } from "../../src/streams/map-concurrent.ts";
import { streamFrom, WritableStream } from "../../src/streams/web.ts";
import { gatedCalls, source } from "./calls.ts";
import { collect, failOnUnhandledRejections, rejection, settle } from "./support.ts";

failOnUnhandledRejections();

describe("mapConcurrent", () => {
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

    it("from within a call it ends, and that call is aborted", async () => {
      const stop = new AbortController();
      const signals: AbortSignal[] = [];
      const fn = async (item: number, { signal }: { readonly signal: AbortSignal }) => {
        signals.push(signal);
        if (item === 2) stop.abort("enough");
        await settle();
        return item;
      };
      const read = collect(
        streamFrom([1, 2, 3]).pipeThrough(mapConcurrent(fn, { concurrency: 2, signal: stop.signal })),
      );
      expect(await rejection(read)).toMatchObject({ code: "aborted", cause: "enough" });
      expect(signals.map(({ aborted }) => aborted)).toEqual([true, true]);
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
      const reader = streamFrom(items())
        .pipeThrough(mapConcurrent(fn, { concurrency: 4 }))
        .getReader();
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
      const error = await read;
      expect(error).toMatchObject({ code: "aborted", cause: reason });
      expect(running()).toBe(0);
      expect(calls.map(({ signal }) => signal.reason)).toEqual([error, error, error]);
      await settle();
      expect(state.closed).toBe(true);
    });

    it("by a signal between calls it errors with the reason", async () => {
      const { state, stream } = source(100);
      const abort = new AbortController();
      const fn = async (n: number) => n;
      const reader = stream
        .pipeThrough(mapConcurrent(fn, { concurrency: 3, signal: abort.signal }))
        .getReader();
      await reader.read();
      await settle();
      const reason = new Error("stop");
      abort.abort(reason);
      expect(await rejection(reader.read())).toMatchObject({ code: "aborted", cause: reason });
      await settle();
      expect(state.closed).toBe(true);
    });

    it("by a signal after the last item was given it errors too", async () => {
      const { calls, fn } = gatedCalls();
      const abort = new AbortController();
      const results = source(2).stream.pipeThrough(
        mapConcurrent(fn, { concurrency: 3, signal: abort.signal }),
      );
      const read = rejection(results.getReader().read());
      await settle();
      expect(calls.length).toBe(2);
      abort.abort("stop");
      expect(await read).toMatchObject({ code: "aborted", cause: "stop" });
    });

    it("by a signal that was aborted before it starts nothing", async () => {
      const { calls, fn } = gatedCalls();
      const signal = AbortSignal.abort("no");
      const results = source(5).stream.pipeThrough(mapConcurrent(fn, { concurrency: 3, signal }));
      expect(await rejection(collect(results))).toMatchObject({ code: "aborted", cause: "no" });
      expect(calls).toEqual([]);
    });

    it("lets many calls listen for it without a warning", async () => {
      const warnings: Error[] = [];
      const note = (warning: Error) => {
        warnings.push(warning);
      };
      process.on("warning", note);
      const { calls, fn } = gatedCalls();
      const reader = source(40)
        .stream.pipeThrough(mapConcurrent(fn, { concurrency: 30 }))
        .getReader();
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
      await source(5)
        .stream.pipeThrough(mapConcurrent(async (n) => n, options))
        .cancel();
      const fail = () => Promise.reject(new Error("broken"));
      await rejection(collect(source(5).stream.pipeThrough(mapConcurrent(fail, options))));
      await settle();
      expect(getEventListeners(signal, "abort")).toEqual([]);
    });
  });
});
