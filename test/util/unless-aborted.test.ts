import { getEventListeners } from "node:events";
import { expect, it } from "vitest";
import { unlessAborted } from "../../src/util/unless-aborted.ts";

it("gives what the work gives, or its failure, and leaves no listener", async () => {
  const { signal } = new AbortController();
  expect(await unlessAborted(Promise.resolve(1), signal)).toBe(1);
  await expect(unlessAborted(Promise.reject(new Error("no")), signal)).rejects.toThrow("no");
  expect(await unlessAborted(Promise.resolve(2), undefined)).toBe(2);
  expect(getEventListeners(signal, "abort")).toEqual([]);
});

it("fails with the signal's reason, at once, whatever becomes of the work", async () => {
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
