import { expect, test } from "vitest";
import { codecFailure, corrupt, isOverrun, overrun } from "../../src/codecs/failures.ts";

test("an overrun is distinguished from other corruption", () => {
  expect(isOverrun(overrun(5))).toBe(true);
  expect(isOverrun(corrupt("broken"))).toBe(false);
  expect(isOverrun(new Error("more"))).toBe(false);
  expect(overrun(5)).toMatchObject({ code: "corrupt-chunk", details: { expected: 5, found: "more" } });
});

test("a failure names its codec; ours keeps its identity, others are wrapped", () => {
  const ours = corrupt("broken");
  expect(codecFailure(ours, "zlib", "decode")).toBe(ours);
  expect(ours.details.codec).toBe("zlib");
  const wrapped = codecFailure("boom", "mine", "encode");
  expect(wrapped).toMatchObject({ code: "codec-error", cause: "boom" });
  expect(wrapped.message).toBe("codec mine: cannot encode: boom");
});
