import { gridShape } from "../../meta/array-metadata.ts";
import { type DataType, isFixed } from "../../meta/data-type.ts";
import type { Region } from "../../streams/chunk.ts";
import { chunkRegion } from "../../streams/selection.ts";
import { coordsAt, product } from "../../util/shape.ts";

/** Size limit of a cell in bytes; a single item may exceed it. */
const CELL_BYTES = 2 ** 20;
/** Assumed bytes of an item of varying size. */
const VARIABLE_ITEM = 64;

/** Shape of the cells for an array of this shape and data type, independent of its chunks. */
export function cellShapeOf(shape: readonly number[], dataType: DataType): number[] {
  const itemSize = isFixed(dataType) ? dataType.size : VARIABLE_ITEM;
  let left = Math.max(1, Math.floor(CELL_BYTES / Math.max(1, itemSize)));
  const cell = shape.map(() => 1);
  for (let d = shape.length - 1; d >= 0; d--) {
    const n = Math.max(1, Math.min(shape[d] ?? 1, left));
    cell[d] = n;
    left = Math.floor(left / n);
  }
  return cell;
}

/** An array divided into cells. Cells follow one another in C order, and so do their items. */
export class CellGrid {
  readonly shape: readonly number[];
  readonly cellShape: readonly number[];
  /** Cells along each dimension. */
  readonly #grid: readonly number[];

  constructor(shape: readonly number[], cellShape: readonly number[]) {
    this.shape = shape;
    this.cellShape = cellShape;
    this.#grid = gridShape(shape, cellShape);
  }

  get count(): number {
    return product(this.#grid);
  }

  coordsOf(cell: number): number[] {
    return coordsAt(cell, this.#grid);
  }

  /** Region of a cell, in items. */
  regionOf(cell: number): Region {
    return chunkRegion(this.coordsOf(cell), this.cellShape, this.shape);
  }

  /** Splits cells `[from, to)` into the fewest boxes of items, in C order. */
  *boxes(from: number, to: number): Generator<Region> {
    for (const { start, shape } of boxesWithin(this.#grid, from, to)) {
      const first = start.map((at, d) => at * (this.cellShape[d] ?? 1));
      const end = start.map((at, d) =>
        Math.min(this.shape[d] ?? 1, (at + (shape[d] ?? 1)) * (this.cellShape[d] ?? 1)),
      );
      yield { start: first, shape: end.map((stop, d) => stop - (first[d] ?? 0)) };
    }
  }
}

function* boxesWithin(
  grid: readonly number[],
  from: number,
  to: number,
  above: readonly number[] = [],
): Generator<Region> {
  const inner = grid.slice(above.length + 1);
  const perRow = product(inner);
  for (let at = from; at < to; ) {
    const row = Math.floor(at / perRow);
    const rows = at === row * perRow ? Math.floor((to - at) / perRow) : 0;
    if (rows === 0) {
      const end = Math.min(to, (row + 1) * perRow);
      yield* boxesWithin(grid, at - row * perRow, end - row * perRow, [...above, row]);
      at = end;
      continue;
    }
    const start = [...above, row, ...inner.map(() => 0)];
    const shape = [...above.map(() => 1), rows, ...inner];
    yield { start: start.slice(0, grid.length), shape: shape.slice(0, grid.length) };
    at += rows * perRow;
  }
}
