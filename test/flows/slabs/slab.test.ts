// @module-tag sampled
import fc from "fast-check";
import { expect, test } from "vitest";
import { slabParts } from "../../../src/flows/slabs/slab.ts";
import { coordsOf, cStrides, indexOf, product } from "../../../src/util/shape.ts";
import { samples } from "../../support/samples.ts";

test("parts of a slab are boxes that hold its items in order", () => {
  const cut = fc
    .array(fc.integer({ min: 1, max: 5 }), { minLength: 1, maxLength: 4 })
    .chain((shape) => fc.tuple(fc.constant(shape), fc.array(fc.nat(product(shape)), { maxLength: 4 })));
  fc.assert(
    fc.property(cut, ([shape, places]) => {
      const bytes = Uint8Array.from({ length: product(shape) }, (_, i) => i % 256);
      const region = { start: shape.map((_, d) => d), shape };
      const data = { kind: "fixed" as const, bytes, itemSize: 1, shape, strides: cStrides(shape) };
      const ends = [...places, bytes.length].sort((a, b) => a - b);
      let at = 0;
      for (const [i, end] of ends.entries()) {
        for (const part of slabParts({ region, data }, ends[i - 1] ?? 0, end)) {
          const first = part.region.start.map((c, d) => c - d);
          expect(indexOf(first, shape)).toBe(at);
          for (const coords of coordsOf(part.region.shape)) {
            const place = coords.map((c, d) => c + (first[d] ?? 0));
            expect(part.data.bytes[indexOf(coords, part.data.shape)]).toBe(bytes[indexOf(place, shape)]);
            expect(indexOf(place, shape)).toBe(at++);
          }
        }
      }
      expect(at).toBe(bytes.length);
    }),
    { numRuns: samples(1000) },
  );
});
