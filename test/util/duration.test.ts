import { describe, expect, it } from "vitest";
import { isDuration, parseDuration } from "../../src/util/duration.ts";

describe("parseDuration", () => {
  it.each([
    [20, 20_000],
    [0.5, 500],
    ["20", 20_000],
    ["20s", 20_000],
    [" 1.5 min ", 90_000],
    ["500ms", 500],
    ["2h", 7_200_000],
  ])("%j are %i ms", (time, milliseconds) => {
    expect(parseDuration(time)).toBe(milliseconds);
  });

  it.each([0, -1, Number.NaN, Number.POSITIVE_INFINITY, "", "s", "20 parsecs", "-1s", "9999h"])(
    "%j is refused",
    (time) => {
      expect(isDuration(time)).toBe(false);
      expect(() => parseDuration(time)).toThrow(expect.objectContaining({ code: "invalid-option" }));
    },
  );
});
