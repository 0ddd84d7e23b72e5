import { expect, test } from "vitest";
import { assertCountable } from "../../../src/flows/plan/assert-countable.ts";

const MOST = { items: Number.MAX_SAFE_INTEGER, chunks: 2 ** 31 };

test("what can be counted passes", () => {
  expect(() => assertCountable(MOST, "a")).not.toThrow();
});

test.each([
  { items: 2 ** 53 },
  { chunks: 2 ** 31 + 1 },
  { items: Number.POSITIVE_INFINITY },
  { items: Number.NaN },
])("%j is refused", (more) => {
  expect(() => assertCountable({ ...MOST, ...more }, "a")).toThrow(
    expect.objectContaining({ code: "resource-limit", details: expect.objectContaining({ path: "a" }) }),
  );
});
