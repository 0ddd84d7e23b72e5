import fc from "fast-check";
import { expect, test } from "vitest";
import { codeLengths } from "../../../../src/codecs/bytes-to-bytes/bz2/code-lengths.ts";

function lengthsOf(counts: readonly number[]): number[] {
  const lengths = new Uint8Array(counts.length);
  codeLengths(Int32Array.from(counts), lengths);
  return [...lengths];
}

test("codes fill their tree, and are no longer than 17 bits", () => {
  fc.assert(
    fc.property(fc.array(fc.nat(900_000), { minLength: 2, maxLength: 258 }), (counts) => {
      const lengths = lengthsOf(counts);
      expect(lengths.reduce((sum, length) => sum + 2 ** -length, 0)).toBe(1);
      expect(Math.max(...lengths)).toBeLessThanOrEqual(17);
      for (const [a, count] of counts.entries()) {
        for (const [b, other] of counts.entries()) {
          if (count > 2 * other + 2) expect(lengths[a]).toBeLessThanOrEqual(lengths[b] ?? 0);
        }
      }
    }),
    { numRuns: 40 },
  );
});

test("code lengths of a known tree are as known", () => {
  expect(lengthsOf([5, 9, 12, 13, 16, 45])).toEqual([4, 4, 3, 3, 3, 1]);
});

test("counts that double would need codes of 29 bits", () => {
  const lengths = lengthsOf(Array.from({ length: 30 }, (_, i) => 2 ** Math.max(0, i - 10)).map((n) => n * 2));
  expect(Math.max(...lengths)).toBeLessThanOrEqual(17);
  const fibonacci = [1, 1];
  while (fibonacci.length < 28) fibonacci.push((fibonacci.at(-1) ?? 0) + (fibonacci.at(-2) ?? 0));
  expect(Math.max(...lengthsOf(fibonacci))).toBe(17);
});
