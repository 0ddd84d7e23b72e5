import type { ChunkData } from "../../codecs/chunk-data.ts";
import { gridShape } from "../../meta/array-metadata.ts";
import { type DataType, isFixed } from "../../meta/data-type.ts";
import type { Region } from "../../streams/chunk.ts";
import { chunkRegion } from "../../streams/selection.ts";
import { fromHex, toHex } from "../../util/bytes.ts";
import type { Hash } from "../../util/hash.ts";
import { compareUtf8 } from "../../util/names.ts";
import { coordsAt, product } from "../../util/shape.ts";

/** Hashes of consecutive cells. */
export interface TreeCells {
  /** Number of the first cell, in C order. */
  readonly first: number;
  /** SHA-256 of each cell, in hexadecimal. */
  readonly sha256: readonly string[];
}

/** The hashes of one array. */
export interface ArrayTree {
  /** Path below the given node; "" for the node itself. */
  readonly path: string;
  readonly dataType: string;
  readonly shape: readonly number[];
  /** Shape of the cells in items; the last along a dimension may be smaller. */
  readonly cellShape: readonly number[];
  /** SHA-256 of the array, in hexadecimal; absent if cells are missing. */
  readonly sha256?: string;
  /** Known hashes of its cells, in order; absent unless requested. */
  readonly cells?: readonly TreeCells[];
}

/** The hashes of an array, or of all arrays of a group. */
export interface DigestTree {
  /** Name of the definition: `zarr-tree-1`. */
  readonly algorithm: string;
  /** SHA-256 of the array or group, in hexadecimal; absent if cells are missing. */
  readonly sha256?: string;
  readonly arrays: readonly ArrayTree[];
}

/** Builds the tree of these arrays, with a root if all of them are complete. */
export function wholeTree(newHash: NewHash, arrays: readonly ArrayTree[]): DigestTree {
  const hashed = arrays.flatMap(({ path, sha256 }) => (sha256 === undefined ? [] : [{ path, sha256 }]));
  const [first] = hashed;
  const isArray = arrays.length === 1 && first?.path === "";
  const sha256 = isArray ? first.sha256 : hierarchyHash(newHash, hashed);
  return { algorithm: TREE_ALGORITHM, ...(hashed.length === arrays.length && { sha256 }), arrays };
}

/** Name of the definition in docs/digest-tree.md; each header begins with it. */
export const TREE_ALGORITHM = "zarr-tree-1";

/** Number of hashes that one node of a tree covers at most. */
const ARITY = 16;

export type NewHash = () => Hash;

/** Computes the hash over the cells of one array: nodes cover up to 16 hashes in a row, and so on until one is left. */
export class MerkleRoot {
  readonly #newHash: NewHash;
  /** Hashes of each level that no node covers yet. */
  readonly #open: Uint8Array[][] = [];

  constructor(newHash: NewHash) {
    this.#newHash = newHash;
  }

  add(hash: Uint8Array, level = 0): void {
    const open = this.#open[level] ?? [];
    this.#open[level] = open;
    open.push(hash);
    if (open.length === ARITY) this.#close(level);
  }

  /** Returns the root of all added hashes, or no bytes if there are none. Nothing can be added afterwards. */
  end(): Uint8Array {
    for (let level = 0; level < this.#open.length; level++) {
      const open = this.#open[level] ?? [];
      const [only] = open;
      if (only && open.length === 1 && level === this.#open.length - 1) return only;
      if (open.length > 0) this.#close(level);
    }
    return new Uint8Array(0);
  }

  #close(level: number): void {
    const hash = this.#newHash().update(header("node"));
    for (const one of this.#open[level] ?? []) hash.update(one);
    this.#open[level] = [];
    this.add(hash.digest(), level + 1);
  }
}

/** Properties of an array that its hashes cover besides the items. */
export interface TreeArrayShape {
  readonly dataType: string;
  readonly shape: readonly number[];
  readonly cellShape: readonly number[];
}

/** The hash of an array, from the root over its cells. */
export function arrayHash(
  newHash: NewHash,
  { shape, cellShape, dataType }: TreeArrayShape,
  cells: Uint8Array,
): string {
  const lines = [shape.join(), cellShape.join(), named(dataType)];
  const hash = newHash().update(header("array", ...lines));
  return toHex(hash.update(cells).digest());
}

/** The hash of a hierarchy, from the hashes of its arrays. */
export function hierarchyHash(
  newHash: NewHash,
  arrays: readonly { readonly path: string; readonly sha256: string }[],
): string {
  const hash = newHash().update(header("hierarchy"));
  for (const { path, sha256 } of [...arrays].sort((a, b) => compareUtf8(a.path, b.path))) {
    hash.update(`${named(path)}\n`).update(fromHex(sha256));
  }
  return toHex(hash.digest());
}

/** Hashes cells whose items come in C order, in pieces of any size. */
export class CellHasher {
  readonly #newHash: NewHash;
  readonly #grid: CellGrid;
  readonly #dataType: string;
  readonly #onCell: (hash: Uint8Array) => void;
  #cell: number;
  #hash: Hash | undefined;
  /** Items that the open cell still needs. */
  #left = 0;

  /** @param first the cell that the first items belong to. */
  constructor(
    newHash: NewHash,
    { grid, dataType, first }: { readonly grid: CellGrid; readonly dataType: string; readonly first: number },
    onCell: (hash: Uint8Array) => void,
  ) {
    this.#newHash = newHash;
    this.#grid = grid;
    this.#dataType = dataType;
    this.#cell = first;
    this.#onCell = onCell;
  }

  /** Hashes items, and returns their number of bytes. */
  push(data: ChunkData): number {
    const items = product(data.shape);
    let bytes = 0;
    for (let at = 0; at < items; ) {
      const hash = this.#hash ?? this.#begin();
      const end = Math.min(items, at + this.#left);
      for (const piece of hashedBytes(data, at, end)) {
        hash.update(piece);
        bytes += piece.length;
      }
      this.#left -= end - at;
      at = end;
      if (this.#left === 0) this.#end(hash);
    }
    return bytes;
  }

  #begin(): Hash {
    const { shape } = this.#grid.regionOf(this.#cell);
    const coords = this.#grid.coordsOf(this.#cell);
    this.#left = product(shape);
    this.#hash = this.#newHash().update(header("cell", coords.join(), shape.join(), named(this.#dataType)));
    return this.#hash;
  }

  #end(hash: Hash): void {
    this.#onCell(hash.digest());
    this.#hash = undefined;
    this.#cell++;
  }
}

function header(what: "cell" | "node" | "array" | "hierarchy", ...lines: readonly string[]): string {
  return [`${TREE_ALGORITHM} ${what}`, ...lines, ""].join("\n");
}

/** Prefixes a name with its length in bytes, so that it cannot be confused with what follows. */
function named(name: string): string {
  return `${new TextEncoder().encode(name).length} ${name}`;
}

/**
 * The bytes of items `[from, to)` in C order. The length (8 bytes, little-endian) precedes each item of varying size.
 */
export function* hashedBytes(data: ChunkData, from: number, to: number): Generator<Uint8Array> {
  if (data.kind === "fixed") {
    yield data.bytes.subarray(from * data.itemSize, to * data.itemSize);
    return;
  }
  const length = new DataView(new ArrayBuffer(8));
  for (let i = from; i < to; i++) {
    const start = data.offsets[i] ?? 0;
    const end = data.offsets[i + 1] ?? 0;
    length.setBigUint64(0, BigInt(end - start), true);
    yield new Uint8Array(length.buffer);
    yield data.bytes.subarray(start, end);
  }
}

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
