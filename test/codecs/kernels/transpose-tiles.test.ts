import { describe, expect, test } from "vitest";
import { type Loop, transposeTiles } from "../../../src/codecs/kernels/transpose-tiles.ts";

describe.each([1, 2, 3, 4])("items of %i words", (width) => {
  test.each([
    [1, 1],
    [4, 4],
    [5, 7],
    [31, 33],
    [32, 64],
    [66, 35],
  ])("%i rows of %i become columns, in either order of the loops", (rows, columns) => {
    // Rows lie a little apart on both sides.
    const fromRow = columns * width + 3;
    const toRow = rows * width + 2;
    const source = Uint32Array.from({ length: rows * fromRow + 5 }, (_, i) => i * 2_654_435_761);
    const expected = new Uint32Array(columns * toRow + 9);
    for (let row = 0; row < rows; row++) {
      for (let column = 0; column < columns; column++) {
        for (let word = 0; word < width; word++) {
          const item = source[5 + row * fromRow + column * width + word] ?? 0;
          expected[7 + column * toRow + row * width + word] = item;
        }
      }
    }
    const along: Loop = { count: columns, from: width, to: toRow };
    const across: Loop = { count: rows, from: fromRow, to: width };
    for (const loops of [[along, across] as const, [across, along] as const]) {
      const target = new Uint32Array(expected.length);
      transposeTiles(source, 5, target, 7, loops, width);
      expect(target).toEqual(expected);
    }
  });
});

test("items that lie apart on both sides are turned, too", () => {
  const source = Uint32Array.from({ length: 60 }, (_, i) => i);
  const target = new Uint32Array(60);
  const along: Loop = { count: 4, from: 2, to: 15 };
  const across: Loop = { count: 5, from: 10, to: 3 };
  transposeTiles(source, 0, target, 0, [along, across], 1);
  for (let a = 0; a < 4; a++) for (let b = 0; b < 5; b++) expect(target[15 * a + 3 * b]).toBe(2 * a + 10 * b);
});
