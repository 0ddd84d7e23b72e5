// @module-tag slow
import { describe, expect, test } from "vitest";
import { copyBox } from "../../../src/codecs/kernels/copy-box.ts";
import type { TransposeKernel } from "../../../src/codecs/kernels/kernel-types.ts";
import { wasmKernels } from "./kernel-pair.ts";

const GUARD = 32;
const transpose = wasmKernels.transpose as TransposeKernel;

/** A buffer between guard bytes. */
function guarded(size: number): { all: Uint8Array; inner: Uint8Array } {
  const all = new Uint8Array(size + 2 * GUARD).fill(0xa5);
  return { all, inner: all.subarray(GUARD, GUARD + size) };
}

function numbered(size: number): Uint8Array {
  return Uint8Array.from({ length: size }, (_, i) => i * 31 + (i >> 8) * 7 + (i >> 16));
}

function itemByItem(source: Uint8Array, rows: number, columns: number, itemSize: number): Uint8Array {
  const turned = new Uint8Array(source.length);
  for (let row = 0; row < rows; row++) {
    for (let column = 0; column < columns; column++) {
      const start = (row * columns + column) * itemSize;
      turned.set(source.subarray(start, start + itemSize), (column * rows + row) * itemSize);
    }
  }
  return turned;
}

describe.each([1, 2, 4, 8])("items of %i bytes", (itemSize) => {
  test.each([
    [32, 32],
    [16, 61],
    [61, 16],
    [33, 47],
    [127, 130],
    [3000, 17],
    [17, 3000],
    [1024, 80],
    [300, 301],
  ])("%i rows of %i become columns, and nothing else is touched", (rows, columns) => {
    const size = rows * columns * itemSize;
    const source = numbered(size);
    const { all, inner } = guarded(size);
    const { all: expected, inner: expectedInner } = guarded(size);
    expectedInner.set(itemByItem(source, rows, columns, itemSize));
    expect(transpose(source, inner, rows, columns, itemSize)).toBe(true);
    expect(Buffer.compare(all, expected)).toBe(0);
    expect(Buffer.compare(source, numbered(size))).toBe(0);
  });

  test("copyBox gives them the same in either order of the dimensions, at any place", () => {
    const [rows, columns] = [50, 35];
    const source = numbered((rows * columns + 6) * itemSize);
    const plane = source.subarray(5 * itemSize, -itemSize);
    const { all, inner } = guarded((rows * columns + 3) * itemSize);
    const { all: expected, inner: expectedInner } = guarded(inner.length);
    expectedInner.set(itemByItem(plane, rows, columns, itemSize), 2 * itemSize);
    for (const turned of [false, true]) {
      const order = (values: readonly number[]) => (turned ? values.toReversed() : values);
      inner.fill(0xa5);
      const from = { offset: 5, strides: order([columns, 1]) };
      const to = { offset: 2, strides: order([1, rows]) };
      copyBox(source, from, inner, to, order([rows, columns]), itemSize);
      expect(Buffer.compare(all, expected)).toBe(0);
    }
  });
});

test.each([
  ["items of other sizes", 64, 64, 3],
  ["wide items", 64, 64, 16],
  ["fewer rows than a tile", 3, 400, 4],
  ["fewer columns than a tile", 900, 15, 1],
  ["little", 10, 10, 4],
  ["more than stays in the caches", 2048, 1024, 8],
])("%s are left alone", (_, rows, columns, itemSize) => {
  const size = rows * columns * itemSize;
  const { all, inner } = guarded(size);
  expect(transpose(numbered(size), inner, rows, columns, itemSize)).toBe(false);
  expect(all.every((byte) => byte === 0xa5)).toBe(true);
});
