// @module-tag sampled
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { boxRegion } from "../../../src/flows/plan/passes.ts";
import { boxesTouching, pieceOf } from "../../../src/flows/plan/scratch-layout.ts";
import {
  boxOf,
  countBoxes,
  evenSplit,
  firstOf,
  longestBox,
  type Split,
} from "../../../src/flows/plan/splits.ts";
import { coordsOf, product } from "../../../src/util/shape.ts";
import { samples } from "../../support/samples.ts";

const splits: fc.Arbitrary<Split> = fc.record({
  start: fc.nat(6),
  step: fc.integer({ min: 1, max: 4 }),
  size: fc.integer({ min: 1, max: 9 }),
  length: fc.nat(40),
});

test("boxes follow one another without gaps, and each result lies in the box that it is said to", () => {
  fc.assert(
    fc.property(splits, (split) => {
      const boxes = countBoxes(split);
      expect(firstOf(split, boxes)).toBe(split.length);
      for (let box = 0; box < boxes; box++) {
        const length = firstOf(split, box + 1) - firstOf(split, box);
        expect(length).toBeLessThanOrEqual(longestBox(split));
        for (let r = firstOf(split, box); r < firstOf(split, box + 1); r++) expect(boxOf(split, r)).toBe(box);
      }
    }),
  );
});

describe("the pieces of an object", () => {
  const axis = fc.record({
    split: splits.filter(({ length }) => length > 0),
    next: fc.integer({ min: 1, max: 9 }),
  });

  test("are those of the boxes that it touches, one after the other", () => {
    fc.assert(
      fc.property(fc.array(axis, { maxLength: 3 }), (axes) => {
        const own = axes.map(({ split }) => split);
        const next = axes.map(({ split, next: size }) => evenSplit(split.length, size));
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
      { numRuns: samples(50) },
    );
  });
});
