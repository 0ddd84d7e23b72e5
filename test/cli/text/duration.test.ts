import { expect, it } from "vitest";
import { formatDuration } from "../../../src/cli/text/duration.ts";

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
