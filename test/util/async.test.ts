import { getEventListeners } from "node:events";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import {
  abortError,
  followSignals,
  onAbort,
  signalOfOurs,
  throwIfAborted,
  unlessAborted,
} from "../../src/util/abort.ts";
import { after, isPromise } from "../../src/util/awaitable.ts";
import { BlockingIo } from "../../src/util/blocking-io.ts";
import { ZarrflowError } from "../../src/util/errors.ts";
import { pagesFrom, ReadableStream, streamFrom, streamFromPages } from "../../src/util/web-streams.ts";

describe("onAbort", () => {
  it("adds one listener, however many wait, and none when nobody does any more", () => {
    const { signal } = new AbortController();
    const stops = Array.from({ length: 100 }, () => onAbort(signal, () => {}));
    expect(getEventListeners(signal, "abort")).toHaveLength(1);
    for (const stop of stops) stop();
    expect(getEventListeners(signal, "abort")).toEqual([]);
  });

  it("calls all who still wait, in order, those that come after others have left too", () => {
    const controller = new AbortController();
    const called: number[] = [];
    onAbort(controller.signal, () => called.push(0))();
    onAbort(controller.signal, () => called.push(1));
    const stop = onAbort(controller.signal, () => called.push(2));
    onAbort(controller.signal, () => called.push(3));
    stop();
    stop();
    controller.abort();
    expect(called).toEqual([1, 3]);
  });
});

describe("a signal that follows others", () => {
  it("is aborted with the first of them, with its reason, or at once", () => {
    const [a, b] = [new AbortController(), new AbortController()];
    const { signal } = followSignals(a.signal, undefined, b.signal);
    expect(signal.aborted).toBe(false);
    b.abort("b");
    a.abort("a");
    expect(signal.reason).toBe("b");
    expect(followSignals(null, a.signal).signal.reason).toBe("a");
  });

  it("leaves nothing with those that it followed, however many do, and follows no more when it is ended", () => {
    const controller = new AbortController();
    const all = Array.from({ length: 100 }, () => followSignals(controller.signal));
    expect(getEventListeners(controller.signal, "abort")).toHaveLength(1);
    for (const { end } of all) end();
    expect(getEventListeners(controller.signal, "abort")).toEqual([]);
    controller.abort();
    expect(all.filter(({ signal }) => signal.aborted)).toEqual([]);
  });
});

describe("an abort", () => {
  it("is `aborted`, whose cause is the reason", () => {
    for (const reason of [new Error("enough"), "enough", 0, null]) {
      const signal = AbortSignal.abort(reason);
      expect(() => throwIfAborted(signal)).toThrowError(
        expect.objectContaining({ code: "aborted", cause: reason }),
      );
      expect(signalOfOurs(signal).reason).toMatchObject({ code: "aborted", cause: reason });
    }
  });

  it("that a failure of ours caused is that failure", () => {
    const failure = new ZarrflowError("no-space", "full");
    expect(abortError(failure)).toBe(failure);
  });

  it("of one signal is the same for all, and is passed on when it comes", () => {
    const controller = new AbortController();
    const ours = signalOfOurs(controller.signal);
    expect(signalOfOurs(controller.signal)).toBe(ours);
    expect(signalOfOurs(ours)).toBe(ours);
    expect(ours.aborted).toBe(false);
    controller.abort("enough");
    expect(ours.reason).toMatchObject({ code: "aborted", cause: "enough", exitCode: 130 });
  });
});

it("unlessAborted gives what the work gives, or its failure, and leaves no listener", async () => {
  const { signal } = new AbortController();
  expect(await unlessAborted(Promise.resolve(1), signal)).toBe(1);
  await expect(unlessAborted(Promise.reject(new Error("no")), signal)).rejects.toThrow("no");
  expect(await unlessAborted(Promise.resolve(2), undefined)).toBe(2);
  expect(getEventListeners(signal, "abort")).toEqual([]);
});

it("unlessAborted fails with the signal's reason, at once, whatever becomes of the work", async () => {
  const abort = new AbortController();
  let fail = (_: Error) => {};
  const work = new Promise<never>((_, reject) => {
    fail = reject;
  });
  const waiting = unlessAborted(work, abort.signal);
  abort.abort(new Error("enough"));
  await expect(waiting).rejects.toMatchObject({ code: "aborted", cause: new Error("enough") });
  fail(new Error("too late for anybody"));
  await expect(unlessAborted(new Promise(() => {}), abort.signal)).rejects.toMatchObject({
    code: "aborted",
    cause: new Error("enough"),
  });
});

it("what is there is used at once, and its failure thrown", () => {
  expect(after(2, (n) => n + 1)).toBe(3);
  expect(isPromise(2)).toBe(false);
  expect(isPromise<null>(null)).toBe(false);
  expect(() =>
    after(2, () => {
      throw new RangeError("no");
    }),
  ).toThrow(RangeError);
});

it("what will be there is waited for, whoever promised it", async () => {
  const later = after(Promise.resolve(2), (n) => n + 1);
  expect(isPromise(later)).toBe(true);
  expect(await later).toBe(3);
  // biome-ignore lint/suspicious/noThenProperty: what other libraries promise has no more than that
  const foreign = { then: (resolve: (n: number) => void) => resolve(2) } as unknown as Promise<number>;
  expect(await after(foreign, (n) => n + 1)).toBe(3);
});

async function all<T>(pages: AsyncIterable<readonly T[]>): Promise<(readonly T[])[]> {
  const found: (readonly T[])[] = [];
  for await (const page of pages) found.push(page);
  return found;
}

describe("pagesFrom", () => {
  it("gives the pages that a stream was made of, itself", async () => {
    const pages = [[1, 2, 3], [], [4]];
    const found = await all(pagesFrom(streamFromPages(pages)));
    expect(found).toEqual(pages);
    expect(found[0]).toBe(pages[0]);
  });

  it("gives each item of another stream, and the rest of one that was read from", async () => {
    expect(await all(pagesFrom(streamFrom([1, 2])))).toEqual([[1], [2]]);
    const stream = streamFromPages([
      [1, 2],
      [3, 4],
    ]);
    const reader = stream.getReader();
    await reader.read();
    reader.releaseLock();
    expect(await all(pagesFrom(stream))).toEqual([[2], [3], [4]]);
  });

  it("takes the stream, and closes what it comes from when it is left early", async () => {
    let isClosed = false;
    const pages = async function* () {
      try {
        yield [1];
        yield [2];
      } finally {
        isClosed = true;
      }
    };
    const stream = streamFromPages(pages());
    for await (const page of pagesFrom(stream)) {
      expect(page).toEqual([1]);
      expect(stream.locked).toBe(true);
      break;
    }
    expect(isClosed).toBe(true);
  });

  it("fails as the pages do, or with the reason of the signal", async () => {
    const failing = async function* () {
      yield [1];
      throw new RangeError("no more");
    };
    await expect(all(pagesFrom(streamFromPages(failing())))).rejects.toThrow("no more");
    const broken = new ReadableStream<number>({
      start(controller) {
        controller.error(new RangeError("broken"));
      },
    });
    await expect(all(pagesFrom(broken))).rejects.toThrow("broken");
    const abort = new AbortController();
    const endless = async function* () {
      for (let i = 0; ; i++) {
        if (i === 3) abort.abort(new RangeError("enough"));
        yield [i];
      }
    };
    await expect(all(pagesFrom(streamFromPages(endless(), abort.signal)))).rejects.toMatchObject({
      code: "aborted",
      cause: new RangeError("enough"),
    });
  });
});

describe("calls that block", () => {
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
});
