import type { ZarrArray } from "../../hierarchy/node.ts";
import { gridShape } from "../../meta/array-metadata.ts";
import { isListable } from "../../stores/store.ts";
import { storeTraits } from "../../stores/store-traits.ts";
import { product } from "../../util/shape.ts";

/** Stored chunks of an array and their bytes, in cells along the two dimensions with the most chunks. */
export interface ChunkMap {
  /** Dimensions of rows and columns, in order; fewer if the array has fewer. */
  readonly dimensions: readonly number[];
  readonly grid: readonly number[];
  readonly rows: number;
  readonly columns: number;
  /** Chunks of the grid in one cell, along its rows and columns. */
  readonly perCell: readonly [number, number];
  /** Number of chunks along all other dimensions together. */
  readonly others: number;
  /** Stored chunks of each cell, row by row. */
  readonly present: readonly number[];
  /** Their bytes; null if a listing does not include sizes. */
  readonly bytes: readonly number[] | null;
  readonly chunksPresent: number;
  readonly storedBytes: number | null;
}

/** Limit of cells along one side. */
const MAX_SIDE = 64;
/** Limit of cells if only one dimension has several chunks. */
const MAX_IN_ROW = 1024;

/** Maps an array's chunks from a listing; undefined if the store cannot list. */
export async function chunkMap(
  { store, spec, layout, metadata }: ZarrArray,
  signal: AbortSignal,
): Promise<ChunkMap | undefined> {
  if (!isListable(store)) return undefined;
  const { chunkGrid, chunkKeyEncoding, shape } = metadata;
  const grid = gridShape(shape, chunkGrid.chunkShape);
  const largest = grid.map((_, d) => d).sort((a, b) => (grid[b] ?? 0) - (grid[a] ?? 0) || a - b);
  const isOneRow = grid.filter((n) => n > 1).length <= 1;
  const dimensions = largest.slice(0, isOneRow ? 1 : 2).sort((a, b) => a - b);
  const [down, across] = dimensions.length < 2 ? [undefined, dimensions[0]] : dimensions;
  const side = (d: number | undefined) => (d === undefined ? 1 : (grid[d] ?? 0));
  const most = isOneRow ? MAX_IN_ROW : MAX_SIDE;
  const [perRow, perColumn] = [down, across].map((d) => Math.max(1, Math.ceil(side(d) / most)));
  const perCell = [perRow ?? 1, perColumn ?? 1] as const;
  const [rows, columns] = [Math.ceil(side(down) / perCell[0]), Math.ceil(side(across) / perCell[1])];
  const present = new Array<number>(rows * columns).fill(0);
  const bytes = new Array<number>(rows * columns).fill(0);
  let [chunksPresent, storedBytes, isSized] = [0, 0, true];
  const { isFileBacked } = storeTraits(spec);
  for await (const { key, ...listed } of store.list(layout.chunksPrefix, { signal })) {
    const coords = layout.parseChunkKey(key, shape.length, chunkKeyEncoding);
    if (!coords?.every((c, d) => c < (grid[d] ?? 0))) continue;
    const size = listed.size ?? (isFileBacked ? await store.size(key, { signal }) : undefined);
    const at = (d: number | undefined, per: number) =>
      d === undefined ? 0 : Math.floor((coords[d] ?? 0) / per);
    const cell = at(down, perCell[0]) * columns + at(across, perCell[1]);
    present[cell] = (present[cell] ?? 0) + 1;
    bytes[cell] = (bytes[cell] ?? 0) + (size ?? 0);
    chunksPresent++;
    storedBytes += size ?? 0;
    isSized &&= size !== undefined;
  }
  return {
    dimensions,
    grid,
    rows,
    columns,
    perCell,
    others: product(grid.filter((_, d) => !dimensions.includes(d))),
    present,
    bytes: isSized ? bytes : null,
    chunksPresent,
    storedBytes: isSized ? storedBytes : null,
  };
}
