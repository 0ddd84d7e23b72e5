import fc from "fast-check";
import { expect, it } from "vitest";
import { bytesInFlight, chunksInFlight } from "../../../src/flows/plan/in-flight-bytes.ts";

const sizes = fc.record({
  waiting: fc.integer({ min: 1, max: 1e6 }),
  working: fc.integer({ min: 0, max: 1e7 }),
});

it("holds as many chunks as fit the bytes, and no more", () => {
  fc.assert(
    fc.property(sizes, fc.integer({ min: 0, max: 1e9 }), (inFlight, bytes) => {
      const chunks = chunksInFlight(inFlight, bytes);
      expect(bytesInFlight(inFlight, chunks)).toBeLessThanOrEqual(bytes);
      expect(bytesInFlight(inFlight, chunks + 1)).toBeGreaterThan(bytes);
    }),
  );
});

it("counts what codecs work on for three chunks, however many wait", () => {
  const inFlight = { waiting: 1, working: 10 };
  expect([1, 2, 3, 4, 100].map((chunks) => bytesInFlight(inFlight, chunks))).toEqual([11, 22, 33, 34, 130]);
});
