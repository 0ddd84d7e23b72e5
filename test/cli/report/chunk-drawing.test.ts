import { describe, expect, it } from "vitest";
import { chunkDrawing, type DrawnGrid, drawnDimensions } from "../../../src/cli/report/chunk-drawing.ts";
import { elementsOf } from "./markup.ts";

function grid(shape: readonly number[], chunkShape: readonly number[]): DrawnGrid {
  return { shape, chunkShape, names: shape.map((_, d) => `d${d}`) };
}

describe("a drawing of chunks", () => {
  it.each([
    { shape: [10], chunkShape: [3], cuts: 3 },
    { shape: [10, 20], chunkShape: [5, 5], cuts: 4 },
    { shape: [4, 6, 8], chunkShape: [1, 6, 4], cuts: 2 * (3 + 0 + 1) },
    { shape: [0, 5], chunkShape: [1, 5], cuts: 0 },
  ])("of $shape in $chunkShape has $cuts lines between them", ({ shape, chunkShape, cuts }) => {
    const { text } = chunkDrawing(
      grid(shape, chunkShape),
      shape.map((_, d) => d),
    );
    elementsOf(text);
    expect(text.match(/class="cut"/g) ?? []).toHaveLength(cuts);
    expect(text).not.toMatch(/NaN|Infinity|undefined/);
    for (const [d] of shape.entries()) expect(text).toContain(`d${d} ${shape[d]}</text>`);
  });

  it("has a bounded number of lines", () => {
    const { text } = chunkDrawing(grid([1e6, 1e6], [1, 1]), [0, 1]);
    expect((text.match(/class="cut"/g) ?? []).length).toBeLessThanOrEqual(64);
  });
});

describe("the dimensions that are drawn", () => {
  it("are those whose chunks change, then the longest, in order", () => {
    const before = grid([2, 900, 5, 800, 3], [1, 900, 5, 800, 3]);
    expect(drawnDimensions(before, grid([2, 900, 5, 800, 3], [2, 900, 5, 800, 1]))).toEqual([0, 1, 4]);
    expect(drawnDimensions(grid([7], [1]), grid([7], [7]))).toEqual([0]);
  });
});
