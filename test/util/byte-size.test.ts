import fc from "fast-check";
import { expect, it } from "vitest";
import { formatBytes, formatEnoughBytes, parseBytes } from "../../src/util/byte-size.ts";

it("formatEnoughBytes gives a size that is enough, and is hardly more", () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 2e12 }), (bytes) => {
      const enough = parseBytes(formatEnoughBytes(bytes));
      expect(enough).toBeGreaterThanOrEqual(bytes);
      expect(enough).toBeLessThanOrEqual(bytes * 1.101);
    }),
  );
});

it.each([
  [412, "412 B", "412 B"],
  [1549, "1.5 kB", "1.6 kB"],
  [219_168_768, "219 MB", "220 MB"],
  [256e6, "256 MB", "256 MB"],
])("%d bytes are %s, and %s are enough for them", (bytes, size, enough) => {
  expect([formatBytes(bytes), formatEnoughBytes(bytes)]).toEqual([size, enough]);
});
