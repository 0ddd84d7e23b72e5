import { describe, expect, it } from "vitest";
import { counted, formatDuration, grouped } from "../../../src/flows/text/numbers.ts";

describe("grouped and counted", () => {
  it("put thousands apart", () => {
    expect([0, 999, 1000, 1234567].map(grouped)).toEqual(["0", "999", "1,000", "1,234,567"]);
  });

  it("take the plural but for one", () => {
    expect([0, 1, 2048].map((n) => counted(n, "chunk"))).toEqual(["0 chunks", "1 chunk", "2,048 chunks"]);
  });
});

it.each([
  [0.04, "0.0 s"],
  [9.94, "9.9 s"],
  [9.96, "10 s"],
  [59.4, "59 s"],
  [59.6, "1 min 00 s"],
  [200, "3 min 20 s"],
  [3600 + 5 * 60 + 10, "1 h 05 min"],
])("says %d seconds as %s", (seconds, text) => {
  expect(formatDuration(seconds)).toBe(text);
});
