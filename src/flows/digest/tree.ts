import { hierarchyHash, type NewHash, TREE_ALGORITHM } from "./tree-hash.ts";

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
