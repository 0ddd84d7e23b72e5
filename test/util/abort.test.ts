import { getEventListeners } from "node:events";
import { describe, expect, it } from "vitest";
import {
  abortError,
  followSignals,
  onAbort,
  signalOfOurs,
  throwIfAborted,
  unlessAborted,
} from "../../src/util/abort.ts";
import { ZarrflowError } from "../../src/util/errors.ts";

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
