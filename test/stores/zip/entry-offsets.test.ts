import { expect, it } from "vitest";
import { EntryOffsets } from "../../../src/stores/zip/entry-offsets.ts";

it("returns the next offset, whatever the order of the directory, and with many at one place", () => {
  const numbers = Array.from({ length: 500 }, (_, i) => ((i * 7919) % 500) * 2 ** 25);
  for (const order of [numbers, numbers.toSorted((a, b) => a - b), [...numbers, ...numbers]]) {
    const offsets = new EntryOffsets();
    for (const offset of order) offsets.add(offset);
    expect(offsets.after(-1)).toBe(0);
    expect(offsets.after(0)).toBe(2 ** 25);
    expect(offsets.after(2 ** 25 + 1)).toBe(2 * 2 ** 25);
    expect(offsets.after(499 * 2 ** 25)).toBeUndefined();
  }
});

it("takes more after it was asked", () => {
  const offsets = new EntryOffsets();
  offsets.add(9);
  expect(offsets.after(0)).toBe(9);
  offsets.add(5);
  expect(offsets.after(0)).toBe(5);
});
