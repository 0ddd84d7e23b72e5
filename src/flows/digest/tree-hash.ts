import type { ChunkData } from "../../codecs/chunk-data.ts";
import type { Hash } from "../../util/hash.ts";
import { fromHex, toHex } from "../../util/hex.ts";
import { product } from "../../util/shape.ts";
import { compareUtf8 } from "../../util/utf8-order.ts";
import type { CellGrid } from "./cell-grid.ts";
import { itemBytes } from "./item-bytes.ts";

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
      for (const piece of itemBytes(data, at, end)) {
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
