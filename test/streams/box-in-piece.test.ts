import { describe, expect, it } from "vitest";
import { boxInPiece } from "../../src/streams/box-in-piece.ts";
import { wholeSelection } from "../../src/streams/selection.ts";

const region = { start: [2, 5], shape: [3, 4] };

describe("boxInPiece", () => {
  it("counts from the piece's own first item", () => {
    const piece = { index: 0, coords: [1, 1], region: { start: [2, 4], shape: [4, 6] } };
    expect(boxInPiece(piece, [6, 1], region, wholeSelection([9, 9]))).toEqual({ offset: 1, strides: [6, 1] });
  });

  it("follows the strides of the piece, whatever their order", () => {
    const piece = { index: 0, coords: [0, 0], region: { start: [0, 0], shape: [9, 9] } };
    expect(boxInPiece(piece, [1, 9], region, wholeSelection([9, 9]))).toEqual({
      offset: 2 + 9 * 5,
      strides: [1, 9],
    });
  });

  it("steps over the items that are not selected", () => {
    const piece = { index: 0, coords: [1, 1], region: { start: [10, 20], shape: [20, 20] } };
    const selection = { start: [6, 3], step: [3, 4], shape: [8, 8] };
    const box = boxInPiece(piece, [20, 1], region, selection);
    expect(box).toEqual({ offset: (6 + 3 * 2 - 10) * 20 + (3 + 4 * 5 - 20), strides: [60, 4] });
  });

  it("is the one item of a scalar", () => {
    const piece = { index: 0, coords: [], region: { start: [], shape: [] } };
    expect(boxInPiece(piece, [], { start: [], shape: [] }, wholeSelection([]))).toEqual({
      offset: 0,
      strides: [],
    });
  });
});
