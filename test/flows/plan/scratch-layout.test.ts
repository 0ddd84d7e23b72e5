import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { boxRegion } from "../../../src/flows/plan/passes.ts";
import { boxesTouching, pieceOf } from "../../../src/flows/plan/scratch-layout.ts";
import {
  boxOf,
  type Cuts,
  countBoxes,
  evenCuts,
  firstOf,
  longestBox,
} from "../../../src/flows/plan/splits.ts";
import { coordsOf, product } from "../../../src/util/shape.ts";

const cuts: fc.Arbitrary<Cuts> = fc.record({
  start: fc.nat(6),
  step: fc.integer({ min: 1, max: 4 }),
  size: fc.integer({ min: 1, max: 9 }),
  length: fc.nat(40),
});

test("boxes follow one another without gaps, and each result lies in the box that it is said to", () => {
  fc.assert(
    fc.property(cuts, (cut) => {
      const boxes = countBoxes(cut);
      expect(firstOf(cut, boxes)).toBe(cut.length);
      for (let box = 0; box < boxes; box++) {
        const length = firstOf(cut, box + 1) - firstOf(cut, box);
        expect(length).toBeLessThanOrEqual(longestBox(cut));
        for (let r = firstOf(cut, box); r < firstOf(cut, box + 1); r++) expect(boxOf(cut, r)).toBe(box);
      }
    }),
  );
});

describe("the pieces of an object", () => {
  const axis = fc.record({
    cut: cuts.filter(({ length }) => length > 0),
    next: fc.integer({ min: 1, max: 9 }),
  });

  test("are those of the boxes that it touches, one after the other", () => {
    fc.assert(
      fc.property(fc.array(axis, { maxLength: 3 }), (axes) => {
        const own = axes.map(({ cut }) => cut);
        const next = axes.map(({ cut, next: size }) => evenCuts(cut.length, size));
        for (const coords of coordsOf(own.map(countBoxes))) {
          const box = boxRegion(own, coords);
          if (product(box.shape) === 0) continue;
          const touched = boxesTouching(box, next);
          let items = 0;
          let ordinal = 0;
          for (const at of coordsOf(touched.shape)) {
            const piece = pieceOf(
              box,
              next,
              at.map((c, d) => c + (touched.start[d] ?? 0)),
            );
            expect(piece).toMatchObject({ ordinal, itemsBefore: items });
            items += product(piece?.region.shape ?? [0]);
            ordinal++;
          }
          expect(items).toBe(product(box.shape));
        }
      }),
      { numRuns: 50 },
    );
  });
});
