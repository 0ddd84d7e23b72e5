import { fromHex } from "../../util/bytes.ts";
import { ZarrflowError } from "../../util/errors.ts";
import { hasher } from "../../util/hash.ts";
import { invalidOption, isObject } from "../../util/options.ts";
import {
  type ArrayTree,
  arrayHash,
  CellGrid,
  type DigestTree,
  MerkleRoot,
  type NewHash,
  TREE_ALGORITHM,
  type TreeCells,
  wholeTree,
} from "./tree-hash.ts";

const SHA256 = /^[0-9a-f]{64}$/;

/**
 * Merges trees of parts that were hashed separately, on different machines or at different times. Parts may overlap if
 * they agree. While cells are missing, the result is itself a part, without a root.
 *
 * @param trees results of `digestTree` with `part` or `cells`, or their parsed JSON.
 * @throws `invalid-option` for values that are not such trees, or trees of different arrays; `differs` if two parts
 *   disagree about a cell.
 * @example
 * ```ts
 * import { digestTree, mergeDigestTrees } from "zarrflow";
 *
 * const half = (number: number) => digestTree("era5.zarr", { part: { number, of: 2 } });
 * const merged = await mergeDigestTrees([await half(1), await half(2)]);
 * console.log(merged.sha256 === (await digestTree("era5.zarr")).sha256); // true
 * ```
 */
export async function mergeDigestTrees(trees: Iterable<DigestTree>): Promise<DigestTree> {
  const newHash = await hasher();
  if (!isObject(trees) || !(Symbol.iterator in trees))
    throw invalidOption("there are no trees to merge", "a list of trees", trees);
  const all = [...trees].map(assertTree);
  const [first] = all;
  if (first === undefined) throw invalidOption("there are no trees to merge", "a list of trees", []);
  const byPath = all.map(({ arrays }) => new Map(arrays.map((array) => [array.path, array])));
  const arrays = first.arrays.map((array) => {
    const parts = byPath.map((one) => sameArray(array, one.get(array.path)));
    return mergedArray(newHash, array, parts);
  });
  if (all.some((tree) => tree.arrays.length !== arrays.length)) throw otherArrays(undefined);
  return wholeTree(newHash, arrays);
}

function sameArray(array: ArrayTree, other: ArrayTree | undefined): ArrayTree {
  const what = ({ dataType, shape, cellShape }: ArrayTree) => JSON.stringify([dataType, shape, cellShape]);
  if (other === undefined || what(other) !== what(array)) throw otherArrays(array.path);
  return other;
}

function otherArrays(path: string | undefined): ZarrflowError {
  return new ZarrflowError("invalid-option", "the trees are not parts of one tree: their arrays differ", {
    ...(path !== undefined && { path }),
    hint: "Merge parts of one array or group, or of copies of it.",
  });
}

function mergedArray(
  newHash: NewHash,
  { path, dataType, shape, cellShape }: ArrayTree,
  parts: readonly ArrayTree[],
): ArrayTree {
  const about = { dataType, shape, cellShape };
  const { count } = new CellGrid(shape, cellShape);
  const cells = mergedRuns(
    parts.flatMap((part) => part.cells ?? []),
    path,
  );
  const [run] = cells;
  const end = cells.at(-1);
  if (end && end.first + end.sha256.length > count)
    throw invalidTree(`the array \`${path}\` has ${count} cells`, path);
  const isWhole = count === 0 || (cells.length === 1 && run?.first === 0 && run.sha256.length === count);
  const stated = parts.find((part) => part.sha256 !== undefined)?.sha256;
  if (!isWhole) return { path, ...about, ...(stated !== undefined && { sha256: stated }), cells };
  const root = new MerkleRoot(newHash);
  for (const hash of run?.sha256 ?? []) root.add(fromHex(hash));
  const sha256 = arrayHash(newHash, about, root.end());
  for (const part of parts) {
    if (part.sha256 !== undefined && part.sha256 !== sha256) throw differs(path, undefined);
  }
  return { path, ...about, sha256, cells };
}

/** Sorts runs, and joins those that touch or overlap. */
function mergedRuns(runs: readonly TreeCells[], path: string): TreeCells[] {
  const merged: { first: number; sha256: string[] }[] = [];
  for (const { first, sha256 } of [...runs].sort((a, b) => a.first - b.first)) {
    const last = merged.at(-1);
    const known = last ? last.first + last.sha256.length - first : -1;
    if (last === undefined || known < 0) {
      merged.push({ first, sha256: [...sha256] });
      continue;
    }
    const at = first - last.first;
    const wrong = sha256.slice(0, known).findIndex((hash, i) => hash !== last.sha256[at + i]);
    if (wrong >= 0) throw differs(path, first + wrong);
    for (const hash of sha256.slice(known)) last.sha256.push(hash);
  }
  return merged;
}

function differs(path: string, cell: number | undefined): ZarrflowError {
  const what = cell === undefined ? "the array" : `cell ${cell}`;
  return new ZarrflowError("differs", `the trees have different hashes for ${what}`, { path });
}

function assertTree(tree: unknown): DigestTree {
  const found = tree as Partial<DigestTree>;
  if (!isObject(tree) || found.algorithm !== TREE_ALGORITHM || !Array.isArray(found.arrays))
    throw invalidTree(`it does not use the algorithm ${TREE_ALGORITHM}`);
  for (const array of found.arrays as readonly unknown[]) {
    if (!isArrayTree(array)) throw invalidTree("one of its arrays is not valid");
  }
  return found as DigestTree;
}

function isArrayTree(value: unknown): value is ArrayTree {
  if (!isObject(value)) return false;
  const { path, dataType, shape, cellShape, sha256, cells = [] } = value as Partial<ArrayTree>;
  return (
    typeof path === "string" &&
    typeof dataType === "string" &&
    areCounts(shape, 0) &&
    areCounts(cellShape, 1) &&
    shape?.length === cellShape?.length &&
    (sha256 === undefined || isHash(sha256)) &&
    Array.isArray(cells) &&
    cells.every(isRun)
  );
}

function isRun(value: unknown): boolean {
  if (!isObject(value)) return false;
  const { first, sha256 } = value as Partial<TreeCells>;
  return areCounts([first], 0) && Array.isArray(sha256) && sha256.every(isHash);
}

function areCounts(values: unknown, min: number): boolean {
  return Array.isArray(values) && values.every((value) => Number.isSafeInteger(value) && value >= min);
}

function isHash(value: unknown): boolean {
  return typeof value === "string" && SHA256.test(value);
}

function invalidTree(reason: string, path?: string): ZarrflowError {
  return new ZarrflowError("invalid-option", `this is not a digest tree: ${reason}`, {
    ...(path !== undefined && { path }),
    hint: "Pass what `digestTree` or `zarrflow digest --tree --json` returned.",
  });
}
