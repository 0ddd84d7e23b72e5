import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { sortBlock } from "../../../../src/codecs/bytes-to-bytes/bz2/block-sort.ts";
import { sortSuffixes } from "../../../../src/codecs/bytes-to-bytes/bz2/suffix-array.ts";
import { hardInputs } from "../lz-sample.ts";

/** Rotations compared one with another. */
function plainSort(block: Uint8Array): { column: number[]; rows: string[] } {
  const rows = Array.from(block, (_, i) => Buffer.concat([block.subarray(i), block.subarray(0, i)]));
  rows.sort(Buffer.compare);
  return { column: rows.map((row) => row.at(-1) ?? 0), rows: rows.map((row) => row.toString("hex")) };
}

function expectSorted(block: Uint8Array): void {
  const column = new Uint8Array(block.length);
  const origin = sortBlock(block, new Int32Array(block.length), column);
  const plain = plainSort(block);
  expect([...column]).toEqual(plain.column);
  expect(plain.rows[origin]).toBe(Buffer.from(block).toString("hex"));
}

describe("the last column and the origin are those of plain sorting", () => {
  test.each(hardInputs(300))("%s", (_, bytes) => {
    for (const length of [1, 2, 3, 4, 7, 12, 60, 299, 300]) expectSorted(bytes.subarray(0, length));
  });

  test("of any bytes, from alphabets large and small", () => {
    const letters = fc.uint8Array({ minLength: 1, maxLength: 60, max: 2 });
    const bytes = fc.uint8Array({ minLength: 1, maxLength: 60 });
    const periodic = fc
      .tuple(letters, fc.integer({ min: 1, max: 5 }))
      .map(([unit, times]) =>
        Uint8Array.from({ length: unit.length * times }, (_, i) => unit[i % unit.length] ?? 0),
      );
    fc.assert(fc.property(fc.oneof(letters, bytes, periodic), expectSorted), { numRuns: 300 });
  });
});

test("suffixes of numbers as of bytes", () => {
  fc.assert(
    fc.property(fc.array(fc.nat(400), { maxLength: 80 }), (numbers) => {
      const order = new Int32Array(numbers.length);
      sortSuffixes(Int32Array.from(numbers), 401, order);
      const suffix = (start: number) => String.fromCharCode(...numbers.slice(start));
      const expected = [...numbers.keys()].sort((a, b) => (suffix(a) < suffix(b) ? -1 : 1));
      expect([...order]).toEqual(expected);
    }),
    { numRuns: 300 },
  );
});
