// @module-tag sampled
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { fillItems } from "../../../src/codecs/filled-data.ts";
import { type BoxLayout, copyBox, fillBox } from "../../../src/codecs/kernels/copy-box.ts";
import { coordsOf } from "../../../src/util/shape.ts";
import { ownPlaces, vector } from "../../streams/arbitraries.ts";
import { samples } from "../../support/samples.ts";
import { expectSame } from "../support.ts";

interface Box {
  readonly shape: readonly number[];
  readonly itemSize: number;
  readonly from: BoxLayout;
  readonly to: BoxLayout;
  /** Bytes before the first one of each buffer, so that words do not fall on their own multiples. */
  readonly shifts: readonly [number, number];
}

const layout = (shape: readonly number[]) => fc.record({ offset: fc.nat(5), strides: ownPlaces(shape) });

/** As a layout, but some dimensions show the same items again and again. */
const repeatingLayout = (shape: readonly number[]) =>
  fc
    .tuple(layout(shape), vector(shape.length, fc.boolean()))
    .map(([{ offset, strides }, zero]) => ({ offset, strides: strides.map((s, d) => (zero[d] ? 0 : s)) }));

const box: fc.Arbitrary<Box> = fc
  .array(fc.constantFrom(0, 1, 1, 2, 2, 3, 4, 5), { maxLength: 5 })
  .chain((shape) =>
    fc.record({
      shape: fc.constant(shape),
      itemSize: fc.integer({ min: 1, max: 32 }),
      from: fc.oneof(layout(shape), repeatingLayout(shape)),
      to: layout(shape),
      shifts: fc.tuple(fc.nat(7), fc.nat(7)),
    }),
  );

function placeOf(coords: readonly number[], { offset, strides }: BoxLayout): number {
  return coords.reduce((sum, c, d) => sum + c * (strides[d] ?? 0), offset);
}

/** Items from the first of a buffer to the last that a box touches. */
function extent({ offset, strides }: BoxLayout, shape: readonly number[]): number {
  return 1 + shape.reduce((sum, n, d) => sum + Math.max(0, n - 1) * (strides[d] ?? 0), offset);
}

/** A buffer of `length` bytes that begins `shift` bytes into another, of bytes that tell their place. */
function shiftedBuffer(length: number, shift: number, seed: number): Uint8Array {
  const bytes = new Uint8Array(length + shift + 8).subarray(shift, shift + length);
  for (let i = 0; i < length; i++) bytes[i] = (i * 31 + (i >> 8) * 7 + seed) & 255;
  return bytes;
}

function check({ shape, itemSize, from, to, shifts }: Box): void {
  const source = shiftedBuffer(extent(from, shape) * itemSize, shifts[0], 1);
  const target = shiftedBuffer(extent(to, shape) * itemSize, shifts[1], 100);
  const around = new Uint8Array(target.buffer).slice();
  const expected = around.subarray(target.byteOffset);
  for (const coords of coordsOf(shape)) {
    const start = placeOf(coords, from) * itemSize;
    expected.set(source.subarray(start, start + itemSize), placeOf(coords, to) * itemSize);
  }
  copyBox(source, from, target, to, shape, itemSize);
  expectSame(new Uint8Array(target.buffer), around);
}

describe("copyBox", () => {
  it("does what a loop over items does, whatever the layouts", () => {
    fc.assert(fc.property(box, check), { numRuns: samples(1500) });
  });

  it.each([1, 2, 3, 4, 8, 12, 16, 32])("copies long runs of items of %s bytes", (itemSize) => {
    const shape = [3, 200];
    for (const shift of [0, 1, 2, 4]) {
      const from = { offset: 7, strides: [300, 1] };
      check({ shape, itemSize, from, to: { offset: 2, strides: [200, 1] }, shifts: [shift, 0] });
      check({ shape, itemSize, from, to: { offset: 0, strides: [1, 3] }, shifts: [0, shift] });
    }
  });

  it("keeps the bits of a NaN", () => {
    const source = new Uint8Array(new Uint32Array([0x7fa00001, 0xffc12345]).buffer);
    const target = new Uint8Array(8);
    copyBox(source, { offset: 1, strides: [-1] }, target, { offset: 0, strides: [1] }, [2], 4);
    expect([...new Uint32Array(target.buffer)]).toEqual([0xffc12345, 0x7fa00001]);
  });

  it("copies nothing of a box without items, items without bytes, and one item of rank 0", () => {
    const target = new Uint8Array(6);
    const plain = { offset: 0, strides: [1] };
    copyBox(Uint8Array.of(9), plain, target, plain, [0], 1);
    copyBox(Uint8Array.of(9), plain, target, plain, [1], 0);
    copyBox(Uint8Array.of(1, 2, 3), { offset: 0, strides: [] }, target, { offset: 1, strides: [] }, [], 3);
    expect([...target]).toEqual([0, 0, 0, 1, 2, 3]);
  });
});

describe("fillItems", () => {
  it("sets all items, also those without bytes", () => {
    const item = fc.option(fc.uint8Array({ minLength: 1, maxLength: 17 }));
    fc.assert(
      fc.property(item, fc.nat(70), fc.integer({ min: 1, max: 17 }), (item, count, size) => {
        const bytes = item ?? new Uint8Array(size);
        const target = new Uint8Array(count * bytes.length + 3).fill(9).subarray(3);
        fillItems(target, item);
        expectSame(
          target,
          Uint8Array.from({ length: target.length }, (_, i) => bytes[i % bytes.length] ?? 0),
        );
      }),
      { numRuns: samples(300) },
    );
    expect(() => fillItems(new Uint8Array(0), new Uint8Array(0))).not.toThrow();
  });
});

describe("fillBox", () => {
  it("sets every item of a box and no other byte", () => {
    fc.assert(
      fc.property(box, fc.boolean(), ({ shape, itemSize, to, shifts }, zero) => {
        const target = shiftedBuffer(extent(to, shape) * itemSize, shifts[0], 5);
        const item = zero ? null : shiftedBuffer(itemSize, shifts[1], 77);
        const expected = target.slice();
        for (const coords of coordsOf(shape))
          expected.set(item ?? new Uint8Array(itemSize), placeOf(coords, to) * itemSize);
        fillBox(target, to, shape, itemSize, item);
        expectSame(target, expected);
      }),
      { numRuns: samples(300) },
    );
  });
});

describe("rows that become columns", () => {
  it("are whole in planes larger than a tile, whatever lies around", () => {
    for (const [rows, columns] of [
      [2, 40],
      [15, 17],
      [16, 16],
      [33, 50],
      [70, 3],
    ] as const) {
      for (const itemSize of [1, 2, 4, 6, 8, 16]) {
        const shape = [2, rows, columns];
        const from = { offset: 3, strides: [rows * columns + 1, columns, 1] };
        const to = { offset: 1, strides: [rows * columns + 5, 1, rows] };
        check({ shape, itemSize, from, to, shifts: [0, 0] });
        check({ shape, itemSize, from: to, to: from, shifts: [0, 4] });
      }
    }
  });
});
