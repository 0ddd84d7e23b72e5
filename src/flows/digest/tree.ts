import { hierarchyHash, type NewHash, TREE_ALGORITHM } from "./tree-hash.ts";

/** Hashes of cells that follow one another. */
export interface TreeCells {
  /** Number, in C order, of the first cell. */
  readonly first: number;
  /** SHA-256 of each, in hexadecimal. */
  readonly sha256: readonly string[];
}

/** The hashes of one array. */
export interface ArrayTree {
  /** Path below the node that was asked for; "" for that itself. */
  readonly path: string;
  readonly dataType: string;
  readonly shape: readonly number[];
  /** Shape of the cells, in items; those at the end of a dimension may be smaller. */
  readonly cellShape: readonly number[];
  /** SHA-256 of the array, in hexadecimal; absent where cells are missing. */
  readonly sha256?: string;
  /** The hashes of its cells, in order, as far as they are known; absent where they were not asked for. */
  readonly cells?: readonly TreeCells[];
}

/** The hashes of an array, or of all arrays of a group. */
export interface DigestTree {
  /** Which definition was followed: `zarr-tree-1`. */
  readonly algorithm: string;
  /** SHA-256, in hexadecimal, of the array, or of the group by those of its arrays; absent where cells are missing. */
  readonly sha256?: string;
  readonly arrays: readonly ArrayTree[];
}

/** The tree of these arrays, with its root where all of them are whole. */
export function wholeTree(newHash: NewHash, arrays: readonly ArrayTree[]): DigestTree {
  const hashed = arrays.flatMap(({ path, sha256 }) => (sha256 === undefined ? [] : [{ path, sha256 }]));
  const [first] = hashed;
  const isArray = arrays.length === 1 && first?.path === "";
  const sha256 = isArray ? first.sha256 : hierarchyHash(newHash, hashed);
  return { algorithm: TREE_ALGORITHM, ...(hashed.length === arrays.length && { sha256 }), arrays };
}
